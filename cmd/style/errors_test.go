package style_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
				text := madeError(n)
				if width := len(errorLabel) + shown(text); width > maxErrorColumns {
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

// madeError returns the text of an error that a node makes: a call, a field or an Error method; empty if it makes none.
func madeError(n ast.Node) string {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Message", "Text", "Title"}, key.Name) {
			return textOf(n.Value)
		}
	case *ast.CallExpr:
		if name := calledName(n); slices.Contains([]string{"fault.Usage", "errors.New", "fmt.Errorf"}, name) {
			return textOf(n.Args[0])
		}
	case *ast.FuncDecl:
		if n.Name.Name == "Error" && n.Recv != nil && n.Body != nil {
			if last, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt); ok {
				return textOf(last.Results[0])
			}
		}
	}
	return ""
}

// calledName returns the name of a called function of a package, such as "fmt.Errorf", or nothing.
func calledName(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok && len(call.Args) > 0 {
		if from, ok := selector.X.(*ast.Ident); ok {
			return from.Name + "." + selector.Sel.Name
		}
	}
	return ""
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
	case *ast.CallExpr:
		if calledName(e) == "fmt.Sprintf" {
			return textOf(e.Args[0])
		}
	}
	return strings.Repeat("n", nameColumns)
}

var verb = regexp.MustCompile(`%(?:%|[-+#0-9.]*[a-zA-Z])`)
