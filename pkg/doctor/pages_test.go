package doctor

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"toolx/pkg/doctor/check"
)

var updatePages = flag.Bool("update", false, "rewrite docs/checks/README.md")

// TestPages holds the pages of checks to the table: a page for each check, each whole, none left over, and an index of
// them. go test ./pkg/doctor -run Pages -update writes the index.
func TestPages(t *testing.T) {
	readme := filepath.Join("..", "..", "docs", "checks", "README.md")
	if *updatePages {
		if err := os.WriteFile(readme, []byte(index()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(readme); err != nil || plainNewlines(text) != index() {
		t.Errorf("docs/checks/README.md is stale or missing: run make docs")
	}
	written, err := filepath.Glob(filepath.Join("checks", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range written {
		id := strings.TrimSuffix(filepath.Base(path), ".md")
		if _, wanted := Find(id); !wanted {
			t.Errorf("%s is of no check", path)
		}
	}
	if err := unique(Checks()); err != nil {
		t.Error(err)
	}
	for _, check := range Checks() {
		if (check.Ask == nil) == (check.AskAll == nil) {
			t.Errorf("%s has both Ask and AskAll, or neither", check.ID)
		}
		text := textOfPage(t, check)
		if whole := pageText(check); unfilled(text) != whole {
			t.Errorf("%s.md has what is not read:\n%s\nwant\n%s", check.ID, text, whole)
		}
		if check.Title == "" || check.Why == "" || check.Bad == "" || check.Good == "" || check.Fix == nil ||
			check.Source == "" {
			t.Errorf("%s.md lacks a section", check.ID)
		}
		if check.Severity.Rank() < 0 {
			t.Errorf("%s.md has the severity %q", check.ID, check.Severity)
		}
	}
}

// pathOfPage returns the path of a check's page from the folder of this package.
func pathOfPage(one check.Check) string {
	folders := map[check.Group]string{check.GroupRPC: "rpc", check.GroupTools: "tool"}
	return "checks/" + cmp.Or(folders[one.Group], string(one.Group)) + "/" + one.ID + ".md"
}

func textOfPage(t *testing.T, one check.Check) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(pathOfPage(one)))
	if err != nil {
		t.Error(err)
	}
	return plainNewlines(text)
}

// TestWireFormsNameChecks holds the checks that forms.txt names to the table.
func TestWireFormsNameChecks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("wire", "forms.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, forms, _ := strings.Cut(plainNewlines(text), "\n\n")
	for line := range strings.Lines(forms) {
		_, ids, _ := strings.Cut(strings.TrimSpace(line), " @")
		for id := range strings.SplitSeq(ids, ",") {
			if _, known := Find(id); !known && id != "" {
				t.Errorf("forms.txt names %s, which is no check", id)
			}
		}
	}
}

// unfilled joins the lines of each paragraph and of each item of a page, which may be filled to a width.
func unfilled(page string) string {
	front, body, _ := strings.Cut(page, "\n---\n")
	code, before := false, ""
	joined := front + "\n---"
	for line := range strings.SplitSeq(body, "\n") {
		fence := strings.HasPrefix(line, "```")
		goesOn := !code && !fence && before != "" && line != "" && !strings.HasPrefix(line, "- ")
		if fence {
			code = !code
		}
		if goesOn {
			joined += " " + strings.TrimPrefix(line, "  ")
		} else {
			joined += "\n" + line
		}
		before = line
	}
	return joined
}

func plainNewlines(text []byte) string { return strings.ReplaceAll(string(text), "\r\n", "\n") }

// pageText writes a page as readPage reads it.
func pageText(c check.Check) string {
	var page strings.Builder
	fmt.Fprintf(&page, "---\nid: %s\ntitle: %s\nseverity: %s\ngroup: %s\n", c.ID, scalar(c.Title), c.Severity, c.Group)
	if c.After != nil {
		fmt.Fprintf(&page, "after: [%s]\n", strings.Join(c.After, ", "))
	}
	fmt.Fprintf(&page, "source: %s\n---\n", scalar(c.Source))
	check.Section(&page, "Why it matters", c.Why)
	check.Section(&page, "Bad", "```text\n"+c.Bad+"\n```")
	check.Section(&page, "Good", "```text\n"+c.Good+"\n```")
	check.Section(&page, "What to do", check.Bulleted(c.Fix))
	check.Section(&page, "Affected clients", check.Bulleted(c.Breaks))
	check.Section(&page, "Not reported", check.Bulleted(c.Exceptions))
	return page.String()
}

// scalar is a value of YAML: in quotes where it means something else without.
func scalar(text string) string {
	var plain any
	if err := yaml.Unmarshal([]byte(text), &plain); err == nil && plain == text {
		return text
	}
	return strconv.Quote(text)
}

// TestFrontMatter reads the pages' front matter as other programs do.
func TestFrontMatter(t *testing.T) {
	for _, one := range Checks() {
		front, _, _ := strings.Cut(strings.TrimPrefix(textOfPage(t, one), "---\n"), "\n---\n")
		var got struct {
			ID, Title, Group, Source string
			Severity                 check.Severity
			After                    []string
		}
		if err := yaml.UnmarshalWithOptions([]byte(front), &got, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", one.ID, err)
		}
		if got.ID != one.ID || got.Title != one.Title || got.Group != string(one.Group) ||
			got.Source != one.Source || got.Severity != one.Severity || !slices.Equal(got.After, one.After) {
			t.Errorf("%s: YAML reads %+v, toolx %+v", one.ID, got, one.Page)
		}
	}
}

// index is the page that leads to all others.
func index() string {
	var page strings.Builder
	page.WriteString("# The doctor's checks\n\n" +
		"`toolx doctor --explain ID` shows a page. A page lies beside the code of its check; `make docs` writes this index.\n")
	var group check.Group
	for _, one := range Checks() {
		if one.Group != group {
			group = one.Group
			fmt.Fprintf(&page, "\n## %s\n\n| check | severity | finds |\n| --- | --- | --- |\n",
				check.Sentence(string(group)))
		}
		fmt.Fprintf(&page, "| [%s](../../pkg/doctor/%s) | %s | %s |\n", one.ID, pathOfPage(one), one.Severity,
			strings.ReplaceAll(one.Title, "|", "\\|"))
	}
	return page.String()
}

func TestNear(t *testing.T) {
	t.Parallel()
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
	one := check.Check{
		ID: "x",
		Page: check.Page{
			Severity: check.Warning, Group: check.GroupFraming, Title: "server says x", After: []string{"y"},
			Why: "Clients stop.", Bad: "x\n", Good: "{…}", Fix: []string{"say\nnothing"}, Breaks: []string{"all"},
			Source: "stdio",
		},
	}
	want := "# x\n\nServer says x.\n\n| severity | group |\n| --- | --- |\n| warning | framing |\n" +
		"\n## Why it matters\n\nClients stop.\n\n## Bad\n\n```text\nx\n```\n\n## Good\n\n```text\n{…}\n```\n" +
		"\n## What to do\n\n- say\n  nothing\n\n## Affected clients\n\n- all\n\n## Source\n\nstdio\n\n## Skipped after\n\n[y](y.md)\n"
	if got := one.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// unique fails where two checks share an id.
func unique(checks []check.Check) error {
	seen := make(map[string]bool)
	for _, check := range checks {
		if seen[check.ID] {
			return fmt.Errorf("two checks have the id %q", check.ID)
		}
		seen[check.ID] = true
	}
	return nil
}
