package config

import (
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
