package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

func askConfigWorldReadable(fleet *evidence.Fleet) []check.Finding {
	if runtime.GOOS == "windows" {
		return nil // modes have no meaning there
	}
	var findings []check.Finding
	for _, file := range secretFiles(fleet.Config) {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
			f := check.At(&evidence.Where{File: file}, "%s: mode %s", file, info.Mode())
			f.Fix = []string{"chmod 600 " + file}
			findings = append(findings, f)
		}
	}
	return findings
}

// secretFiles returns the config files with secrets in plain text, and the envFiles of their servers.
func secretFiles(loaded *config.Config) []string {
	if loaded == nil {
		return nil
	}
	var files []string
	for _, server := range loaded.Servers {
		for range leaks(server) {
			files = append(files, server.Origin.File)
		}
		if path := server.EnvFile; path != "" && !strings.ContainsAny(path, "$~") {
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(server.Origin.File), path)
			}
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func askCommandWorldWritable(e *evidence.Evidence) []check.Finding {
	if runtime.GOOS == "windows" {
		return nil
	}
	var findings []check.Finding
	for _, file := range programFiles(e) {
		for _, path := range []string{file, filepath.Dir(file)} {
			if info, err := os.Stat(path); err == nil && othersMayChange(info) {
				f := check.At(e.Place("command"), "%s: mode %s", path, info.Mode())
				f.Fix = []string{"chmod o-w " + path}
				findings = append(findings, f)
			}
		}
	}
	return findings
}

// othersMayChange reports whether everyone can change a file or a folder's content. In a folder with the sticky bit,
// such as /tmp, only the owner of a file can replace it.
func othersMayChange(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0)
}

// programFiles returns the program and the script that is its first argument, if any.
func programFiles(e *evidence.Evidence) []string {
	found, ok := e.Program()
	if !ok || found.Path == "" || found.Info.IsDir() {
		return nil
	}
	files := []string{cmdline.RealPath(found.Path, e.Launch.Cwd)}
	for _, arg := range e.Launch.Args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		script := cmdline.RealPath(arg, e.Launch.Cwd)
		if info, err := os.Stat(script); err == nil && info.Mode().IsRegular() {
			files = append(files, script)
		}
		break
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}

// advisory is a published vulnerability of an npm package.
type advisory struct {
	name     string
	affected string // an npm version range
	id       string
	what     string
	fixed    string
	overHTTP bool // only servers that serve HTTP are affected
}

// advisories returns the known vulnerabilities of packages that MCP servers use.
func advisories() []advisory {
	const sdk, files = "@modelcontextprotocol/sdk", "@modelcontextprotocol/server-filesystem"
	return []advisory{
		{sdk, "<1.24.0", "CVE-2025-66414", "a web page can reach the server by DNS rebinding", "1.24.0", true},
		{sdk, ">=1.10.0 <1.26.0", "CVE-2026-25536", "a reply can go to another client", "1.26.0", true},
		{"mcp-remote", ">=0.0.5 <0.1.16", "CVE-2025-6514", "a remote server can run commands here", "0.1.16", false},
		{
			files, "<0.6.4 || >=2025.0.0 <2025.7.1", "CVE-2025-53109, CVE-2025-53110",
			"files outside of the allowed folders can be reached", "2025.7.1", false,
		},
	}
}

func askKnownCVE(e *evidence.Evidence) []check.Finding {
	var findings []check.Finding
	for _, installed := range installedPackages(e) {
		source := filepath.Join(installed.Folder, "package.json")
		if installed.Folder == "" {
			source = "the version on the command line"
		}
		v, ok := cmdline.ParseVersion(installed.Version)
		for _, advisory := range advisories() {
			inside, _ := v.Within(advisory.affected)
			if !ok || !inside || installed.Name != advisory.name || advisory.overHTTP && !e.ServesHTTP() {
				continue
			}
			f := check.At(e.Place("command"), "%s: %s", advisory.what, source)
			f.Title = fmt.Sprintf("%s %s has %s", installed.Name, installed.Version, advisory.id)
			f.Fix = []string{fmt.Sprintf("update %s to %s or newer", installed.Name, advisory.fixed)}
			findings = append(findings, f)
		}
	}
	return findings
}

// installedPackages returns the server's own package and the TypeScript SDK that it uses. If the package is not found,
// the result has the version on the command line.
func installedPackages(e *evidence.Evidence) []cmdline.NodePackage {
	found, ok := e.NodePackage()
	if l, is := e.Launcher(); is && l.NPM && l.FromRegistry() && l.Pinned() {
		if name, version := l.Split(); !ok || found.Version != version {
			return []cmdline.NodePackage{{Name: name, Version: version}}
		}
	}
	if !ok {
		return nil
	}
	packages := []cmdline.NodePackage{found}
	if sdk, ok := cmdline.Dependency(found.Folder, "@modelcontextprotocol/sdk"); ok {
		packages = append(packages, sdk)
	}
	return packages
}
