package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Every program in the fixtures of clients can be started by another command, which changes nothing else, and its own
// command can be put back.
func TestStartedInEveryClient(t *testing.T) {
	_, options := clientHome(t)
	seen := 0
	for _, config := range ReadClients(options, Clients()...) {
		files := config.Client.Files(options)
		same := func(f ClientFile) bool { return f.Path == config.Path && f.Scope == config.Scope }
		at := slices.IndexFunc(files, same)
		if at < 0 {
			continue // an administrator's
		}
		for _, server := range config.Servers {
			if server.Command == "" || server.Err() != nil || server.Name == "zed:older" { // whose command is a table
				continue
			}
			t.Run(server.Name, func(t *testing.T) {
				seen++
				own := append([]string{server.Command}, server.Args...)
				wrapping := append([]string{"/bin/toolx", "proxy", "--record", "/tmp/r.jsonl", "--"}, own...)
				before, err := os.ReadFile(config.Path)
				if err != nil {
					t.Fatal(err)
				}
				changed := startedBy(t, server, files[at], before, wrapping)
				again := serverIn(t, options, config, server.Name)
				if got := append([]string{again.Command}, again.Args...); !slices.Equal(got, wrapping) {
					t.Errorf("starts %q, want %q", got, wrapping)
				}
				startedBy(t, again, files[at], changed, own)
				back := serverIn(t, options, config, server.Name)
				if got := append([]string{back.Command}, back.Args...); !slices.Equal(got, own) {
					t.Errorf("starts %q again, want %q", got, own)
				}
				if before, now := withoutPlaces(server), withoutPlaces(back); before != now {
					t.Errorf("now %s, before %s", now, before)
				}
				if err := os.WriteFile(config.Path, before, 0o600); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d programs", seen)
	}
}

// withoutPlaces returns the entry; no arguments are the same as none.
func withoutPlaces(s *Server) string {
	return strings.Replace(string(s.node.json()), `,"args":[]`, "", 1)
}

// startedBy changes the file, and returns its text.
func startedBy(t *testing.T, server *Server, file ClientFile, data []byte, command []string) []byte {
	t.Helper()
	changes, err := server.Started(file, data, command)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Edit(file.Path, data, changes...)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

// serverIn reads the server in the client's file again.
func serverIn(t *testing.T, options Options, file *ClientConfig, name string) *Server {
	t.Helper()
	for _, one := range ReadClients(options, file.Client) {
		if one.Path != file.Path || one.Scope != file.Scope {
			continue
		}
		for _, server := range one.Servers {
			if server.Name == name {
				return server
			}
		}
	}
	t.Fatalf("%s has no %s", file.Path, name)
	return nil
}
