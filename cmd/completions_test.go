package cmd_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/cmd"
	"toolx/pkg/console"
)

var update = flag.Bool("update", false, "rewrite completions/")

// TestCompletions fails when completions/ is not what toolx prints; make completions rewrites it.
func TestCompletions(t *testing.T) {
	for shell, name := range map[string]string{
		"bash": "toolx.bash", "zsh": "_toolx", "fish": "toolx.fish", "powershell": "toolx.ps1",
	} {
		script, stderr := new(bytes.Buffer), new(bytes.Buffer)
		streams := console.New(strings.NewReader(""), script, stderr)
		if code := cmd.Main(streams, []string{"completion", shell}); code != 0 || stderr.Len() > 0 {
			t.Fatalf("toolx completion %s: exit code %d, %s", shell, code, stderr)
		}
		path := filepath.Join("..", "completions", name)
		if *update {
			if err := os.WriteFile(path, script.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, script.Bytes()) {
			t.Errorf("completions/%s is stale: run make completions", name)
		}
	}
}
