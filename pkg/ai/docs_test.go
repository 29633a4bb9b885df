package ai

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of providers in docs/ask.md")

// TestDocs compares the table of providers in docs/ask.md with the records. make docs rewrites it.
func TestDocs(t *testing.T) {
	const page = "../../docs/ask.md"
	const header = "| `--provider` | API | key | address | default model |\n| --- | --- | --- | --- | --- |\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), header)
	_, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal(page + " has no table of providers")
	}
	var rows []string
	for _, r := range records() {
		rows = append(rows, "| `"+r.name+"` | "+r.docs+" |")
	}
	want := before + header + strings.Join(rows, "\n") + "\n\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s has another table of providers: run make docs", page)
	}
}
