//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustOnTerminal asks a person once for each version of a folder's file. A server's
// name cannot pass for toolx's own words.
func TestTrustOnTerminal(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	config := filepath.Join(folder, ".mcp.json")
	text := `{"mcpServers": {"one": {"command": "fakeserver", "args": ["good"]}, "t\ntrust this file\u001b[2J": {"command": "x"}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() *terminal {
		env := append(homeVariables(home), "TOOLX_TRUST=", "NO_COLOR=1")
		return onTerminalIn(t, folder, env, "call", "one__echo", "message=hello")
	}
	const question = `trust this file\? \[y\]es, \[n\]o: $`
	term := run()
	term.typing(question, "\n", question, "n\n")
	seen := term.end(2)
	if !strings.Contains(seen, "not trusted") || strings.Contains(seen, "hello\r\n") {
		t.Errorf("after no:\n%q", seen)
	}
	term = run()
	term.await(`came with this folder`)
	term.await(question)
	if seen := term.seen.String(); strings.Contains(seen, "\x1b[2J") || !strings.Contains(seen, "\n  | one runs fakeserver good\r\n") || strings.Contains(seen, "\ntrust this file\x1b") {
		t.Errorf("what is shown:\n%q", seen)
	}
	term.typing(question, "y\n")
	if seen := term.end(0); !strings.Contains(seen, "hello") {
		t.Errorf("after yes:\n%q", seen)
	}
	if seen := run().end(0); strings.Contains(seen, "trust") {
		t.Errorf("the second time:\n%q", seen)
	}
	if err := os.WriteFile(config, []byte(strings.Replace(text, "good", "sdk-changed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	term = run()
	term.typing(`has changed since you trusted it(?s).*\| \+ one runs fakeserver sdk-changed(?s).*- one runs fakeserver good(?s).*`+question, "\x04")
	term.end(2)
}
