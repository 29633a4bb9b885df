package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var (
	//go:embed npm/toolx.js
	npmScript []byte
	//go:embed npm/README.md
	npmReadme []byte
	//go:embed pip/__main__.py
	pipMain []byte
	//go:embed pip/README.md
	pipReadme []byte
)

// homepage is the homepage in packages.
func homepage() string { return "https://github.com/" + owner() + "/toolx" }

const summary = "Call and debug the tools of MCP servers from a terminal"

// packed is a file in a package.
type packed struct {
	name string
	text []byte
	mode int64
}

// epoch is the time of files in packages, as in npm's: it makes them reproducible.
var epoch = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// nodeNames are Node's names of systems and processors, which npm uses.
var nodeNames = map[string]string{
	"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64",
}

// begin reads the release in the folder args[0], and creates the folder of a package manager in it.
func begin(args []string, manager string) (made released, folder string, err error) {
	if len(args) != 1 {
		return made, "", errors.New(manager + " needs the folder of a release")
	}
	if made, err = readRelease(args[0]); err != nil {
		return made, "", err
	}
	folder = filepath.Join(args[0], manager)
	return made, folder, os.MkdirAll(folder, 0o755)
}

// writeNPM writes npm's packages of the release in the folder args[0] to npm/ in it: one with a binary for each
// platform, and toolx, which depends on all of them so that npm installs the one that fits.
func writeNPM(args []string, _ io.Writer) error {
	made, folder, err := begin(args, "npm")
	if err != nil {
		return err
	}
	legal, err := legalFiles()
	if err != nil {
		return err
	}
	optional := map[string]string{}
	for _, one := range made.binaries {
		system, processor := nodeNames[one.OS], nodeNames[one.Arch]
		name := "@toolx/" + system + "-" + processor
		optional[name] = made.Version
		program, err := os.ReadFile(one.Path)
		if err != nil {
			return err
		}
		about := "# " + name + "\n\nThe binary of toolx for this platform; install `toolx`.\n"
		files := slices.Concat(legal, []packed{
			{"bin/" + filepath.Base(one.Path), program, 0o755}, {"README.md", []byte(about), 0o644},
		})
		manifest := npmManifest(name, made.Version)
		manifest["os"], manifest["cpu"] = []string{system}, []string{processor}
		manifest["preferUnplugged"] = true
		if err := writeTarball(folder, manifest, files); err != nil {
			return err
		}
	}
	manifest := npmManifest("toolx", made.Version)
	manifest["bin"] = map[string]string{"toolx": "bin/toolx.js"}
	manifest["engines"] = map[string]string{"node": ">=18"}
	manifest["optionalDependencies"] = optional
	files := append(legal, packed{"bin/toolx.js", npmScript, 0o755}, packed{"README.md", npmReadme, 0o644})
	return writeTarball(folder, manifest, files)
}

func npmManifest(name, version string) map[string]any {
	return map[string]any{
		"name": name, "version": version, "description": summary, "license": "MIT", "homepage": homepage(),
		"author":     "The toolx authors",
		"repository": map[string]string{"type": "git", "url": "git+" + homepage() + ".git"},
	}
}

// legalFiles returns the licence files of every package.
func legalFiles() ([]packed, error) {
	var files []packed
	for _, path := range []string{"LICENSE", "bin/release/THIRD-PARTY-LICENCES.txt"} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, packed{filepath.Base(path), text, 0o644})
	}
	return files, nil
}

// writeTarball writes a package with the file name of "npm pack".
func writeTarball(folder string, manifest map[string]any, files []packed) error {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	files = append([]packed{{"package.json", append(text, '\n'), 0o644}}, files...)
	name := strings.ReplaceAll(strings.TrimPrefix(manifest["name"].(string), "@"), "/", "-")
	out, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s-%s.tgz", name, manifest["version"])))
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	for _, file := range files {
		header := &tar.Header{
			Name: "package/" + file.name, Mode: file.mode, Size: int64(len(file.text)),
			ModTime: epoch, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(file.text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close(), out.Close())
}

// wheelTags are the platforms of wheels (PyPA, platform compatibility tags). toolx is static, so any Linux will do.
var wheelTags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// writePip writes a wheel for each platform of the release in the folder args[0] to pip/ in it. The binary is the
// script that pip installs, so it runs without Python.
func writePip(args []string, _ io.Writer) error {
	made, folder, err := begin(args, "pip")
	if err != nil {
		return err
	}
	for _, one := range made.binaries {
		if err := writeWheel(folder, pipVersion(made.Version), one); err != nil {
			return err
		}
	}
	return nil
}

// pipVersion returns a version for PEP 440: the part after the dash of a snapshot becomes a local version.
func pipVersion(version string) string {
	number, rest, found := strings.Cut(version, "-")
	if !found {
		return number
	}
	return number + ".dev0+" + strings.NewReplacer("-", ".", "_", ".").Replace(rest)
}

// writeWheel writes the wheel of one binary (PyPA, binary distribution format).
func writeWheel(folder, version string, one binary) error {
	tag := "py3-none-" + wheelTags[one.OS+"/"+one.Arch]
	program, err := os.ReadFile(one.Path)
	if err != nil {
		return err
	}
	legal, err := legalFiles()
	if err != nil {
		return err
	}
	info := "toolx-" + version + ".dist-info/"
	head := fmt.Sprintf("Metadata-Version: 2.4\nName: toolx\nVersion: %s\nSummary: %s\nAuthor: The toolx authors\n"+
		"License-Expression: MIT\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY-LICENCES.txt\nRequires-Python: >=3.8\n"+
		"Project-URL: Homepage, %s\nDescription-Content-Type: text/markdown\n\n", version, summary, homepage())
	var tags strings.Builder
	for _, platform := range strings.Split(wheelTags[one.OS+"/"+one.Arch], ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", platform)
	}
	files := []packed{
		{"toolx/__init__.py", nil, 0o644},
		{"toolx/__main__.py", pipMain, 0o644},
		{"toolx-" + version + ".data/scripts/" + filepath.Base(one.Path), program, 0o755},
		{info + "METADATA", append([]byte(head), pipReadme...), 0o644},
		{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: toolx\nRoot-Is-Purelib: false\n" + tags.String()), 0o644},
	}
	for _, file := range legal {
		files = append(files, packed{info + "licenses/" + file.name, file.text, file.mode})
	}
	var record strings.Builder
	for _, file := range files {
		sum := sha256.Sum256(file.text)
		hash := base64.RawURLEncoding.EncodeToString(sum[:])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", file.name, hash, len(file.text))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, packed{info + "RECORD", []byte(record.String()), 0o644})
	return writeZip(filepath.Join(folder, fmt.Sprintf("toolx-%s-%s.whl", version, tag)), files)
}

// writeZip writes files into an archive, with their Unix modes.
func writeZip(path string, files []packed) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	archive := zip.NewWriter(out)
	for _, file := range files {
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(os.FileMode(file.mode))
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(file.text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), out.Close())
}
