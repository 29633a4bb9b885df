// Command lazyinit prepares a build in which github.com/santhosh-tekuri/jsonschema compiles the meta-schema of a draft
// when the draft is first used. The module compiles those of all drafts in init, which takes longer than everything else
// that a short command does, and mcp-go links it whether a command validates or not.
//
// It copies the module from the module cache into a folder, edits draft.go by its syntax tree, and writes a go.mod that
// replaces the module there:
//
//	go run ./release/lazyinit bin/lazy && go build -modfile bin/lazy/go.mod .
//
// If the module no longer has what is edited, the go.mod replaces nothing, and lazyinit says so and exits with 3. Any
// other failure exits with 1.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/santhosh-tekuri/jsonschema/v6"

// exitUnchanged is the exit code of a build that stays as it is, since the module has changed.
const exitUnchanged = 3

// errUnknown reports that the module is not the one that edit knows.
var errUnknown = errors.New("the module has changed")

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lazyinit FOLDER")
		os.Exit(2)
	}
	switch err := prepare(os.Args[1]); {
	case errors.Is(err, errUnknown):
		fmt.Fprintf(os.Stderr, "lazyinit: %v; the build compiles all meta-schemas at start-up\n", err)
		os.Exit(exitUnchanged)
	case err != nil:
		fmt.Fprintf(os.Stderr, "lazyinit: %v\n", err)
		os.Exit(1)
	}
}

// prepare fills folder, which is below the current one, the root of the main module.
func prepare(folder string) error {
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	goSum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	source, err := cached()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	copied := filepath.Join(folder, "jsonschema")
	edited := copyEdited(source, copied)
	switch {
	case edited == nil:
		goMod = fmt.Appendf(goMod, "\nreplace %s => ./%s\n", module, filepath.ToSlash(copied))
	case !errors.Is(edited, errUnknown):
		return edited
	}
	return errors.Join(
		edited,
		os.WriteFile(filepath.Join(folder, "go.mod"), goMod, 0o644), //nolint:gosec // as go.mod itself
		os.WriteFile(filepath.Join(folder, "go.sum"), goSum, 0o644), //nolint:gosec // as go.sum itself
	)
}

// cached returns the folder of the module in the module cache, after a download where it is missing.
func cached() (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	var found struct{ Dir string }
	return found.Dir, json.Unmarshal(out, &found)
}

// copyEdited copies what a build needs of the module: the folders below it, and the files of Go without the tests.
func copyEdited(source, target string) error {
	draft, err := os.ReadFile(filepath.Join(source, "draft.go"))
	if err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	draft, err = edit(draft)
	if err != nil {
		return err
	}
	for _, name := range []string{"kind", "metaschemas"} {
		if err := os.CopyFS(filepath.Join(target, name), os.DirFS(filepath.Join(source, name))); err != nil {
			return err
		}
	}
	names, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return err
	}
	names = append(names, filepath.Join(source, "go.mod"), filepath.Join(source, "LICENSE"))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if filepath.Base(name) == "draft.go" {
			text = draft
		}
		if err := os.WriteFile(filepath.Join(target, filepath.Base(name)), text, 0o644); err != nil { //nolint:gosec // source
			return err
		}
	}
	return nil
}

// edit turns init, which has a loop over all drafts, into a method of one draft, and has getSchema call it once. The
// schemas of vocabularies get a map of their own: meanwhile others may read the map of their names.
func edit(source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "draft.go", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	e := editor{source: source, file: fset.File(file.Pos())}
	var draft *ast.StructType
	var compile, use *ast.FuncDecl
	var loop *ast.RangeStmt
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if of, ok := n.Type.(*ast.StructType); ok && n.Name.Name == "Draft" {
				draft = of
			}
		case *ast.FuncDecl:
			switch n.Name.Name {
			case "init":
				compile = n
			case "getSchema":
				use = n
			}
		case *ast.RangeStmt:
			if _, drafts := n.X.(*ast.CompositeLit); drafts && loop == nil {
				loop = n
			}
		}
		return true
	})
	if draft == nil || compile == nil || use == nil || use.Recv == nil || loop == nil ||
		loop.Pos() < compile.Pos() || loop.End() > compile.End() {
		return nil, fmt.Errorf("%w: draft.go has another structure", errUnknown)
	}
	each := e.text(loop.Value)
	dialect := e.text(use.Recv.List[0].Names[0])
	e.replace(file.Name.End(), file.Name.End(), "; import \"sync\"")
	e.replace(draft.Fields.Opening+1, draft.Fields.Opening+1, "once sync.Once; vocabSchemas map[string]*Schema;")
	e.replace(compile.Pos(), compile.Body.Lbrace, "func ("+each+" *Draft) compileMeta() ")
	e.replace(loop.Pos(), loop.Body.Lbrace, each+".vocabSchemas = map[string]*Schema{}; ")
	e.replace(use.Body.Lbrace+1, use.Body.Lbrace+1, dialect+".draft.once.Do("+dialect+".draft.compileMeta);")
	if e.renameMap(loop.Body) != 1 || e.renameMap(use.Body) == 0 {
		return nil, fmt.Errorf("%w: draft.go keeps the schemas of vocabularies elsewhere", errUnknown)
	}
	edited, err := format.Source(e.edited())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	return edited, nil
}

// editor replaces parts of a file.
type editor struct {
	source []byte
	file   *token.File
	edits  []replacement
}

// replacement is a text in place of the bytes from one offset to another.
type replacement struct {
	from, to int
	text     string
}

func (e *editor) text(node ast.Node) string {
	return string(e.source[e.file.Offset(node.Pos()):e.file.Offset(node.End())])
}

func (e *editor) replace(from, to token.Pos, text string) {
	e.edits = append(e.edits, replacement{e.file.Offset(from), e.file.Offset(to), text})
}

// renameMap renames the map of vocabularies where it is indexed, and returns how often that was.
func (e *editor) renameMap(within ast.Node) (count int) {
	ast.Inspect(within, func(n ast.Node) bool {
		index, ok := n.(*ast.IndexExpr)
		if !ok {
			return true
		}
		if vocabs, ok := index.X.(*ast.SelectorExpr); ok && vocabs.Sel.Name == "allVocabs" {
			e.replace(vocabs.Sel.Pos(), vocabs.Sel.End(), "vocabSchemas")
			count++
		}
		return true
	})
	return count
}

// edited returns the file with all replacements.
func (e *editor) edited() []byte {
	slices.SortFunc(e.edits, func(a, b replacement) int { return b.from - a.from })
	text := string(e.source)
	for _, edit := range e.edits {
		text = text[:edit.from] + edit.text + text[edit.to:]
	}
	return []byte(text)
}
