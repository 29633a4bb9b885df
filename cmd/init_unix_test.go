//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
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
	term := onTerminalIn(t, folder, env)
	term.typing(`no server is configured(?s).*do so\? \[y\]es, \[n\]o: $`, "y\n",
		`node n\.js\r\nadd it as notes\? \[y\]es, \[n\]o: $`, "n\n",
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
	term.typing(`or Enter for none:\r\n> $`, "node 'my notes.js'\n")
	term.end(0)
	got, err = os.ReadFile(filepath.Join(folder, "toolx.yaml"))
	want := initialConfig + "servers:\n  server:\n    command: node\n    args: [\"my notes.js\"]\n    cwd: .\n"
	if err != nil || string(got) != want {
		t.Errorf("written %q, %v; want %q", got, err, want)
	}
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
