package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/servers"
)

func askConfigWorldReadable(fleet *Fleet) []Finding {
	if runtime.GOOS == "windows" {
		return nil // modes say nothing there
	}
	var findings []Finding
	for _, file := range secretFiles(fleet.Config) {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		findings = append(findings, Finding{
			Evidence: fmt.Sprintf("%s: mode %s", file, info.Mode()), Where: &Where{File: file}, Fix: []string{"chmod 600 " + file},
		})
	}
	return findings
}

// secretFiles are the config files with secrets in plain text, and the envFiles of
// their servers, which are there to hold them.
func secretFiles(loaded *config.Config) []string {
	if loaded == nil {
		return nil
	}
	var files []string
	for _, server := range loaded.Servers {
		if len(leaks(server)) > 0 {
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

func askCommandWorldWritable(e *Evidence) []Finding {
	if runtime.GOOS == "windows" {
		return nil
	}
	var findings []Finding
	for _, file := range e.programFiles() {
		for _, path := range []string{file, filepath.Dir(file)} {
			info, err := os.Stat(path)
			if err == nil && othersMayChange(info) {
				findings = append(findings, Finding{
					Evidence: fmt.Sprintf("%s: mode %s", path, info.Mode()), Where: e.place("command"), Fix: []string{"chmod o-w " + path},
				})
			}
		}
	}
	return findings
}

// othersMayChange says whether a file or a folder's content can be changed by
// everyone. In a folder with the sticky bit, as /tmp, only the owner of a file may
// replace it.
func othersMayChange(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0)
}

// programFiles are the files that the server's code begins in: the program, and the
// script that an interpreter gets as its first argument.
func (e *Evidence) programFiles() []string {
	found, ok := e.program()
	if !ok || found.path == "" || found.info.IsDir() {
		return nil
	}
	files := []string{realPath(found.path, e.Launch.Cwd)}
	for _, arg := range e.Launch.Args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		script := realPath(arg, e.Launch.Cwd)
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
	affected string // the versions, as npm writes ranges
	id       string
	what     string
	fixed    string
	overHTTP bool // only servers that listen are concerned
}

// advisories are those of packages that MCP servers consist of.
func advisories() []advisory {
	const sdk = "@modelcontextprotocol/sdk"
	return []advisory{
		{sdk, "<1.24.0", "CVE-2025-66414", "a web page can reach the server by DNS rebinding", "1.24.0", true},
		{sdk, ">=1.10.0 <1.26.0", "CVE-2026-25536", "a reply can go to another client", "1.26.0", true},
		{"mcp-remote", ">=0.0.5 <0.1.16", "CVE-2025-6514", "a remote server can run commands here", "0.1.16", false},
		{
			"@modelcontextprotocol/server-filesystem", "<0.6.4 || >=2025.0.0 <2025.7.1", "CVE-2025-53109, CVE-2025-53110",
			"files outside of the allowed folders can be reached", "2025.7.1", false,
		},
	}
}

func askKnownCVE(e *Evidence) []Finding {
	var findings []Finding
	for _, installed := range e.installedPackages() {
		v, ok := parseVersion(installed.Version)
		for _, advisory := range advisories() {
			inside, _ := v.within(advisory.affected)
			if !ok || !inside || installed.Name != advisory.name || advisory.overHTTP && !e.listens() {
				continue
			}
			findings = append(findings, Finding{
				Title:    fmt.Sprintf("%s %s has %s", installed.Name, installed.Version, advisory.id),
				Evidence: fmt.Sprintf("%s: %s", advisory.what, installed.source()),
				Where:    e.place("command"),
				Fix:      []string{fmt.Sprintf("update %s to %s or newer", installed.Name, advisory.fixed)},
			})
		}
	}
	return findings
}

// installedPackages are the server's own package and the SDK that it uses. Where the
// package is not found, but its version is pinned on the command line, that is it.
func (e *Evidence) installedPackages() []nodePackage {
	launch := e.local()
	if launch == nil {
		return nil
	}
	if l, ok := parseLauncher(unwrapped(launch.Command, launch.Args)); ok && l.npm && l.fromRegistry() && l.pinned() {
		name, version := l.split()
		pinned := nodePackage{Name: name, Version: version}
		if found, ok := e.nodePackage(); ok && found.Version == version {
			return append([]nodePackage{found}, sdkOf(found)...)
		}
		return []nodePackage{pinned}
	}
	found, ok := e.nodePackage()
	if !ok {
		return nil
	}
	return append([]nodePackage{found}, sdkOf(found)...)
}

// sdkOf is the TypeScript SDK that a package's code finds.
func sdkOf(found nodePackage) []nodePackage {
	sdk, ok := dependency(found.folder, "@modelcontextprotocol/sdk")
	if !ok {
		return nil
	}
	return []nodePackage{sdk}
}

// source says where a package's version is known from.
func (p nodePackage) source() string {
	if p.folder == "" {
		return "the version on the command line"
	}
	return filepath.Join(p.folder, "package.json")
}

// listens says whether the server also speaks HTTP: it has a listening socket, or was
// told to.
func (e *Evidence) listens() bool {
	if e.Clean != nil && e.Clean.Idle != nil && len(e.Clean.Idle.Listening) > 0 {
		return true
	}
	for _, line := range EventsOf[servers.PollutedLine](e.Clean) {
		if strings.Contains(string(line.Text), "http://") {
			return true
		}
	}
	return slices.ContainsFunc(e.Launch.Args, func(arg string) bool {
		return slices.Contains([]string{"--http", "--sse", "sse", "http", "streamableHttp", "--transport=http", "--transport=sse"}, arg)
	})
}
