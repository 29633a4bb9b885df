package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad: whatever a file holds, reading it ends, without a panic, in a config or in problems that have words; what
// it read is well-formed and can be asked for its origin.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"example.yaml", "all.yaml", "all.jsonc"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "config", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, filepath.Ext(name))
	}
	for _, text := range []string{
		"a: &x [*x]", "a: &a {<<: *a}", "? [a]\n: b", "!!str : &", "a: |\n  b", "{", "[",
		"servers: {a: {command: 1e99999999}}",
		"tools: [{name: a, implementation: {type: mock, mock_response: &x [1, *x]}}]", "%YAML 1.2\n---\n...", "\ufeff",
		"<<: 1", "a: !!int",
	} {
		f.Add([]byte(text), ".yaml")
		f.Add([]byte(text), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, extension string) {
		file := File{Name: "c" + extension, Path: "/folder/c" + extension}
		loaded, problems := parseFile(file, data)
		for _, p := range problems {
			if p.Text == "" || p.Origin.File != file.Name || p.Origin.Line < 0 {
				t.Errorf("problem %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		var (
			all    merge
			config Config
		)
		all.add(loaded.document)
		all.into(&config)
		for _, server := range config.Servers {
			if server.Origin.Line < 1 {
				t.Errorf("no origin of %s", server.Name)
			}
			if server.Err() == nil && (server.Command == "") == (server.URL == "") {
				t.Errorf("server %+v has not one way to be reached", server)
			}
			_, _ = server.Resolve([]string{"HOME=/home"})
		}
		for _, tool := range config.Tools {
			for _, raw := range []json.RawMessage{
				tool.Parameters, tool.OutputSchema, tool.Annotations, tool.Implementation.MockResponse,
			} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("not JSON: %s", raw)
				}
			}
		}
	})
}

// FuzzEnvFile: no .env file makes the parser panic.
func FuzzEnvFile(f *testing.F) {
	f.Add([]byte("A=b\nexport C='d'\nE=\"f\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if variables, err := parseEnvFile(path, nil, true); err == nil && bytes.TrimSpace(data) == nil &&
			len(variables) > 0 {
			t.Errorf("variables %v from nothing", variables)
		}
	})
}
