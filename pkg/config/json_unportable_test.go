package config

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestUnportable: what a client refuses in its own file is known, although toolx reads it.
func TestUnportable(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"a trailing comma", ".mcp.json", "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n}}", ".mcp.json:3:1: Claude Code cannot read a file with a comma before a closing bracket, so it has none of these servers"},
		{"in a list", "claude_desktop_config.json", `{"mcpServers": {"a": {"command": "x", "args": ["y", ]}}}`, "claude_desktop_config.json:1:53: Claude Desktop cannot read a file with a comma before a closing bracket, so it has none of these servers"},
		{"a comment", ".mcp.json", "{\n// mine\n\"mcpServers\": {}}", ".mcp.json:2:1: Claude Code cannot read a file with a comment, so it has none of these servers"},
		{"plain JSON", ".mcp.json", `{"mcpServers": {"a": {"command": "x"}}}`, ""},
		{"a file of toolx's own", "toolx.json", `{"servers": {"a": {"command": "x"},}}`, ""},
		{"a client that takes commas", "mcp.json", `{"servers": {"a": {"command": "x"},}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := File{Name: test.file, Path: filepath.Join(t.TempDir(), test.file)}
			loaded, problems := parseFile(file, []byte(test.text))
			got := ""
			for _, refused := range loaded.unportable {
				got += fmt.Sprintf("%s: %s", refused.Origin, refused.Text)
			}
			if got != test.want || len(problems) > 0 {
				t.Errorf("%q, want %q; problems %+v", got, test.want, problems)
			}
		})
	}
}
