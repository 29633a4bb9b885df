package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestClaudeSwitches honours what Claude Code's settings say of the servers of .mcp.json and of its other files, in
// each place, with the place; the other clients that read .mcp.json do not care.
func TestClaudeSwitches(t *testing.T) {
	const shared = `work/.mcp.json = {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}`
	const own = `home/.claude.json = {"mcpServers": {"mine": {"command": "c"}}, "projects": {"@/work": {%s}}}`
	for _, test := range []struct {
		name, file, off, place string
	}{
		{"nowhere", `home/.claude/settings.json = {"enabledMcpjsonServers": ["a"]}`, "", ""},
		{"asked for all", `work/.claude/settings.json = {"enableAllProjectMcpServers": true}`, "", ""},
		{"the user", `home/.claude/settings.json = {"disabledMcpjsonServers": ["a", 5]}`, "claude-code:a", "settings.json:1:29"},
		{"the project", `work/.claude/settings.json = {"disabledMcpjsonServers": ["b"]}`, "claude-code:b", ":1:29"},
		{
			"refused though enabled",
			`work/.claude/settings.local.json = {"enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["a"],` +
				` // why` + "\n" + `"disabledMcpjsonServers": ["a"],}`,
			"claude-code:a", "settings.local.json:2:28",
		},
		{"the administrator", `etc/claude-code/managed-settings.json = {"disabledMcpjsonServers": ["a"]}`, "claude-code:a", ":1:29"},
		{"the folder", strings.ReplaceAll(own, "%s", `"disabledMcpjsonServers": ["a"]`), "claude-code:a", ".claude.json:1:"},
		{"any scope", strings.ReplaceAll(own, "%s", `"disabledMcpServers": ["mine"]`), "claude-code:mine", ".claude.json:1:"},
		{"not of .mcp.json", strings.ReplaceAll(own, "%s", `"disabledMcpjsonServers": ["mine"]`), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, shared, strings.ReplaceAll(test.file, "@", filepath.ToSlash(root)))
			var off []string
			for _, file := range ReadClients(optionsAt(root), ClientNamed("claude-code"), ClientNamed("copilot")) {
				for _, warning := range file.Warnings {
					t.Error(warning)
				}
				for _, server := range file.Servers {
					setting, origin := server.DisabledBy()
					if !server.Disabled {
						continue
					}
					off = append(off, server.Name)
					if !strings.Contains(origin.String(), test.place) ||
						!strings.HasSuffix(setting, "Servers: ["+server.Plain()+"]") {
						t.Errorf("%s is off by %q at %s", server.Name, setting, origin)
					}
				}
			}
			if got := strings.Join(off, " "); got != test.off {
				t.Errorf("%q are off, want %q", got, test.off)
			}
		})
	}
}

// TestBrokenClaudeSettings: settings that cannot be read are a warning, and stop no server.
func TestBrokenClaudeSettings(t *testing.T) {
	root := put(t, t.TempDir(), `work/.mcp.json = {"mcpServers": {"a": {"command": "a"}}}`,
		"work/.claude/settings.json = {\n  nonsense", `home/.claude/settings.json = {"disabledMcpjsonServers": "a"}`)
	read := ReadClients(optionsAt(root), ClientNamed("claude-code"))
	if len(read) != 1 || len(read[0].Servers) != 1 || read[0].Servers[0].Disabled || len(read[0].Warnings) != 1 ||
		!strings.Contains(read[0].Warnings[0].String(), "settings.json:2:3: not valid JSON") {
		t.Errorf("%+v", read)
	}
}
