//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClientProjectsNeedConsent proves for each client that the servers of its project files wait for consent, that
// toolx trust shows the same file with the same digest, that files of others are not read, and that the user's own
// files need no consent.
func TestClientProjectsNeedConsent(t *testing.T) {
	for _, client := range Clients() {
		for _, l := range client.locations {
			if !l.on("linux") || l.in() != ScopeProject {
				continue
			}
			t.Run(client.ID+" "+l.path, func(t *testing.T) {
				keys := client.paths(l)
				root := put(t, t.TempDir(), "work/"+l.path+" = "+entryFor(l.path, keys[0]))
				path := filepath.Join(root, "work", filepath.FromSlash(l.path))
				read := ReadClients(optionsAt(root), client)
				if len(read) != 1 || len(read[0].Servers) != 1 || read[0].Project == nil {
					t.Fatalf("read %+v", read)
				}
				server := read[0].Servers[0]
				var untrusted *UntrustedError
				if _, err := server.Resolve(nil); !errors.As(err, &untrusted) {
					t.Errorf("Resolve without consent: %v", err)
				}
				shown, err := ReadProject(path)
				if err != nil || shown.SHA256 != read[0].Project.SHA256 || !shown.NeedsConsent() ||
					len(shown.Effects()) == 0 || !strings.Contains(shown.Effects()[0], " runs pwn") {
					t.Errorf("toolx trust sees %v, %v", shown, err)
				}
				read[0].Project.Allow()
				if _, err := server.Resolve(nil); err != nil {
					t.Errorf("Resolve with consent: %v", err)
				}
				if err := os.Chmod(path, 0o606); err != nil {
					t.Fatal(err)
				}
				read = ReadClients(optionsAt(root), client)
				if len(read) != 1 || len(read[0].Servers) != 0 || len(read[0].Warnings) != 1 {
					t.Errorf("a file that everyone can write: %+v", read)
				}
			})
		}
		for _, file := range client.Files(machineAt(t.TempDir(), "linux")) {
			if file.Scope != ScopeUser {
				continue
			}
			root := t.TempDir()
			files := client.Files(machineAt(root, "linux"))
			at := slices.IndexFunc(files, func(f ClientFile) bool { return f.Scope == ScopeUser })
			name, err := filepath.Rel(root, files[at].Path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, root, name+" = "+entryFor(name, files[at].keys[0]))
			read := ReadClients(optionsAt(root), client)
			if len(read) == 0 || len(read[len(read)-1].Servers) != 1 {
				t.Fatalf("%s: %s: read %+v", client.ID, name, read)
			}
			if _, err := read[len(read)-1].Servers[0].Resolve(nil); err != nil {
				t.Errorf("%s: the user's own file: %v", client.ID, err)
			}
			break
		}
	}
}

// entryFor returns a file with one server.
func entryFor(name string, keys []string) string {
	switch filepath.Ext(name) {
	case ".toml":
		return "[mcp_servers.a]\ncommand = 'pwn'\n"
	case ".yaml":
		return "extensions: {a: {type: stdio, cmd: pwn}}\n"
	}
	text := `{"a": {"command": "pwn"}}`
	for _, key := range slices.Backward(keys) {
		text = `{"` + key + `": ` + text + "}"
	}
	return text
}

// TestImportsNeedConsent: a file that came with a folder cannot choose which of the user's servers have which names.
func TestImportsNeedConsent(t *testing.T) {
	root := put(t, t.TempDir(), "work/toolx.yaml = imports: [cursor]\n", "own.yaml = imports: [codex]\n")
	options := optionsAt(root)
	loaded, err := Load(options)
	if err != nil || len(loaded.Projects) != 1 || !loaded.Projects[0].NeedsConsent() {
		t.Fatalf("%+v, %v", loaded, err)
	}
	if effects := loaded.Projects[0].Effects(); !slices.Equal(effects, []string{"imports the servers of cursor"}) {
		t.Errorf("effects %q", effects)
	}
	ids, ignored := loaded.TrustedImports()
	if len(ids) != 0 || len(ignored) != 1 || !strings.Contains(ignored[0].String(), "toolx trust toolx.yaml") {
		t.Errorf("%q, %v", ids, ignored)
	}
	loaded.Projects[0].Allow()
	if ids, ignored = loaded.TrustedImports(); !slices.Equal(ids, []string{"cursor"}) || len(ignored) != 0 {
		t.Errorf("%q, %v", ids, ignored)
	}
	options.Files = []string{filepath.Join(root, "own.yaml")}
	if loaded, err = Load(options); err != nil {
		t.Fatal(err)
	}
	if ids, _ = loaded.TrustedImports(); !slices.Equal(ids, []string{"codex"}) {
		t.Errorf("%q", ids)
	}
}
