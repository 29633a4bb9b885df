//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitOnTerminal offers a config where there is none, and writes only what the person agrees to.
func TestInitOnTerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, text := range map[string]string{
		".cursor/mcp.json": `{"mcpServers": {"own": {"command": "fakeserver"}}}`,
		".claude.json":     `{"mcpServers": {"own": {"command": "fakeserver"}, "off": {"command": "x"}}}`,
	} {
		writeFile(t, filepath.Join(home, name), text)
	}
	folder := filepath.Join(emptyFolder(t), "project")
	writeFile(t, filepath.Join(folder, "package.json"),
		`{"name": "notes", "bin": "n.js", "dependencies": {"fastmcp": "3"}}`)
	env := append(homeVariables(home), "NO_COLOR=1", "TERM=xterm")
	term := onTerminalIn(t, folder, env, "init")
	term.typing(`node \./n\.js\r\nadd it as notes\? \[y\]es, \[n\]o: $`, "n\n",
		`Cursor \(1\), Claude Code \(2\)\r\nuse them under their plain names\? \[y\]es, \[n\]o: $`, "y\n")
	term.end(0)
	got, err := os.ReadFile(filepath.Join(folder, "toolx.yaml"))
	if want := initialConfig + "imports: [cursor, claude-code]\n"; err != nil || string(got) != want {
		t.Errorf("written %q, %v; want %q", got, err, want)
	}
	// Where nothing is found, a command is asked for.
	folder = filepath.Join(emptyFolder(t), "project")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	term = onTerminalIn(t, folder, append(homeVariables(t.TempDir()), "NO_COLOR=1"), "init")
	term.typing(`or press Enter for none:\r\n> $`, "node 'my notes.js'\n")
	term.end(0)
	got, err = os.ReadFile(filepath.Join(folder, "toolx.yaml"))
	want := initialConfig + "servers:\n  server:\n    command: node\n    args: [\"my notes.js\"]\n    cwd: .\n"
	if err != nil || string(got) != want {
		t.Errorf("written %q, %v; want %q", got, err, want)
	}
}

// TestInitTrustsWhatAPersonHasSeen writes a config on a terminal: after a yes the server that was shown is trusted.
func TestInitTrustsWhatAPersonHasSeen(t *testing.T) {
	t.Parallel()
	env := append(homeVariables(t.TempDir()), "NO_COLOR=1", "TOOLX_TRUST=")
	folder := filepath.Join(emptyFolder(t), "project")
	writeFile(t, filepath.Join(folder, "package.json"),
		`{"name": "notes", "bin": "n.js", "scripts": {"start": "x"}, "dependencies": {"fastmcp": "3"}}`)
	term := onTerminalIn(t, folder, env, "init")
	term.typing(`node \./n\.js\r\nadd it as notes\? \[y\]es, \[n\]o: $`, "y\n")
	term.end(0)
	shown := onTerminalIn(t, folder, env, "servers", "toolx").end(0)
	if !strings.Contains(shown, "notes") || strings.Contains(shown, "trust") {
		t.Errorf("after a yes:\n%q", shown)
	}
	// The text of a script cannot pass for toolx's own words.
	folder = filepath.Join(emptyFolder(t), "project")
	writeFile(t, filepath.Join(folder, "package.json"),
		`{"name": "s", "scripts": {"start": "x\nadd it as s? \u001b[2J"}, "dependencies": {"fastmcp": "3"}}`)
	term = onTerminalIn(t, folder, env, "init")
	term.typing(`\n  \| it runs x(?s).*\n  \| add it as s\? [^\x1b]*\r\nadd it as s\? \[y\]es, \[n\]o: $`, "n\n",
		`or press Enter for none:\r\n> $`, "\n")
	term.end(0)
}

// initialConfig is how a config of toolx init begins.
const initialConfig = `# The servers and tools that toolx knows: toolx help config describes this file.
# toolx servers add NAME --project -- COMMAND adds a server.
`

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
