package main

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licences has a line "package,licence" for each linked package or module with its own licence, as found by
// go-licenses; make licences writes it.
//
//go:embed licences.csv
var licences string

// systems are those of releases. They link different modules.
var systems = []string{"linux", "darwin", "windows"}

// module is a module that toolx links.
type module struct {
	Path, Version string
	Dir           string   // where its sources are on this machine
	Licences      []string // SPDX identifiers; several if parts have their own
}

// linkedModules returns the modules that toolx links on any of the systems, by path, without toolx itself and the
// standard library. root is the repository. It fails for a module without a licence, and for a licence without a
// module.
func linkedModules(root string) ([]module, error) {
	found := map[string]module{}
	for _, system := range systems {
		list := exec.Command("go", "list", "-deps",
			"-f", `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}{{end}}{{end}}`, ".")
		list.Dir = root
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Split(strings.TrimSpace(line), "|"); len(fields) == 3 {
				found[fields[0]] = module{Path: fields[0], Version: fields[1], Dir: fields[2]}
			}
		}
	}
	for _, one := range found {
		if one.Licences = licencesOf(one.Path); len(one.Licences) == 0 {
			return nil, fmt.Errorf("licences.csv has no licence of %s: run make licences", one.Path)
		}
		found[one.Path] = one
	}
	for _, row := range rows() {
		linked := func(path string) bool { return within(row.name, path) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), linked) {
			return nil, fmt.Errorf("licences.csv names %s, which is not linked: run make licences", row.name)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return strings.Compare(a.Path, b.Path) }), nil
}

// row is a line of licences.csv.
type row struct{ name, licence string }

func rows() []row {
	var all []row
	for line := range strings.Lines(licences) {
		name, licence, _ := strings.Cut(strings.TrimSpace(line), ",")
		all = append(all, row{name, licence})
	}
	return all
}

// licencesOf returns the licences of the module of a path, each once: its own, and those of its packages.
func licencesOf(path string) []string {
	var ids []string
	for _, row := range rows() {
		if within(row.name, path) && !slices.Contains(ids, row.licence) {
			ids = append(ids, row.licence)
		}
	}
	return ids
}

// within reports whether a package is in the module of a path, or is that module.
func within(name, path string) bool { return name == path || strings.HasPrefix(name, path+"/") }

// legal matches the names of files that have a licence or a notice that must be passed on (Apache 2.0, section 4 (d)).
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-_.].*)?$`)

// texts returns the contents of a folder's licences and notices, in the order of their names. It fails if there is no
// such file.
func texts(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if entry.IsDir() || !legal.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no file with a licence", folder)
	}
	return found, nil
}

// writeNotices writes a list of all linked modules with their licences, then the texts. They include Go itself: its
// runtime and standard library are in every binary.
func writeNotices(_ []string, out io.Writer) error {
	modules, err := linkedModules(".")
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	modules = append(modules, module{
		Path: "Go, its runtime and standard library", Version: strings.TrimPrefix(runtime.Version(), "go"),
		Dir: strings.TrimSpace(string(root)), Licences: []string{"BSD-3-Clause"},
	})
	fmt.Fprint(out, "toolx is under the licence in LICENSE. It is linked with the following modules.\n\n")
	for _, one := range modules {
		fmt.Fprintf(out, "%s %s: %s\n", one.Path, one.Version, strings.Join(one.Licences, " AND "))
	}
	for _, one := range modules {
		all, err := texts(one.Dir)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 80), one.Path, one.Version,
			strings.Join(all, "\n\n"+strings.Repeat("-", 80)+"\n\n"))
	}
	return nil
}
