package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSurvey finds servers that their client never reads, and entries that differ under one name.
func TestSurvey(t *testing.T) {
	const servers = `{"servers": {"a": {"command": "x"}}}`
	const mcpServers = `{"mcpServers": {"a": {"command": "x"}}}`
	const appdata = "home/AppData/Roaming/Claude/claude_desktop_config.json"
	const packaged = "home/AppData/Local/Packages/Claude_pz/LocalCache/Roaming/Claude/claude_desktop_config.json"
	for _, test := range []struct {
		name, system string
		files        []string
		ignored      []string // client and file
		differing    []string // name and keys
	}{
		{"another key", "linux", []string{"work/.vscode/mcp.json = " + mcpServers}, []string{"vscode work/.vscode/mcp.json"}, nil},
		{"another key in Cursor", "linux", []string{"home/.cursor/mcp.json = " + servers}, []string{"cursor home/.cursor/mcp.json"}, nil},
		{"scopes of one file", "linux", []string{"home/.claude.json = " + mcpServers}, nil, nil},
		{
			"the other scope of one file", "linux",
			[]string{`home/.claude.json = {"projects": {"/elsewhere": {"mcpServers": {"a": {"command": "x"}}}}}`},
			nil, nil,
		},
		{
			"another key in a file with two scopes", "linux",
			[]string{"home/.claude.json = // none has comments\n" + servers},
			[]string{"claude-code home/.claude.json"},
			nil,
		},
		{"the right key", "linux", []string{"work/.vscode/mcp.json = " + servers}, nil, nil},
		{"beside the package", "windows", []string{appdata + " = " + mcpServers, packaged + " = {}"}, []string{"claude-desktop " + appdata}, nil},
		{"no package", "windows", []string{appdata + " = " + mcpServers}, nil, nil},
		{"no servers", "windows", []string{appdata + " = {}", packaged + " = {}"}, nil, nil},
		{
			"older than Devin", "linux",
			[]string{"work/.devin/mcp_config.json = " + mcpServers, "home/.codeium/windsurf/mcp_config.json = " + mcpServers},
			[]string{"devin home/.codeium/windsurf/mcp_config.json"},
			nil,
		},
		{"Windsurf alone", "linux", []string{"home/.codeium/windsurf/mcp_config.json = " + mcpServers}, nil, nil},
		{"above User", "linux", []string{"home/.config/Code/mcp.json = " + servers}, []string{"vscode home/.config/Code/mcp.json"}, nil},
		{
			"differ", "linux", []string{
				`home/.cursor/mcp.json = {"mcpServers": {"a": {"command": "x", "args": ["1"], "env": {"T": "1"}, "timeout": 1}}}`,
				`home/.gemini/settings.json = {"mcpServers": {"a": {"command": "x", "args": ["2"]}}}`,
				`home/.lmstudio/mcp.json = {"mcpServers": {"b": {"command": "x"}}}`,
			}, nil, []string{"a args env.T"},
		},
		{"the same", "linux", []string{"home/.cursor/mcp.json = " + mcpServers, "home/.gemini/settings.json = " + mcpServers}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := put(t, t.TempDir(), test.files...)
			options := optionsAt(root)
			options.System, options.Getenv = test.system, machineAt(root, test.system).Getenv
			survey := NewSurvey(options, nil)
			var ignored, differing []string
			for _, one := range survey.Ignored {
				path := absolute(one.Origin.File, options.Dir)
				path, err := filepath.Rel(root, path)
				if err != nil || one.Why == "" || one.Fix == "" || one.Origin.Line == 0 ||
					strings.ContainsRune(one.Why+one.Fix, 0) {
					t.Errorf("%+v", one)
				}
				ignored = append(ignored, one.Client.ID+" "+filepath.ToSlash(path))
			}
			for _, one := range survey.Differing {
				differing = append(differing, one.Name+" "+strings.Join(one.Keys, " "))
			}
			if !slices.Equal(ignored, test.ignored) || !slices.Equal(differing, test.differing) {
				t.Errorf("ignored %q, want %q; differing %q, want %q", ignored, test.ignored, differing, test.differing)
			}
		})
	}
}
