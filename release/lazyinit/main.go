// Command lazyinit prepares a build in which modules do at first use what they otherwise do at each start: compile
// meta-schemas and regular expressions, build tables, look for programs. That takes longer than everything else in a
// short command.
//
// It copies the modules from the module cache into a folder below the current one, edits the copies by their syntax
// trees, and writes a go.mod that replaces the modules:
//
//	go run ./release/lazyinit bin/lazy && go build -modfile bin/lazy/go.mod .
//
// A module that no longer has what is edited is not replaced, and lazyinit says so. Its test fails then.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is a module to edit.
type module struct {
	path string
	// folders are those of the packages to edit, below the module's root.
	folders []string
	// edit returns the new contents of the files of one folder, by name.
	edit func(files map[string][]byte) (map[string][]byte, error)
}

// modules are those that are edited.
func modules() []module {
	return []module{
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{""}, compileMetaSchemasOnUse},
		{"github.com/yuin/goldmark", []string{"parser", "util"}, compileExpressionsOnUse},
		{"github.com/xeipuuv/gojsonschema", []string{""}, compileExpressionsOnUse},
		{"github.com/itchyny/gojq", []string{""}, runInitOnUse("builtin.go", "compiler.go")},
		{
			"github.com/google/jsonschema-go",
			[]string{"jsonschema"},
			runInitOnUse("schema.go", "infer.go", "json_pointer.go", "resolve.go"),
		},
		{"github.com/atotto/clipboard", []string{""}, runInitOnUse("clipboard_unix.go")},
	}
}

// errUnknown reports that a module is not the one that its edit knows.
var errUnknown = errors.New("the module has changed")

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lazyinit FOLDER")
		os.Exit(2)
	}
	switch err := prepare(os.Args[1], modules()); {
	case errors.Is(err, errUnknown):
		fmt.Fprintf(os.Stderr, "lazyinit: %v\nlazyinit: without this change toolx starts more slowly\n", err)
	case err != nil:
		fmt.Fprintf(os.Stderr, "lazyinit: %v\n", err)
		os.Exit(1)
	}
}

// prepare fills folder. The current folder is the root of the main module.
func prepare(folder string, modules []module) error {
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	goSum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	var unknown error
	for _, m := range modules {
		target := filepath.Join(folder, filepath.Base(strings.TrimSuffix(m.path, "/v6")))
		switch err := m.copyTo(target); {
		case errors.Is(err, errUnknown):
			unknown = errors.Join(unknown, fmt.Errorf("%s: %w", m.path, err))
		case err != nil:
			return fmt.Errorf("%s: %w", m.path, err)
		default:
			goMod = fmt.Appendf(goMod, "\nreplace %s => ./%s\n", m.path, filepath.ToSlash(target))
		}
	}
	return errors.Join(
		unknown,
		os.WriteFile(filepath.Join(folder, "go.mod"), goMod, 0o644), //nolint:gosec // as go.mod itself
		os.WriteFile(filepath.Join(folder, "go.sum"), goSum, 0o644), //nolint:gosec // as go.sum itself
	)
}

// copyTo copies the module to a folder, and edits it there.
func (m module) copyTo(target string) error {
	out, failed := exec.Command("go", "mod", "download", "-json", m.path).Output()
	var cached struct{ Dir, Error string }
	if err := json.Unmarshal(out, &cached); failed != nil || err != nil {
		return fmt.Errorf("go mod download: %w %s", cmp.Or(failed, err), cached.Error)
	}
	edited := map[string][]byte{}
	for _, folder := range m.folders {
		files, err := goFiles(filepath.Join(cached.Dir, folder))
		if err != nil {
			return fmt.Errorf("%w: %w", errUnknown, err)
		}
		files, err = m.edit(files)
		if err != nil {
			return err
		}
		for name, text := range files {
			edited[filepath.Join(folder, name)] = text
		}
	}
	if err := os.CopyFS(target, os.DirFS(cached.Dir)); err != nil {
		return err
	}
	for name, text := range edited {
		if err := os.WriteFile(filepath.Join(target, name), text, 0o644); err != nil { //nolint:gosec // source
			return err
		}
	}
	return nil
}

// goFiles reads the files of the package in a folder, without its tests.
func goFiles(folder string) (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return files, nil
}
