package style_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxErrorColumns is the width of an error's first line, with its label; a name, a value or a path counts as
// nameColumns, since the user or a server chooses it.
const (
	maxErrorColumns = 100
	nameColumns     = 8
	errorLabel      = "error: "
)

// chosen matches what is not toolx's own in an error: what a server or a provider says, quoted texts, lists of names,
// addresses, paths and places, and what a pattern leaves open.
var chosen = regexp.MustCompile(`(?:stderr|stdout|own|Error|cannot read): .*|failed to start: \.\*.*|stdin: .*|was dropped: .*|\((?:known servers|confirm): [^)]*\)|''[^']*''|'[^']*'|"[^"]*"|https?://\S+|\S*/\S*|\S+:\d+(:\d+)?|\S*\.\*\S*`)

// shown returns the width of the first line of an error.
func shown(text string) int {
	first, _, _ := strings.Cut(text, `\n`)
	first = strings.NewReplacer(`\\`, `\`, `\.`, `.`, `\(`, `(`, `\)`, `)`, `\[`, `[`, `\]`, `]`, `\{`, `{`, `\}`, `}`,
		`\d+`, "1", `\$`, "$", `\|`, "|", `\+`, "+", `\?`, "?", `\*`, "*").Replace(first)
	return utf8.RuneCountInString(chosen.ReplaceAllLiteralString(first, strings.Repeat("n", nameColumns)))
}

// TestStyleOfErrors holds the width of the first line of errors, where tests and pages show them and where the code
// makes them. What comes after the cause is a detail or a hint.
func TestStyleOfErrors(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/processes/*.txtar", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkShownErrors(t, path, string(text))
		}
	}
	for path, file := range sources(t) {
		if strings.HasPrefix(path, "cmd") || strings.HasPrefix(path, "pkg") {
			ast.Inspect(file, func(n ast.Node) bool {
				if width := madeError(n); width > maxErrorColumns {
					text := textOf(n.(*ast.CallExpr).Args[0]) //nolint:forcetypeassert // only calls have a width
					t.Errorf("%s: the first line of an error has %d columns, at most %d are allowed; move "+
						"circumstances to its hint or details: %s", path, width, maxErrorColumns, text)
				}
				return true
			})
		}
	}
}

// checkShownErrors checks the errors that a script expects on stderr, or a page shows.
func checkShownErrors(t *testing.T, path, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		_, found, isExpected := strings.Cut(strings.TrimRight(line, "\n"), "stderr '")
		if !isExpected && filepath.Ext(path) == ".md" {
			found = line
		}
		found = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(found, "^"), "'"), "$")
		if !strings.HasPrefix(found, errorLabel) || strings.HasPrefix(found, errorLabel+"Invalid parameters: ") {
			continue // EXEC-7 names every problem on the first line
		}
		if width := shown(found); width > maxErrorColumns {
			t.Errorf("%s: the first line of an error has %d columns, at most %d are allowed: %s",
				path, width, maxErrorColumns, found)
		}
	}
}

// madeError returns the width of the first line of an error that a call makes; 0 if it makes none.
func madeError(n ast.Node) int {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return 0
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	from, _ := selector.X.(*ast.Ident)
	switch {
	case from == nil:
		return 0
	case from.Name == "fault" && selector.Sel.Name == "Usage", from.Name == "errors" && selector.Sel.Name == "New",
		from.Name == "fmt" && selector.Sel.Name == "Errorf":
		return len(errorLabel) + shown(textOf(call.Args[0]))
	}
	return 0
}

// textOf returns the text of an expression; what is not constant becomes a name.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if e.Kind != token.STRING || err != nil {
			break
		}
		return verb.ReplaceAllStringFunc(strings.ReplaceAll(text, "\n", `\n`), func(found string) string {
			if found == "%%" {
				return "%"
			}
			return strings.Repeat("n", nameColumns)
		})
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.ParenExpr:
		return textOf(e.X)
	}
	return strings.Repeat("n", nameColumns)
}

var verb = regexp.MustCompile(`%(?:%|[-+#0-9.]*[a-zA-Z])`)
