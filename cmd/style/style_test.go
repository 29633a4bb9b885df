// Package style has the tests of what the whole project has in common: wording, width of lines, imports and systems.
// They take seconds, and make test runs them first.
package style_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"toolx/cmd"
)

// root is the folder of the project.
const root = "../.."

var update = flag.Bool("update", false, "lower the numbers of testdata/words.txt")

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
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					t.Errorf("%s: a comment refers to %s, which is not here", path, name)
				}
			}
		}
	}
}

// wordsFile has the expressions to avoid, with the number of occurrences that are still allowed.
const wordsFile = "../../testdata/words.txt"

// TestStyleOfWords counts expressions to avoid in code, without tests, and on pages. -update lowers the allowed
// numbers.
func TestStyleOfWords(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	texts := wordedTexts(t)
	var updated strings.Builder
	for line := range strings.Lines(string(list)) {
		if !strings.HasPrefix(line, "#") {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) != 3 {
				t.Fatalf("%s: %q", wordsFile, line)
			}
			allowed, err := strconv.Atoi(fields[0])
			if err != nil {
				t.Fatalf("%s: %q: %v", wordsFile, line, err)
			}
			found := countWords(texts, regexp.MustCompile(fields[1]))
			if found > allowed {
				t.Errorf("%q occurs %d times, at most %d are allowed; write %q", fields[1], found, allowed, fields[2])
			}
			line = fmt.Sprintf("%d\t%s\t%s\n", min(found, allowed), fields[1], fields[2])
		}
		updated.WriteString(line)
	}
	if *update {
		err := os.WriteFile(wordsFile, []byte(updated.String()), 0o644) //nolint:gosec // a file of the repository
		if err != nil {
			t.Fatal(err)
		}
	}
}

// countWords counts the matches of an expression at the beginning of words. An expression that begins with plain text
// is found fast.
func countWords(texts []string, expression *regexp.Regexp) (count int) {
	for _, text := range texts {
		for _, match := range expression.FindAllStringIndex(text, -1) {
			before, _ := utf8.DecodeLastRuneInString(text[:match[0]])
			if !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != '_' && before != '.' { // http.NoBody
				count++
			}
		}
	}
	return count
}

// wordedTexts returns the texts in which expressions are counted, in lower case: the code without tests, and all pages
// but the one that quotes bad examples.
func wordedTexts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for path, text := range goFiles(t) {
		if !strings.HasSuffix(path, "_test.go") {
			texts = append(texts, strings.ToLower(string(text)))
		}
	}
	for _, pages := range []string{"README.md", "CONTRIBUTING.md", "docs", "pkg", "skills"} {
		err := filepath.WalkDir(filepath.Join(root, pages), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".md" || entry.Name() == "style.md" {
				return err
			}
			text, err := os.ReadFile(path)
			texts = append(texts, strings.ToLower(string(text)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
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
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	checks, err := filepath.Glob("../../pkg/doctor/checks/*/*.md")
	if err != nil || len(checks) == 0 {
		t.Fatal(err)
	}
	house, err := filepath.Glob("../../*.md")
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

// goFiles returns the text of all Go files of the project, tests too, by their paths from its root.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := goTexts()
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

var goTexts = sync.OnceValues(func() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || path == filepath.Join(root, "bin")):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	return files, err
})

// TestStyleOfHelp holds the width of help texts, and titles of commands without a full stop. Examples may be longer.
func TestStyleOfHelp(t *testing.T) {
	t.Parallel()
	var check func(command *cobra.Command)
	check = func(command *cobra.Command) {
		if command.HasParent() && strings.HasSuffix(command.Short, ".") {
			t.Errorf("%s: the title %q ends with a full stop", command.CommandPath(), command.Short)
		}
		for line := range strings.Lines(command.Long) {
			if columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")); columns > maxHelpColumns {
				t.Errorf("%s: a line of help has %d columns, at most %d are allowed: %s",
					command.CommandPath(), columns, maxHelpColumns, line)
			}
		}
		for _, child := range command.Commands() {
			check(child)
		}
	}
	check(cmd.Command())
}

// maxHelpColumns is the width of a line of help.
const maxHelpColumns = 100
