package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "toolx.yaml")
	if err := os.WriteFile(file,
		[]byte("servers:\n  my server:\n    command: x\n    args: [a, b]\n    env: {a.b: c}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(Options{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		server *Server
		steps  []any
		want   string
	}{
		{loaded.Servers[0], nil, `servers["my server"] ` + file + ":2:3"},
		{loaded.Servers[0], []any{"command"}, `servers["my server"].command ` + file + ":3:14"},
		{loaded.Servers[0], []any{"args", 1}, `servers["my server"].args[1] ` + file + ":4:15"},
		{loaded.Servers[0], []any{"env", "a.b"}, `servers["my server"].env["a.b"] ` + file + ":5:16"},
		{loaded.Servers[0], []any{"url"}, `servers["my server"].url ` + file + ":2:3"},
		{AdHoc([]string{"x", "a"}, "", nil), []any{"args", 0}, "args[0] command line"},
	} {
		path, origin := test.server.Place(test.steps...)
		if got := path + " " + origin.String(); got != test.want {
			t.Errorf("Place(%v) is %q, want %q", test.steps, got, test.want)
		}
	}
}
