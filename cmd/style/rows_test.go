package style_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestConstantsHaveRows asks that what CONTRIBUTING says to add beside a constant is there: a class of stdout lines has
// a verdict and a row in the docs, a format has a record, a client a file in testdata/clients, a colour's role a style.
func TestConstantsHaveRows(t *testing.T) {
	for _, test := range []struct {
		declared string // the file of the constants
		constant string // matches a declaration; the first group is the name
		rows     string // the files that must mention each
		mention  string // how, with %s for its name
	}{
		{"pkg/servers/wire/classify.go", `(?m)^\t(Class\w+) +Class = `, "pkg/doctor/checks/framing/verdict.go", `wire\.%s\b`},
		{"pkg/servers/wire/classify.go", `(?m)^\tClass\w+ +Class = "(.+?)"`, "docs/connections.md", "(?m)^\\|.*`%s`"},
		{"pkg/config/clients.go", `(?m)^\t\tID: "(.+?)"`, "testdata/clients/read.golden", `(?m)^%s:`},
		{"pkg/convert/formats.go", `(?m)^\t(\w+) +Format = `, "pkg/convert/format_*.go", `\b%s\b`},
		{"pkg/tui/pane/theme.go", `(?m)^\t(\w+) +// [a-z]`, "pkg/tui/pane/theme.go", `\b%s(: |\] = )`},
	} {
		source, err := os.ReadFile(filepath.Join(root, test.declared))
		if err != nil {
			t.Fatal(err)
		}
		var rows []byte
		files, err := filepath.Glob(filepath.Join(root, test.rows))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, text...)
		}
		names := regexp.MustCompile(test.constant).FindAllSubmatch(source, -1)
		if len(names) < 10 {
			t.Errorf("%s: only %d constants found", test.declared, len(names))
		}
		for _, name := range names {
			if !regexp.MustCompile(fmt.Sprintf(test.mention, name[1])).Match(rows) {
				t.Errorf("%s has %s, but %s has no row for it", test.declared, name[1], test.rows)
			}
		}
	}
}
