package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
)

// compileMetaSchemasOnUse turns init, which has a loop over all drafts, into a method of one draft, and has getSchema
// call it once. The schemas of vocabularies get a map of their own: meanwhile others may read the map of their names.
func compileMetaSchemasOnUse(files map[string][]byte) (map[string][]byte, error) {
	const name = "draft.go"
	e, err := newEditor(name, files[name])
	if err != nil {
		return nil, err
	}
	var draft *ast.StructType
	var compile, use *ast.FuncDecl
	var loop *ast.RangeStmt
	ast.Inspect(e.file, func(n ast.Node) bool {
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
		return nil, fmt.Errorf("%w: %s has another structure", errUnknown, name)
	}
	each := e.text(loop.Value)
	dialect := e.text(use.Recv.List[0].Names[0])
	e.importSync()
	e.insert(draft.Fields.Opening+1, "once sync.Once; vocabSchemas map[string]*Schema;")
	e.replace(compile.Pos(), compile.Body.Lbrace, "func ("+each+" *Draft) compileMeta() ")
	e.replace(loop.Pos(), loop.Body.Lbrace, each+".vocabSchemas = map[string]*Schema{}; ")
	e.insert(use.Body.Lbrace+1, dialect+".draft.once.Do("+dialect+".draft.compileMeta);")
	if e.renameMap(loop.Body) != 1 || e.renameMap(use.Body) == 0 {
		return nil, fmt.Errorf("%w: %s keeps the schemas of vocabularies elsewhere", errUnknown, name)
	}
	text, err := e.edited()
	return map[string][]byte{name: text}, err
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

// compileExpressionsOnUse turns package variables with a compiled regular expression into functions that compile it at
// their first call, and uses of the variables into calls.
func compileExpressionsOnUse(files map[string][]byte) (map[string][]byte, error) {
	editors := map[string]*editor{}
	declared := map[string]*ast.Ident{}
	for name, source := range files {
		e, err := newEditor(name, source)
		if err != nil {
			return nil, err
		}
		editors[name] = e
		for _, spec := range e.expressions() {
			declared[spec.Names[0].Name] = spec.Names[0]
		}
	}
	if len(declared) == 0 {
		return nil, fmt.Errorf("%w: no variable is a regular expression", errUnknown)
	}
	edited := map[string][]byte{}
	for name, e := range editors {
		for _, spec := range e.expressions() {
			// Not sync.OnceValue: a module may be older than generics.
			e.insert(spec.Values[0].Pos(), "func() func() *regexp.Regexp { var once sync.Once; "+
				"var compiled *regexp.Regexp; return func() *regexp.Regexp { once.Do(func() { compiled = ")
			e.insert(spec.Values[0].End(), " }); return compiled } }()")
			e.importSync()
		}
		ast.Inspect(e.file, func(n ast.Node) bool {
			if use, ok := n.(*ast.Ident); ok && declared[use.Name] != nil && use != declared[use.Name] {
				e.insert(use.End(), "()")
			}
			return true
		})
		if len(e.edits) == 0 {
			continue
		}
		var err error
		if edited[name], err = e.edited(); err != nil {
			return nil, err
		}
	}
	return edited, nil
}

// runInitOnUse returns an edit for a package whose init, in the first of the files, only sets package variables: every
// function of the files that mentions one of them calls init first, once.
func runInitOnUse(names ...string) func(map[string][]byte) (map[string][]byte, error) {
	return func(files map[string][]byte) (map[string][]byte, error) {
		edited := map[string][]byte{}
		set := map[string]bool{}
		for _, name := range names {
			e, err := newEditor(name, files[name])
			if err != nil {
				return nil, err
			}
			for _, declaration := range e.file.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				switch {
				case ok && function.Name.Name == "init" && name == names[0]:
					assigned(function.Body, set)
					e.importSync()
					e.replace(function.Name.Pos(), function.Name.End(), "initialize")
					e.insert(function.Pos(), "var initialized sync.Once\n\n")
				case ok && function.Body != nil && mentions(function.Body, set):
					e.insert(function.Body.Lbrace+1, "initialized.Do(initialize);")
				}
			}
			if len(e.edits) == 0 {
				return nil, fmt.Errorf("%w: %s has no init, or does not use what it sets", errUnknown, name)
			}
			if edited[name], err = e.edited(); err != nil {
				return nil, err
			}
		}
		return edited, nil
	}
}

// assigned adds the variables that a function sets.
func assigned(body *ast.BlockStmt, set map[string]bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if assignment, ok := n.(*ast.AssignStmt); ok && assignment.Tok == token.ASSIGN {
			for _, left := range assignment.Lhs {
				if member, ok := left.(*ast.IndexExpr); ok {
					left = member.X
				}
				if name, ok := left.(*ast.Ident); ok {
					set[name.Name] = true
				}
			}
		}
		return true
	})
}

// mentions reports whether a function uses one of some names.
func mentions(body *ast.BlockStmt, names map[string]bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && names[name.Name]
		return !found
	})
	return found
}

// expressions returns the package variables of a file that are set to a regular expression.
func (e *editor) expressions() (found []*ast.ValueSpec) {
	for _, declaration := range e.file.Decls {
		variables, ok := declaration.(*ast.GenDecl)
		if !ok || variables.Tok != token.VAR {
			continue
		}
		for _, spec := range variables.Specs {
			spec, _ := spec.(*ast.ValueSpec)
			if len(spec.Names) != 1 || len(spec.Values) != 1 || spec.Type != nil {
				continue
			}
			if call, ok := spec.Values[0].(*ast.CallExpr); ok && e.text(call.Fun) == "regexp.MustCompile" {
				found = append(found, spec)
			}
		}
	}
	return found
}

// editor replaces parts of a file.
type editor struct {
	source []byte
	file   *ast.File
	offset func(token.Pos) int
	edits  []replacement
}

// replacement is a text in place of the bytes from one offset to another.
type replacement struct {
	from, to int
	text     string
}

func newEditor(name string, source []byte) (*editor, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	return &editor{source: source, file: file, offset: files.File(file.Pos()).Offset}, nil
}

func (e *editor) text(node ast.Node) string {
	return string(e.source[e.offset(node.Pos()):e.offset(node.End())])
}

func (e *editor) insert(at token.Pos, text string) { e.replace(at, at, text) }

func (e *editor) replace(from, to token.Pos, text string) {
	e.edits = append(e.edits, replacement{e.offset(from), e.offset(to), text})
}

// importSync imports the package sync, unless the file or an earlier edit does.
func (e *editor) importSync() {
	const text = "; import \"sync\""
	at := e.offset(e.file.Name.End())
	imported := slices.ContainsFunc(e.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"sync"` })
	if !imported && !slices.Contains(e.edits, replacement{at, at, text}) {
		e.edits = append(e.edits, replacement{at, at, text})
	}
}

// edited returns the file with all replacements.
func (e *editor) edited() ([]byte, error) {
	slices.SortStableFunc(e.edits, func(a, b replacement) int { return a.from - b.from })
	var text []byte
	at := 0
	for _, edit := range e.edits {
		text = append(append(text, e.source[at:edit.from]...), edit.text...)
		at = edit.to
	}
	text, err := format.Source(append(text, e.source[at:]...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	return text, nil
}
