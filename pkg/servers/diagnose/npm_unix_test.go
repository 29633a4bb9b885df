//go:build unix

package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		"sh: 1: shop: not found":  "the package is broken: its program is missing: dist/cli.js",
		"sh: 1: stock: not found": "stock is not installed",
		"sh: 1: uv: not found":    "uv is not installed",
	} {
		failure := &Failure{Ending: EndingExited, How: "exit status 127", StderrTail: []string{line}}
		got := failure.Explain(cause.Diagnose(failure.Output()), launch, time.Time{})
		if got == nil || got.What != want || len(got.Fixes) == 0 {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// TestEndsWithoutAWord: npx's own notices are not what the server prints.
func TestEndsWithoutAWord(t *testing.T) {
	launch := &config.Resolved{Command: "npx", Args: []string{"-y", "shop-mcp"}, Cwd: t.TempDir()}
	failure := &Failure{
		Ending: EndingExited, How: "exit status 0",
		StderrTail: []string{"npm notice", "npm notice New minor version of npm"},
	}
	idle := &cause.Cause{Kind: cause.Idle}
	got := failure.Explain(idle, launch, time.Time{})
	if got == nil || !strings.HasSuffix(got.What, "exits without an error, like a program that is not a server") ||
		len(got.Fixes) == 0 || got.Policy() != cause.Permanent {
		t.Errorf("%+v, want a fix, and no other attempt", got)
	}
	failure.How = "exit status 1"
	if got := failure.Explain(nil, launch, time.Time{}); got != nil {
		t.Errorf("of one that failed: %+v", got)
	}
	failure.StderrTail = append(failure.StderrTail, "nothing to do")
	if got := failure.Explain(idle, launch, time.Time{}); got != idle {
		t.Errorf("of one that printed something: %+v", got)
	}
	known := &cause.Cause{Kind: cause.Backend}
	if got := failure.Explain(known, launch, time.Time{}); got != known {
		t.Errorf("of a cause that is known: %+v", got)
	}
}

// TestUnsettledAwait: old versions of Node only exit with 13, and no line is shown that the process did not print.
func TestUnsettledAwait(t *testing.T) {
	script := filepath.Join(t.TempDir(), "server.mjs")
	writeCode(t, script, "await new Promise(() => {})")
	failure := &Failure{Ending: EndingExited, How: "exit status 13"}
	c := failure.Explain(nil, &config.Resolved{Command: "node", Args: []string{script}}, time.Time{})
	if c == nil || c.What != "Node exits: Detected unsettled top-level await" || c.Line != "" || len(c.Fixes) == 0 {
		t.Errorf("%+v", c)
	}
}

// writeCode writes a program.
func writeCode(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
