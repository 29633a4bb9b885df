package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	base := func() *Server {
		return &Server{
			Name: "a", Command: "node", Args: []string{"server.js"}, dir: "/p",
			Env: map[string]string{"TOKEN": "${TOKEN}"},
		}
	}
	changes := map[string]func(*Server){
		"name":    func(s *Server) { s.Name = "b" },
		"command": func(s *Server) { s.Command = "deno" },
		"args":    func(s *Server) { s.Args = append(s.Args, "-v") },
		"joined":  func(s *Server) { s.Command, s.Args = "node server.js", nil },
		"env":     func(s *Server) { s.Env["TOKEN"] = "x" },
		"url":     func(s *Server) { s.URL = "https://host/mcp" },
		"header":  func(s *Server) { s.Headers = map[string]string{"A": "b"} },
		"cwd":     func(s *Server) { s.Cwd = "." },
		"folder":  func(s *Server) { s.dir = "/q" },
		"auth":    func(s *Server) { s.Auth = &Auth{ClientID: "c"} },
	}
	seen := map[string]string{base().Identity(): "nothing"}
	for what, change := range changes {
		server := base()
		change(server)
		id := server.Identity()
		if other, found := seen[id]; found {
			t.Errorf("%s and %s have the same identity", what, other)
		}
		seen[id] = what
	}
	same := base()
	same.Hint, same.Timeout, same.Disabled = "install it", 1, true
	if same.Identity() != base().Identity() {
		t.Error("what does not change the server changes the identity")
	}
	t.Setenv("TOKEN", "s3cr3t")
	if base().Identity() != same.Identity() {
		t.Error("the environment is part of the identity")
	}
}

func TestIdentityOfACommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	server := AdHoc([]string{"node", "server.js"}, "", nil)
	here := server.Identity()
	if here != AdHoc([]string{"node", "server.js"}, "", nil).Identity() {
		t.Error("the same command line has two identities")
	}
	t.Chdir(t.TempDir())
	if server.Identity() == here {
		t.Error("in another folder it may be another server")
	}
	if strings.Trim(here, "0123456789abcdef") != "" || len(here) != 32 {
		t.Errorf("%s is not a digest", here)
	}
}

// TestIdentityOfClients moves the entries of a client to another folder.
func TestIdentityOfClients(t *testing.T) {
	home, absolute := t.TempDir(), filepath.ToSlash(filepath.Join(t.TempDir(), "server"))
	entries := map[string]bool{ // whether they are the same in both folders
		`{"command": "npx", "args": ["-y", "pkg"]}`:                               true,
		`{"command": "` + absolute + `", "cwd": "~/work"}`:                        true,
		`{"command": "${userHome}/bin/server"}`:                                   true,
		`{"url": "https://host/mcp"}`:                                             true,
		`{"command": "./server"}`:                                                 false,
		`{"command": "npx", "cwd": "sub"}`:                                        false,
		`{"command": "npx", "envFile": ".env"}`:                                   false,
		`{"command": "node", "args": ["./server.js"]}`:                            false,
		`{"command": "node", "args": ["${workspaceFolder}/server.js"]}`:           false,
		`{"command": "node", "env": {"NAME": "${workspaceFolderBasename}"}}`:      false,
		`{"command": "node", "env": {"TOKEN": "${file:token}"}}`:                  false,
		`{"command": "node", "env": {"TOKEN": "${cmd:./print-token}"}}`:           false,
		`{"command": "node", "env": {"TOKEN": "${file:` + absolute + `.token}"}}`: true,
	}
	for entry, same := range entries {
		if err := os.MkdirAll(filepath.Join(home, ".cursor"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := []byte(`{"mcpServers": {"a": ` + entry + `}}`)
		if err := os.WriteFile(filepath.Join(home, ".cursor", "mcp.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		identity := func(plain bool) string {
			getenv := func(name string) (string, bool) { return home, name == "HOME" }
			options := Options{Dir: t.TempDir(), Root: home, Getenv: getenv, System: "linux"}
			loaded := &Config{}
			loaded.AddClients(ReadClients(options, ClientNamed("cursor")), plain)
			return loaded.Servers[0].Identity()
		}
		if (identity(false) == identity(true)) != same {
			t.Errorf("%s: the same in both folders: %t", entry, !same)
		}
	}
}
