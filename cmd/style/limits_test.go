package style_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sizes from which code is split into the things that it is.
const (
	maxExported      = 40 // types, functions and variables of a package below pkg/servers
	maxMethods       = 40 // of a type
	maxFunctionLines = 70
	maxFolderFiles   = 40 // without tests
)

// larger are the things that are over these sizes, with a limit that only gets smaller.
func larger() map[string]int {
	return map[string]int{
		"pkg/tui.model": 73, // methods
	}
}

// TestLimits proves that no package, type, function and folder grows beyond its size.
func TestLimits(t *testing.T) {
	exported, methods, files, lines := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for path, file := range sources(t) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasPrefix(folder, "pkg/") && !strings.HasPrefix(folder, "cmd") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		files[folder]++
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				name := folder + "." + d.Name.Name
				if d.Recv != nil {
					receiver := folder + "." + receiverOf(d)
					methods[receiver]++
					name = receiver + "." + d.Name.Name
				} else if d.Name.IsExported() {
					exported[folder]++
				}
				lines[name] = bytes.Count(text[d.Pos()-file.FileStart:d.End()-file.FileStart], []byte("\n")) + 1
			case *ast.GenDecl:
				if d.Tok == token.CONST {
					continue
				}
				for _, spec := range d.Specs {
					exported[folder] += exportedBy(spec)
				}
			}
		}
	}
	for folder := range exported {
		if !strings.HasPrefix(folder, "pkg/servers/") {
			delete(exported, folder)
		}
	}
	for _, check := range []struct {
		counted map[string]int
		most    int
		unit    string
	}{
		{exported, maxExported, "exported names"},
		{methods, maxMethods, "methods"},
		{lines, maxFunctionLines, "lines"},
		{files, maxFolderFiles, "Go files"},
	} {
		for name, count := range check.counted {
			if most := max(check.most, larger()[name]); count > most {
				t.Errorf("%s has %d %s, at most %d are allowed", name, count, check.unit, most)
			}
		}
	}
}

// exportedBy returns how many exported types and variables a declaration makes.
func exportedBy(spec ast.Spec) (count int) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			count++
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				count++
			}
		}
	}
	return count
}

// receiverOf returns the name of the type of a method.
func receiverOf(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if generic, is := of.(*ast.IndexExpr); is {
		of = generic.X
	}
	return fmt.Sprint(of)
}
