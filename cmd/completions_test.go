package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolx/cmd"
	"toolx/pkg/console"
)

var update = flag.Bool("update", false, "rewrite completions/ and the table of commands in docs/README.md")

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

// TestIndex fails when the table of commands in docs/README.md is not that of toolx help; make docs rewrites it.
func TestIndex(t *testing.T) {
	out := new(bytes.Buffer)
	cmd.Main(console.New(strings.NewReader(""), out, io.Discard), []string{"help"})
	var rows strings.Builder
	for _, row := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}(.+)$`).FindAllStringSubmatch(out.String(), -1) {
		if name, does := row[1], row[2]; name != "help" {
			fmt.Fprintf(&rows, "| [%s](%s.md) | %s |\n", name, name, does)
		}
	}
	path := filepath.Join("..", "docs", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| command | does |\n| --- | --- |\n"
	before, table, _ := strings.Cut(string(text), head)
	table, after, _ := strings.Cut(table, "\n\n")
	if *update {
		if err := os.WriteFile(path, []byte(before+head+rows.String()+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table+"\n" != rows.String() {
		t.Error("the table of commands in docs/README.md is stale: run make docs")
	}
}
