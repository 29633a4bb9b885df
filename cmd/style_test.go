package cmd_test

import (
	"go/ast"
	"go/parser"
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

// wordings are constructions that comments and texts of toolx do not have. Most begin with plain text, for which a
// regular expression searches fast.
var wordings = []struct {
	wrong  *regexp.Regexp
	better string
}{
	{regexp.MustCompile(`that (?:is|are) none\b`), "say what it is instead"},
	{regexp.MustCompile(`which (?:is|are) none\b`), "say what it is instead"},
	{regexp.MustCompile(`must be (?:number|string|integer|array|object|boolean)\b`), "must be a number"},
	{regexp.MustCompile(`there is no member`), "… is missing"},
	{regexp.MustCompile(`be it null\b`), "even if it is null"},
	{regexp.MustCompile(`whence\b`), "where … from"},
	{regexp.MustCompile(`\b[Aa]sked is\b`), "begin with the subject"},
	{regexp.MustCompile(`at the most\b`), "at most"},
	{regexp.MustCompile(`stands? behind\b`), "follows"},
	{regexp.MustCompile(`stood behind\b`), "follows"},
}

// TestStyleOfWords holds wordings in comments and in texts.
func TestStyleOfWords(t *testing.T) {
	t.Parallel()
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, literal := range tokensOf(text, token.COMMENT, token.STRING) {
			for _, rule := range wordings {
				if found := rule.wrong.FindString(literal.text); found != "" {
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

// TestStyleOfLines holds the width of lines (docs/style.md). mayBeLong has the exceptions.
func TestStyleOfLines(t *testing.T) {
	for path, text := range goFiles(t) {
		long := mayBeLong(t, path, text)
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimRight(line, "\r\n")
			code := strings.TrimLeft(line, "\t")
			columns := utf8.RuneCountInString(code) + tabColumns*(len(line)-len(code))
			if columns > maxColumns && !long[number] {
				t.Errorf("%s:%d has %d columns, at most %d are allowed", path, number, columns, maxColumns)
			}
		}
	}
}

// mayBeLong returns the lines of a file that may be longer: those with a part of a raw string, those that are one
// string, and rows of a table, which are literals in a literal, or in tests also the elements of a map.
func mayBeLong(t *testing.T, path string, text []byte) map[int]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	long := map[int]bool{}
	// alone permits the line that has this node, or its beginning, and nothing else but punctuation.
	alone := func(n ast.Node) {
		from, to := files.Position(n.Pos()), files.Position(n.End())
		rest := lines[from.Line-1][:from.Column-1]
		if from.Line == to.Line {
			rest += lines[from.Line-1][to.Column-1:]
		}
		long[from.Line] = long[from.Line] || strings.Trim(rest, "\t ,+(){}") == ""
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			alone(n)
			if n.Value[0] == '`' {
				for line := files.Position(n.Pos()).Line; line <= files.Position(n.End()).Line; line++ {
					long[line] = true
				}
			}
		case *ast.CompositeLit:
			_, isMap := n.Type.(*ast.MapType)
			for _, element := range n.Elts {
				_, isRow := element.(*ast.CompositeLit)
				if pair, ok := element.(*ast.KeyValueExpr); ok && strings.HasSuffix(path, "_test.go") {
					_, named := pair.Key.(*ast.BasicLit)
					isRow = isMap || named
				}
				if isRow {
					alone(element)
				}
			}
		}
		return true
	})
	return long
}

// translated are expressions that pages other than those of checks do not have.
var translated = regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|whoever|anew|by itself|without a word|in vain|` +
	`sign of life|what is (?:not|to be|no)|(?:is|are|was|were) told|tells? of|is held|offspring|mend(?:s|ed)?|` +
	`unanswered|at the most|goes on as|came to no end|settles it|on the whole terminal)\b`)

// TestStyleOfPages holds the width of prose on pages. Rows of tables, code, front matter and lines with a link may be
// longer.
func TestStyleOfPages(t *testing.T) {
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	checks, err := filepath.Glob("../pkg/doctor/checks/*/*.md")
	if err != nil || len(checks) == 0 {
		t.Fatal(err)
	}
	house, err := filepath.Glob("../*.md")
	if err != nil || len(house) == 0 {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(paths, checks, house) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ours := !slices.Contains(checks, path) && filepath.Base(path) != "style.md"
		code, front := false, false
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimRight(line, "\r\n")
			switch {
			case line == "---" && (number == 1 || front):
				front = !front
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				code = !code
			case code, front:
			case ours && translated.MatchString(line):
				t.Errorf("%s:%d: %q sounds translated (docs/style.md)", path, number, translated.FindString(line))
			case strings.HasPrefix(line, "|"), strings.Contains(line, "]("):
			case utf8.RuneCountInString(line) > maxColumns:
				t.Errorf("%s:%d has more than %d columns", path, number, maxColumns)
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
