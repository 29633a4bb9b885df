package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolx/pkg/catalog"
)

// TestProcessesKeepOneCatalogue lets processes list different things of one server at the same time, and again after
// the file was broken: what each of them listed is kept.
func TestProcessesKeepOneCatalogue(t *testing.T) {
	toolx, folder, home := buildToolx(t), emptyFolder(t), t.TempDir()
	config := filepath.Join(folder, "all.yaml")
	text := []byte("servers: {all: {command: fakeserver, args: [features]}}\n")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	store := catalog.Store{Folder: filepath.Join(home, "cache", "toolx", "catalog")}
	verbs := []string{"list", "prompts list", "resources list", "resources templates"}
	for range 2 {
		var wait sync.WaitGroup
		for _, verb := range append(verbs, verbs...) {
			wait.Go(func() {
				cmd := exec.Command(toolx, append(strings.Fields(verb), "--config", config)...)
				cmd.Dir, cmd.Env = folder, append(os.Environ(), homeVariables(home)...)
				if output, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("toolx %s: %v\n%s", verb, err, output)
				}
			})
		}
		wait.Wait()
		files, err := filepath.Glob(filepath.Join(store.Folder, "*.catalog"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%q: %v", files, err)
		}
		info, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		store.Now = info.ModTime // the clock of those processes, which need not be that of this one
		kept := store.Read(strings.TrimSuffix(filepath.Base(files[0]), ".catalog"))
		for _, kind := range []catalog.Kind{catalog.Tools, catalog.Prompts, catalog.Resources, catalog.Templates} {
			if list := kept.List(kind); list == nil || len(list.Entries) == 0 {
				t.Errorf("no %s are kept", kind)
			}
		}
		if err := os.WriteFile(files[0], []byte("toolx-catalogue 1 "), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
