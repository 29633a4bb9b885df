package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// TestAnInventedCheck adds a check to the doctor by what the folder of a family has: its page, and its row with its
// question.
func TestAnInventedCheck(t *testing.T) {
	pages := fstest.MapFS{"server-is-red.md": {Data: []byte("---\nid: server-is-red\ntitle: server is red\n" +
		"severity: warning\ngroup: process\nsource: a dream\n---\n\n## Why it matters\n\nRed ends.\n\n" +
		"## What to do\n\n- paint it green\n")}}
	checks := check.WithPages(pages, []check.Check{{
		ID: "server-is-red", Need: check.NeedEntry,
		Ask: func(e *evidence.Evidence) []check.Finding {
			return check.One(e.Place("command"), "%s", e.Server.Command)
		},
	}})
	e := &evidence.Evidence{Server: &config.Server{Name: "wall", Command: "red"}}
	report := judgeBy(checks, &evidence.Fleet{Servers: []*evidence.Evidence{e}}, Selection{})
	if len(report.Findings) != 1 || len(report.Checks) != 1 || report.Checks[0].Outcome != check.Warned {
		t.Fatalf("%+v", report)
	}
	f := report.Findings[0]
	if f.ID != "server-is-red" || f.Severity != check.Warning || f.Title != "server is red" || f.Server != "wall" ||
		f.Evidence != "red" || !slices.Equal(f.Fix, []string{"paint it green"}) || f.Source != "a dream" {
		t.Errorf("%+v", f)
	}
}

// TestEachFolderHasWholeChecks finds page, row and test of each check in the folder of its family.
func TestEachFolderHasWholeChecks(t *testing.T) {
	elsewhere := map[string]string{ // what takes several clients' files
		"client-entries-differ": "doctor-clients", "client-file-ignored": "doctor-clients",
	}
	named := make(map[string]map[string]bool) // by folder, the ids and other names in its tests and cases
	for _, one := range Checks() {
		folder := filepath.Dir(filepath.FromSlash(pathOfPage(one)))
		if script := elsewhere[one.ID]; script != "" {
			folder = filepath.Join("..", "..", "testdata", "script", script+".txtar")
		}
		if named[folder] == nil {
			named[folder] = namesInTests(t, folder)
		}
		if !named[folder][one.ID] {
			t.Errorf("%s: no test or case in %s names it", one.ID, folder)
		}
	}
}

// namesInTests returns the names, such as ids of checks, in a script, or in the tests and cases of a folder.
func namesInTests(t *testing.T, place string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(place, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, file := range append(files, filepath.Join(place, "cases.txt"), place) {
		text, _ := os.ReadFile(file) // a family may do without cases
		for _, name := range regexp.MustCompile(`[a-z0-9-]+`).FindAllString(string(text), -1) {
			names[name] = true
		}
	}
	return names
}
