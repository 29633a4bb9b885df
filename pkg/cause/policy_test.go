package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPolicies: the table has every kind that there is, and no other (MCP-6).
func TestPolicies(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "cause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "Kind" {
			return true
		}
		literal, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if known++; policies[Kind(literal)] == "" {
			t.Errorf("%s has no policy", spec.Names[0])
		}
		return true
	})
	if known == 0 || known != len(policies) {
		t.Errorf("the table has %d kinds, want %d", len(policies), known)
	}
}

// TestPassing: what a server says of a service that is not there, or of something that is in use, may pass (MCP-3).
func TestPassing(t *testing.T) {
	text, err := os.ReadFile("testdata/passing.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if c := Diagnose(Output{Stderr: []string{line}}); c == nil || c.Policy() != Transient {
			t.Errorf("%s: %+v", line, c)
		}
	}
}
