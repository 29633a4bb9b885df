package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machineAt returns a machine of a system whose folders are all below root, with the working folder root/work.
func machineAt(root, system string, variables ...string) Options {
	set := map[string]string{
		"HOME": root + "/home", "USERPROFILE": root + "/home",
		"APPDATA": root + "/home/AppData/Roaming", "LOCALAPPDATA": root + "/home/AppData/Local",
		"ProgramFiles": root + "/Program Files", "ProgramData": root + "/ProgramData",
	}
	for _, pair := range variables {
		name, value, _ := strings.Cut(pair, "=")
		set[name] = root + value
	}
	getenv := func(name string) (string, bool) {
		value, found := set[name]
		return value, found
	}
	return Options{System: system, Root: root, Dir: filepath.Join(root, "work"), Getenv: getenv}
}

// put writes files below root and returns it; names end at " = ", after which their content may stand.
func put(t *testing.T, root string, files ...string) string {
	t.Helper()
	for _, file := range files {
		name, text, _ := strings.Cut(file, " = ")
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestClientFiles holds the table of clients against where each keeps its files.
func TestClientFiles(t *testing.T) {
	const msix = "home/AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"
	const cline = "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
	const mac = "home/Library/Application Support/"
	for _, test := range []struct {
		client, system string
		exist          []string // files that are there
		variables      []string
		want           []string
	}{
		{"claude-desktop", "linux", nil, nil, []string{"user home/.config/Claude/claude_desktop_config.json"}},
		{
			"claude-desktop", "linux", nil,
			[]string{"XDG_CONFIG_HOME=/xdg"},
			[]string{"user xdg/Claude/claude_desktop_config.json"},
		},
		{"claude-desktop", "darwin", nil, nil, []string{"user " + mac + "Claude/claude_desktop_config.json"}},
		{
			"claude-desktop", "windows", nil, nil,
			[]string{"user home/AppData/Roaming/Claude/claude_desktop_config.json"},
		},
		{
			"claude-desktop", "windows",
			[]string{msix, "home/AppData/Roaming/Claude/claude_desktop_config.json"},
			nil,
			[]string{"user " + msix + " +"},
		},
		{"claude-code", "linux", nil, nil, []string{
			"managed etc/claude-code/managed-mcp.json", "local home/.claude.json", "project work/.mcp.json",
			"user home/.claude.json",
		}},
		{"claude-code", "darwin", nil, nil, []string{
			"managed Library/Application Support/ClaudeCode/managed-mcp.json", "local home/.claude.json",
			"project work/.mcp.json", "user home/.claude.json",
		}},
		{"claude-code", "windows", nil, nil, []string{
			"managed Program Files/ClaudeCode/managed-mcp.json", "managed ProgramData/ClaudeCode/managed-mcp.json",
			"local home/.claude.json", "project work/.mcp.json", "user home/.claude.json",
		}},
		{"cursor", "linux", nil, nil, []string{"project work/.cursor/mcp.json", "user home/.cursor/mcp.json"}},
		{
			"cursor", "linux",
			[]string{".cursor/mcp.json"},
			nil,
			[]string{"project .cursor/mcp.json +", "user home/.cursor/mcp.json"},
		},
		{
			"cursor", "linux",
			[]string{".cursor/mcp.json", "work/.git/HEAD"},
			nil,
			[]string{"project work/.cursor/mcp.json", "user home/.cursor/mcp.json"},
		},
		{
			"cursor", "linux",
			[]string{"work/.cursor/mcp.json"},
			[]string{"HOME=/work"},
			[]string{"user work/.cursor/mcp.json +"},
		},
		{"vscode", "linux", nil, nil, []string{
			"project work/.vscode/mcp.json", "project work/.mcp.json", "user home/.config/Code/User/mcp.json",
			"user home/.config/Code - Insiders/User/mcp.json", "user home/.copilot/mcp-config.json",
		}},
		{"vscode", "darwin", nil, []string{"COPILOT_HOME=/cop"}, []string{
			"project work/.vscode/mcp.json", "project work/.mcp.json", "user " + mac + "Code/User/mcp.json",
			"user " + mac + "Code - Insiders/User/mcp.json", "user cop/mcp-config.json",
		}},
		{"vscode", "windows", nil, nil, []string{
			"project work/.vscode/mcp.json", "project work/.mcp.json", "user home/AppData/Roaming/Code/User/mcp.json",
			"user home/AppData/Roaming/Code - Insiders/User/mcp.json", "user home/.copilot/mcp-config.json",
		}},
		{"copilot", "linux", nil, nil, []string{
			"project work/.mcp.json", "project work/.github/mcp.json", "user home/.copilot/mcp-config.json",
		}},
		{"devin", "linux", nil, nil, []string{
			"project work/.devin/mcp_config.json", "user home/.devin/mcp_config.json",
			"user home/.codeium/windsurf/mcp_config.json",
		}},
		{
			"devin", "linux",
			[]string{"home/.devin/mcp_config.json", "home/.codeium/windsurf/mcp_config.json"},
			nil,
			[]string{"project work/.devin/mcp_config.json", "user home/.devin/mcp_config.json +"},
		},
		{"windsurf", "linux", nil, nil, []string{"user home/.codeium/windsurf/mcp_config.json"}},
		{"zed", "linux", nil, nil, []string{"project work/.zed/settings.json", "user home/.config/zed/settings.json"}},
		{"zed", "darwin", nil, nil, []string{
			"project work/.zed/settings.json", "user home/.config/zed/settings.json",
			"user " + mac + "Zed/settings.json",
		}},
		{"codex", "linux", nil, nil, []string{"project work/.codex/config.toml", "user home/.codex/config.toml"}},
		{
			"codex", "linux", nil,
			[]string{"CODEX_HOME=/cx"},
			[]string{"project work/.codex/config.toml", "user cx/config.toml"},
		},
		{"gemini", "linux", nil, nil, []string{
			"project work/.gemini/settings.json", "user home/.gemini/settings.json",
		}},
		{"antigravity", "linux", nil, nil, []string{"user home/.gemini/config/mcp_config.json"}},
		{"opencode", "linux", nil, []string{"OPENCODE_CONFIG=/oc.json", "OPENCODE_CONFIG_DIR=/ocdir"}, []string{
			"project work/opencode.json", "project work/opencode.jsonc", "project work/.opencode/opencode.json",
			"project work/.opencode/opencode.jsonc", "user oc.json", "user ocdir/opencode.json",
			"user ocdir/opencode.jsonc", "user home/.config/opencode/opencode.json",
			"user home/.config/opencode/opencode.jsonc",
		}},
		{"goose", "linux", nil, nil, []string{"user home/.config/goose/config.yaml"}},
		{"goose", "windows", []string{"home/AppData/Roaming/Block/goose/config/config.yaml"}, nil, []string{
			"user home/AppData/Roaming/Block/goose/config/config.yaml +",
		}},
		{"lmstudio", "linux", nil, nil, []string{"user home/.lmstudio/mcp.json"}},
		{"cline", "linux", nil, nil, []string{
			"user home/.config/Code" + cline, "user home/.config/Code - Insiders" + cline,
		}},
		{"junie", "linux", nil, nil, []string{"project work/.junie/mcp/mcp.json", "user home/.junie/mcp/mcp.json"}},
		{"kiro", "linux", nil, nil, []string{
			"project work/.kiro/settings/mcp.json", "user home/.kiro/settings/mcp.json",
		}},
		{"kilo", "linux", nil, nil, []string{"user home/.config/kilo/kilo.json", "user home/.config/kilo/kilo.jsonc"}},
		{"amazonq", "linux", nil, nil, []string{"user home/.aws/amazonq/mcp.json"}},
	} {
		t.Run(test.client+" "+test.system, func(t *testing.T) {
			root := put(t, t.TempDir(), test.exist...)
			var got []string
			for _, file := range ClientNamed(test.client).Files(machineAt(root, test.system, test.variables...)) {
				path, err := filepath.Rel(root, file.Path)
				if err != nil {
					t.Fatal(err)
				}
				one := string(file.Scope) + " " + filepath.ToSlash(path)
				if file.Exists {
					one += " +"
				}
				got = append(got, one)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestClientsWithoutHome: where no folder is known, no file is looked for in a wrong one.
func TestClientsWithoutHome(t *testing.T) {
	machine := Options{System: "linux", Dir: t.TempDir(), Getenv: func(string) (string, bool) { return "", false }}
	for _, client := range Clients() {
		for _, file := range client.Files(machine) {
			if !filepath.IsAbs(file.Path) || file.Scope == ScopeUser {
				t.Errorf("%s: %s %s", client.ID, file.Scope, file.Path)
			}
		}
	}
}

func TestClientOf(t *testing.T) {
	for name, want := range map[string]string{
		"cursor:files__read_file": "cursor files__read_file", "vscode:": "vscode ",
		"claude-code:a:b": "claude-code a:b",
		"files":           "- files", "other:x": "- other:x", "Cursor:x": "- Cursor:x", ":x": "- :x",
	} {
		client, rest := ClientOf(name)
		got := "- " + rest
		if client != nil {
			got = client.ID + " " + rest
		}
		if got != want {
			t.Errorf("ClientOf(%q) is %q, want %q", name, got, want)
		}
	}
}
