package doctor

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updatePages = flag.Bool("update", false, "rewrite docs/checks")

// TestPages holds docs/checks to the table: a page for each check, none stale, none
// left over. go test ./pkg/doctor -run Pages -update writes them.
func TestPages(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "checks")
	pages := map[string]string{"README.md": index()}
	for _, check := range Checks() {
		pages[check.ID+".md"] = check.Markdown()
	}
	if *updatePages {
		writePages(t, folder, pages)
	}
	written, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range written {
		if _, wanted := pages[filepath.Base(path)]; !wanted {
			t.Errorf("%s is of no check", path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.ReplaceAll(string(text), "\r\n", "\n") != pages[name] {
			t.Errorf("docs/checks/%s is stale or missing: run make docs", name)
		}
	}
}

func writePages(t *testing.T, folder string, pages map[string]string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// index is the page that leads to all others.
func index() string {
	var page strings.Builder
	page.WriteString("# The doctor's checks\n\nWritten by `make docs` from the table in pkg/doctor. `toolx doctor --explain ID` shows a page.\n")
	var group Group
	for _, check := range Checks() {
		if check.Group != group {
			group = check.Group
			fmt.Fprintf(&page, "\n## %s\n\n| check | severity | finds |\n| --- | --- | --- |\n", sentence(string(group)))
		}
		fmt.Fprintf(&page, "| [%s](%s.md) | %s | %s |\n", check.ID, check.ID, check.Severity, strings.ReplaceAll(check.Title, "|", "\\|"))
	}
	return page.String()
}

func TestNear(t *testing.T) {
	if len(Checks()) == 0 {
		t.Fatal("the table is empty")
	}
	for _, check := range Checks() {
		if got := Near(check.ID[:len(check.ID)-1]); got == "" {
			t.Errorf("nothing is near %s without its last letter", check.ID)
		}
	}
	if got := Near("quite-another-matter-altogether-7"); got != "" {
		t.Errorf("near a text like no id is %s", got)
	}
}

func TestMarkdown(t *testing.T) {
	check := Check{
		ID: "x", Severity: Warning, Group: GroupFraming, Title: "server says x", After: []string{"y"},
		Page: Page{Why: "Clients stop.", Bad: "x\n", Good: "{…}", Fix: []string{"say\nnothing"}, Breaks: []string{"all"}, Source: "stdio"},
	}
	want := "# x\n\nServer says x.\n\n| severity | group |\n| --- | --- |\n| warning | framing |\n" +
		"\n## Why it matters\n\nClients stop.\n\n## Bad\n\n```text\nx\n```\n\n## Good\n\n```text\n{…}\n```\n" +
		"\n## What to do\n\n- say\n  nothing\n\n## Who fails on it\n\n- all\n\n## Source\n\nstdio\n\n## Not asked after\n\n[y](y.md)\n"
	if got := check.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
