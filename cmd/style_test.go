package cmd_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStyle holds what docs/style.md says and a program can check of Go comments: a function that returns a bool
// reports whether, and comments refer only to pages of this repository.
func TestStyle(t *testing.T) {
	page := regexp.MustCompile(`[\w./-]+\.md\b`)
	for path, file := range sources(t) {
		for _, group := range file.Comments {
			text := group.Text()
			if strings.Contains(text, "says whether") || strings.Contains(text, "say whether") {
				t.Errorf("%s: write \"reports whether\" (docs/style.md): %s", path, text)
			}
			for _, name := range page.FindAllString(text, -1) {
				if _, err := os.Stat(filepath.Join("..", name)); err != nil {
					t.Errorf("%s: a comment refers to %s, which is not here", path, name)
				}
			}
		}
	}
}

// wordings are constructions that comments and texts of toolx do not have. A folder under except still has some; take
// it off when it has none left.
var wordings = []struct {
	wrong  *regexp.Regexp
	better string
	except []string
}{
	{regexp.MustCompile(`\b(?:that|which) (?:is|are) none\b`), "say what it is instead", []string{
		"pkg/ai",
		"pkg/config",
		"pkg/convert",
		"pkg/doctor",
		"pkg/doctor/culprit",
		"pkg/jsonschema",
		"pkg/servers",
		"pkg/servers/fake",
		"pkg/tui",
	}},
	{regexp.MustCompile(`\bmust be (?:number|string|integer|array|object|boolean)\b`), "must be a number", []string{
		"pkg/jsonschema",
	}},
	{regexp.MustCompile(`there is no member`), "… is missing", []string{
		"pkg/doctor/checks/tool",
	}},
	{regexp.MustCompile(`\bbe it null\b`), "even if it is null", []string{
		"pkg/convert",
	}},
	{regexp.MustCompile(`\bwhence\b`), "where … from", nil},
	{regexp.MustCompile(`\b[Aa]sked is\b`), "begin with the subject", []string{
		"pkg/doctor",
		"pkg/doctor/evidence",
		"pkg/exec",
	}},
}

// TestStyleOfWords holds wordings in comments and in texts.
func TestStyleOfWords(t *testing.T) {
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, literal := range tokensOf(text, token.COMMENT, token.STRING) {
			for _, rule := range wordings {
				folder := filepath.ToSlash(filepath.Dir(path))
				if found := rule.wrong.FindString(literal.text); found != "" && !slices.Contains(rule.except, folder) {
					t.Errorf("%s: %q: %s (docs/style.md)", path, found, rule.better)
				}
			}
		}
	}
}

// maxColumns is the width of a line of Go; a tab counts as tabColumns.
const (
	maxColumns = 120
	tabColumns = 4
)

// longLines has the folders with lines over maxColumns, outside of tests and in tests. Take a folder off when it has
// none left.
var longLines = struct{ sources, tests []string }{
	sources: []string{
		"pkg/builtin",
		"pkg/config",
		"pkg/convert",
		"pkg/doctor",
		"pkg/doctor/checks/framing",
		"pkg/doctor/checks/handshake",
		"pkg/doctor/checks/http",
		"pkg/doctor/checks/launch",
		"pkg/doctor/checks/process",
		"pkg/doctor/checks/tool",
		"pkg/doctor/culprit",
		"pkg/doctor/decode",
		"pkg/doctor/repro",
		"pkg/exec",
		"pkg/jsonschema",
		"pkg/mask",
		"pkg/servers",
		"pkg/servers/fake",
		"pkg/tui",
	},
	tests: []string{
		"cmd",
		"pkg/ai",
		"pkg/auth",
		"pkg/builtin",
		"pkg/config",
		"pkg/console",
		"pkg/convert",
		"pkg/doctor",
		"pkg/doctor/checks/config",
		"pkg/doctor/checks/process",
		"pkg/doctor/cmdline",
		"pkg/doctor/culprit",
		"pkg/doctor/decode",
		"pkg/doctor/report",
		"pkg/doctor/wire",
		"pkg/exec",
		"pkg/history",
		"pkg/jsonschema",
		"pkg/mask",
		"pkg/render",
		"pkg/servers",
		"pkg/servers/fake",
		"pkg/sse",
		"pkg/state",
		"pkg/trust",
		"pkg/tui",
		"pkg/tui/form",
		"pkg/tui/jsontree",
		"pkg/tui/markdown",
		"pkg/tui/pane",
		"pkg/tui/result",
		"pkg/tui/watch",
		"testdata/attack",
		"testdata/conformance",
		"testdata/model",
		"testdata/oracles",
	},
}

// TestStyleOfLines holds the width of lines (docs/style.md). Two kinds of lines may be longer: those with a raw string,
// and rows of a table, which are braces and what is between them.
func TestStyleOfLines(t *testing.T) {
	for path, text := range goFiles(t) {
		allowed := longLines.sources
		if strings.HasSuffix(path, "_test.go") {
			allowed = longLines.tests
		}
		if slices.Contains(allowed, filepath.ToSlash(filepath.Dir(path))) {
			continue
		}
		raw := map[int]bool{}
		for _, literal := range tokensOf(text, token.STRING) {
			if strings.HasPrefix(literal.text, "`") {
				for line := range 1 + strings.Count(literal.text, "\n") {
					raw[literal.line+line] = true
				}
			}
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimRight(line, "\r\n")
			code := strings.TrimLeft(line, "\t")
			row := strings.HasPrefix(code, "{") && strings.HasSuffix(code, "},")
			columns := utf8.RuneCountInString(code) + tabColumns*(len(line)-len(code))
			if columns > maxColumns && !row && !raw[number] {
				t.Errorf("%s:%d has %d columns, at most %d are allowed", path, number, columns, maxColumns)
			}
		}
	}
}

// literal is a comment or a string in a file.
type literal struct {
	text string
	line int
}

// tokensOf returns the tokens of these kinds in a Go file.
func tokensOf(text []byte, kinds ...token.Token) []literal {
	var found []literal
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var scan scanner.Scanner
	scan.Init(file, text, nil, scanner.ScanComments)
	for {
		at, kind, value := scan.Scan()
		if kind == token.EOF {
			return found
		}
		if slices.Contains(kinds, kind) {
			found = append(found, literal{value, file.Line(at)})
		}
	}
}

// goFiles returns the text of all Go files of the project, tests too, by their paths from its root.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		name, err := filepath.Rel("..", path)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}
