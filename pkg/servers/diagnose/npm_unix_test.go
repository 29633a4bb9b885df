//go:build unix

package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/cause"
	"toolx/pkg/config"
)

// TestPackageLacksItsProgram has packages that were published without what their bin names.
func TestPackageLacksItsProgram(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "node_modules", "@acme", "shop")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeCode(t, filepath.Join(folder, "package.json"),
		`{"name": "@acme/shop", "bin": {"@acme/shop": "dist/cli.js", "stock": "package.json"}}`)
	launch := &config.Resolved{
		Command: "npx", Args: []string{"-y", "@acme/shop"}, Cwd: filepath.Join(folder, "..", "..", ".."),
	}
	for line, want := range map[string]string{
		"sh: 1: shop: not found":  "the package is broken: it lacks its program, dist/cli.js",
		"sh: 1: stock: not found": "stock is not installed",
		"sh: 1: uv: not found":    "uv is not installed",
	} {
		p := Process{Launch: launch, Output: cause.Output{Ended: "exit status 127", Stderr: []string{line}}}
		got := p.Cause(cause.Diagnose(p.Output))
		if got == nil || got.What != want || len(got.Fixes) == 0 {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// TestEndsWithoutAWord: npx's own notices are not what the server prints.
func TestEndsWithoutAWord(t *testing.T) {
	launch := &config.Resolved{Command: "npx", Args: []string{"-y", "shop-mcp"}, Cwd: t.TempDir()}
	p := Process{Launch: launch, Output: cause.Output{
		Ended: "exit status 0", Stderr: []string{"npm notice", "npm notice New minor version of npm"},
	}}
	idle := &cause.Cause{Kind: cause.Idle}
	got := p.Cause(idle)
	if got == nil || !strings.HasSuffix(got.What, "ends without an error, as a program that is no server") ||
		len(got.Fixes) == 0 || got.Policy() != cause.Permanent {
		t.Errorf("%+v, want a fix, and no other attempt", got)
	}
	p.Output.Ended = "exit status 1"
	if got := p.Cause(nil); got != nil {
		t.Errorf("of one that failed: %+v", got)
	}
	p.Output.Stderr = append(p.Output.Stderr, "nothing to do")
	if got := p.Cause(idle); got != idle {
		t.Errorf("of one that printed something: %+v", got)
	}
	known := &cause.Cause{Kind: cause.Backend}
	if got := p.Cause(known); got != known {
		t.Errorf("of a cause that is known: %+v", got)
	}
}

// writeCode writes a program.
func writeCode(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
