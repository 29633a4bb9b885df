package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLazyBuild fails when a module has changed, so that its edit no longer applies: builds only print that. What uses
// the modules passes its tests with the edited copies.
func TestLazyBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("runs tests of other packages")
	}
	t.Chdir(filepath.Join("..", ".."))
	folder := filepath.Join("bin", "lazy-test") // a fixed one: Go's cache knows it
	if err := prepare(folder, modules()); err != nil {
		t.Fatal(err)
	}
	for _, edited := range []string{
		"jsonschema/draft.go", "goldmark/util/util.go", "goldmark/parser/html_block.go",
		"gojsonschema/format_checkers.go", "gojq/builtin.go", "clipboard/clipboard_unix.go",
		"jsonschema-go/jsonschema/schema.go",
	} {
		text, err := os.ReadFile(filepath.Join(folder, edited))
		if err != nil || !strings.Contains(string(text), "sync.Once") {
			t.Errorf("%s is not edited: %v", edited, err)
		}
	}
	test := exec.Command("go", "test", "-vet=off", "-short", "-modfile", folder+"/go.mod",
		"./pkg/jsonschema", "./pkg/tui/markdown", "./pkg/config", "./pkg/render")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestChangedModule checks that a module without what is edited is left alone and reported, and the others replaced.
func TestChangedModule(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	folder := filepath.Join("bin", "lazy-changed")
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	changed := modules()
	changed[0].folders = []string{"kind"} // has no draft.go
	changed[1].folders = []string{"util"}
	if err := prepare(folder, changed); !errors.Is(err, errUnknown) || !strings.Contains(err.Error(), changed[0].path) {
		t.Errorf("got %v, want that %s has changed", err, changed[0].path)
	}
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(m module) bool { return strings.Contains(string(text), "replace "+m.path) }
	if replaced(changed[0]) || !replaced(changed[1]) {
		t.Errorf("go.mod replaces other modules:\n%s", text)
	}
}
