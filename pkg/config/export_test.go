package config

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestExportIsReadAgain exports every server of testdata/clients to the client that it was read from, writes what came
// out in place of that client's file, and reads it again: nothing is lost.
func TestExportIsReadAgain(t *testing.T) {
	root, options := clientHome(t)
	// What stands in a file that the client shares with another one, in words that only that one knows.
	foreign := []string{"vscode:docs", "vscode:bare", "vscode:remote", "copilot:docs"}
	for _, client := range Clients() {
		for _, file := range ReadClients(options, client) {
			for _, server := range file.Servers {
				if server.Err() != nil || slices.Contains(foreign, server.Name) {
					continue
				}
				entry, lost, err := server.Export(client, options.Getenv)
				if err != nil || len(lost) > 0 {
					t.Errorf("%s: %v %q", server.Name, err, lost)
					continue
				}
				keys := append(slices.Clone(file.Keys()), server.Plain())
				if i := slices.Index(keys, anyFolder); i >= 0 {
					keys[i] = filepath.Join(root, "project")
				}
				text, err := Edit(filepath.Base(file.Path), nil, Change{Path: keys, Value: entry})
				if err != nil {
					t.Errorf("%s: %v", server.Name, err)
					continue
				}
				if again := readAgain(t, options, file.ClientFile, text); again == nil || !alike(server, again) {
					t.Errorf("%s: wrote\n%sof %s\nread %+v", server.Name, text, server.node.json(), again)
				}
			}
		}
	}
}

// readAgain reads the only server of a client's file with another text; nil if there is none.
func readAgain(t *testing.T, options Options, file ClientFile, text []byte) *Server {
	t.Helper()
	before, err := os.ReadFile(file.Path)
	if err == nil {
		err = os.WriteFile(file.Path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(file.Path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}()
	for _, read := range ReadClients(options, file.Client) {
		if read.Path == file.Path && read.Scope == file.Scope && len(read.Servers) == 1 {
			return read.Servers[0]
		}
	}
	return nil
}

// alike reports whether two entries mean the same.
func alike(a, b *Server) bool {
	meaning := func(s *Server) Server {
		lists := func(texts []string) []string { return append([]string{}, texts...) }
		texts := func(texts map[string]string) map[string]string {
			plain := map[string]string{}
			for name, text := range texts {
				plain[name] = strings.ReplaceAll(text, "${env:", "${")
			}
			return plain
		}
		m := Server{
			Name: s.Name, Transport: s.Transport, Command: s.Command, Args: lists(s.Args), Env: texts(s.Env),
			InheritNames: lists(s.InheritNames), URL: s.URL, Headers: texts(s.Headers),
			HeadersCommand: lists(s.HeadersCommand),
			Timeout:        s.Timeout, StartTimeout: s.StartTimeout, Disabled: s.Disabled,
			Cwd: absolute(s.Cwd, s.dir), EnvFile: absolute(s.EnvFile, s.dir),
		}
		if m.Transport != TransportSSE {
			m.Transport = ""
		}
		if s.Auth != nil {
			m.Auth = &Auth{ClientID: s.Auth.ClientID, ClientSecret: s.Auth.ClientSecret, Scopes: lists(s.Auth.Scopes)}
		}
		return m
	}
	return reflect.DeepEqual(meaning(a), meaning(b))
}

// TestExport holds what another client is told of an entry, and what is lost on the way.
func TestExport(t *testing.T) {
	const text = `
servers:
  all:
    command: ./bin/server
    args: ["--key=${env:KEY}", "${KEY:-none}", "$${literal}"]
    env: {A: "${keyring:a}", B: "x${B}"}
    envFile: ~/.env
    cwd: data
    startTimeout: 1500ms
    timeout: none
    hint: h
    protocol: legacy
    inheritEnv: [PATH]
    disabled: true
    allow: [a, b_*]
    deny: [c]
`
	folder := t.TempDir()
	path := filepath.Join(folder, "toolx.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(Options{Files: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	home := map[string]string{homeVariable(): filepath.Join(folder, "home")}
	lookup := func(name string) (string, bool) { value, set := home[name]; return value, set }
	tests := map[string]struct {
		entry string
		lost  []string
	}{
		"zed": {
			`{"command":"DIR/data/bin/server","args":["--key=${env:KEY}","${KEY:-none}","${literal}"],` +
				`"env":{"A":"${keyring:a}","B":"x${B}"}}`,
			[]string{
				"Zed does not replace ${env:KEY}, in args[0]", "Zed does not replace ${KEY:-none}, in args[1]",
				"Zed may not support ${keyring:a}, in env.A", "Zed does not replace ${B}, in env.B",
				"Zed has no key for cwd", "Zed has no key for envFile", "Zed has no key for disabled",
				"Zed has no key for allow", "Zed has no key for deny", "Zed has no key for timeout",
				"Zed has no key for startTimeout", "Zed has no key for inheritEnv",
				"Zed has no key for hint", "Zed has no key for protocol",
			},
		},
		"vscode": {
			`{"type":"stdio","command":"DIR/data/bin/server","args":["--key=${env:KEY}","${env:KEY}","${literal}"],` +
				`"env":{"A":"${keyring:a}","B":"x${env:B}"},"cwd":"DIR/data","envFile":"DIR/home/.env"}`,
			[]string{
				"VS Code does not support the default of ${KEY:-none}, in args[1]",
				"VS Code may replace ${literal}, in args[2]", "VS Code may not support ${keyring:a}, in env.A",
				"VS Code has no key for disabled", "VS Code has no key for allow", "VS Code has no key for deny",
				"VS Code has no key for timeout",
				"VS Code has no key for startTimeout",
				"VS Code has no key for inheritEnv", "VS Code has no key for hint", "VS Code has no key for protocol",
			},
		},
	}
	for id, test := range tests {
		entry, lost, err := loaded.Servers[0].Export(ClientNamed(id), lookup)
		shown := strings.ReplaceAll(filepath.ToSlash(string(entry)), filepath.ToSlash(folder), "DIR")
		if err != nil || shown != test.entry || !slices.Equal(lost, test.lost) {
			t.Errorf("%s: %v\n%s\n%q", id, cmp.Or(err, nil), shown, lost)
		}
	}
}
