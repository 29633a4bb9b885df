//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostileClientFiles proves that no file of a client stops toolx or another file: each is a warning with its place.
func TestHostileClientFiles(t *testing.T) {
	const user, project = "home/.cursor/mcp.json", "work/.cursor/mcp.json"
	const good = `{"mcpServers": {"good": {"command": "good"}}}`
	write := func(text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	large := func(t *testing.T, path string) {
		write(`{"mcpServers": {}, "more": "`)(t, path)
		if err := os.Truncate(path, 100<<20); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, client, file string
		make               func(t *testing.T, path string)
		want               string // of the warning; the file's name and a place stand before it
	}{
		{"deep", "cursor", user, write(`{"a": ` + strings.Repeat("[", 1_000_000)), ":1:206: values are nested more than 200 deep"},
		{"not JSON", "cursor", user, write("{\n  mcpServers"), ":2:3: not valid JSON: "},
		{"a list", "cursor", user, write("[]"), ":1:1: expected a mapping with servers, found a list"},
		{"servers are a list", "cursor", user, write(`{"mcpServers": []}`), ":1:2: 'mcpServers' is a list, not a mapping"},
		{"twice", "cursor", user, write(`{"mcpServers": {}, "mcpServers": {}}`), ":1:20: duplicate key 'mcpServers'"},
		{"UTF-16", "cursor", user, write("\xff\xfe{"), ": the file is UTF-16"},
		{"large", "cursor", user, large, ": not read: larger than 4 MiB"},
		{"large and shared", "claude-code", "home/.claude.json", large, ": not read: larger than 64 MiB"},
		{
			"deep and shared", "claude-code", "home/.claude.json",
			write(`{"mcpServers": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"), "nested more than 200 deep",
		},
		{"not TOML", "codex", "home/.codex/config.toml", write("[mcp_servers.a]\ncommand =\n"), ":2:10: not valid TOML: "},
		{"not YAML", "goose", "home/.config/goose/config.yaml", write("extensions: [\n"), ": not valid YAML: "},
		{"a pipe", "cursor", user, func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, ": cannot be read: not a regular file"},
		{"a folder", "cursor", user, func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, ": cannot be read: not a regular file"},
		{"a loop", "cursor", user, link("mcp.json"), ": cannot be read: too many levels of symbolic links"},
		{"a loop of the project", "cursor", project, link("mcp.json"), "not read: a link leads out of its folder"},
		{"a link out", "cursor", project, link("../../home/.aws/amazonq/mcp.json"), "not read: a link leads out of its folder"},
		{"everyone's", "cursor", project, func(t *testing.T, path string) {
			write(good)(t, path)
			if err := os.Chmod(path, 0o606); err != nil {
				t.Fatal(err)
			}
		}, "not read: "},
		{"not ours", "cursor", project, func(t *testing.T, path string) {
			write(good)(t, path)
			if os.Getuid() != 0 {
				t.Skip("only root gives files away")
			}
			if err := os.Chown(path, 4321, 4321); err != nil {
				t.Fatal(err)
			}
		}, "not read: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := put(t, t.TempDir(), "home/.aws/amazonq/mcp.json = "+good)
			path := filepath.Join(root, test.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			test.make(t, path)
			read := ReadClients(optionsAt(root), ClientNamed(test.client), ClientNamed("amazonq"))
			var warnings []string
			for _, file := range read {
				for _, warning := range file.Warnings {
					warnings = append(warnings, warning.String())
				}
			}
			if len(warnings) == 0 || !strings.Contains(warnings[0], test.want) ||
				!strings.Contains(warnings[0], filepath.Base(test.file)) {
				t.Errorf("warnings %.300q, want %q", warnings, test.want)
			}
			if last := read[len(read)-1]; len(last.Servers) != 1 || last.Servers[0].Name != "amazonq:good" {
				t.Errorf("the other file says %+v", last)
			}
		})
	}
}

// link makes a link to a target.
func link(target string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClientFolderOfAnother: a link on the way to a project's file leads out of the folder as well.
func TestClientFolderOfAnother(t *testing.T) {
	root := put(t, t.TempDir(), `home/.cursor/mcp.json = {"mcpServers": {"a": {"command": "a"}}}`, "work/x = ")
	link("../home/.cursor")(t, filepath.Join(root, "work", ".cursor"))
	read := ReadClients(optionsAt(root), ClientNamed("cursor"))
	if len(read) != 2 || len(read[0].Servers) != 0 || len(read[0].Warnings) != 1 || len(read[1].Servers) != 1 {
		t.Errorf("%+v", read)
	}
}

func TestUnreadableClientFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	root := put(t, t.TempDir(), "home/.cursor/mcp.json = {}")
	if err := os.Chmod(filepath.Join(root, "home", ".cursor", "mcp.json"), 0); err != nil {
		t.Fatal(err)
	}
	read := ReadClients(optionsAt(root), ClientNamed("cursor"))
	if len(read) != 1 || len(read[0].Warnings) != 1 ||
		!strings.Contains(read[0].Warnings[0].Text, "permission denied") {
		t.Errorf("%+v", read)
	}
}
