//go:build unix

package cmd_test

import (
	"fmt"
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
	if seen := term.seen.String(); strings.Contains(seen, "\x1b[2J") ||
		!strings.Contains(seen, "\n  | one runs fakeserver good\r\n") ||
		strings.Contains(seen, "\ntrust this file\x1b") {
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

// TestNothingTypedAheadConsents types a yes before the question can be read: it is no answer.
func TestNothingTypedAheadConsents(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	text := `{"mcpServers": {"one": {"command": "fakeserver", "args": ["good"]}}}`
	if err := os.WriteFile(filepath.Join(folder, ".mcp.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"toolx call one__echo message=hello", "toolx trust"} {
		env := append(homeVariables(home), "TOOLX_TRUST=", "NO_COLOR=1")
		// The shell takes the first line, and toolx begins with the others in its terminal's queue.
		term := programOnTerminal(t, folder, env, "sh", "-c", "read -r first; exec "+line)
		if _, err := term.master.WriteString("first\ny\ny\n"); err != nil {
			t.Fatal(err)
		}
		term.typing(`trust this file\? \[y\]es, \[n\]o: $`, "n\n")
		if seen := term.end(2); !strings.Contains(seen, "not trusted") {
			t.Errorf("%s: after a yes typed ahead:\n%q", line, seen)
		}
	}
}

// TestTrustShowsWhatChanged has what is new stand first among more lines than are shown, and
// says of all that is left out.
func TestTrustShowsWhatChanged(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	var text strings.Builder
	text.WriteString("servers:\n")
	for i := range 120 {
		fmt.Fprintf(&text, "  s%d: {command: fakeserver, args: [good]}\n", i)
	}
	write := func() {
		if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust := func(arguments ...string) *terminal {
		return onTerminalIn(t, folder, append(homeVariables(home), "TOOLX_TRUST=", "NO_COLOR=1"),
			append([]string{"trust"}, arguments...)...)
	}
	write()
	const rest = "  … and 20 more that are not shown: read the file\r\n  120 lines in all, sha256 "
	if seen := trust("--yes").end(0); !strings.Contains(seen, rest) {
		t.Errorf("%q", seen)
	}
	fmt.Fprintf(&text, "  last: {command: sh, args: [-c, 'echo %s; evil']}\n", strings.Repeat(" ", 2000))
	write()
	seen := trust("--yes").end(0)
	for _, want := range []string{
		"rights:\r\n  | + last runs sh -c \"echo",
		"KiB of this line that are not shown: read the file\r\n  |   s0 runs",
		"… and 21 more that are not shown", "121 lines in all, sha256 ",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("no %q in\n%q", want, seen)
		}
	}
}
