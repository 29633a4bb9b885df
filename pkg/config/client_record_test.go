package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNewClientIsOneRecord adds an invented client by its record alone, and reads, names, writes and reads again what
// its file has.
func TestNewClientIsOneRecord(t *testing.T) {
	before := clients
	defer func() { clients = before }()
	clients = append(slices.Clone(clients), &Client{
		ID: "heron", Name: "Heron", keys: []keyPath{{"tools", "mcp"}},
		locations: []location{
			{path: ".heron/settings.json"},
			{path: "~/.heron/settings.json"},
		},
		entry: "type=via command=program args=arguments env=vars url=address headers disabled=off timeout=waits " +
			"deny=not",
		ways: [3]string{"", "web", "events"}, unit: time.Minute, variable: "<%s>",
	})
	const text = `{"tools": {"mcp": {
  "reeds": {"program": "reeds", "arguments": ["-v"], "vars": {"A": "b"}, "waits": 2, "not": ["drain"], "off": true},
  "pond": {"via": "events", "address": "https://pond.example", "headers": {"X": "y"}}
}}}`
	root := put(t, t.TempDir(), "home/.heron/settings.json = "+text)
	options := optionsAt(root)
	client, rest := ClientOf("heron:reeds")
	if client == nil || rest != "reeds" {
		t.Fatal("heron is no client")
	}
	read := ReadClients(options, client)
	if len(read) != 1 || len(read[0].Warnings) != 0 || len(read[0].Servers) != 2 {
		t.Fatalf("read %+v", read)
	}
	reeds, pond := read[0].Servers[0], read[0].Servers[1]
	if reeds.Name != "heron:reeds" || reeds.Command != "reeds" || !slices.Equal(reeds.Args, []string{"-v"}) ||
		reeds.Env["A"] != "b" || reeds.Timeout != 2*time.Minute || !reeds.Disabled ||
		!slices.Equal(reeds.Guards[0].Deny, []string{"drain"}) {
		t.Errorf("reeds is %+v", reeds)
	}
	if pond.URL != "https://pond.example" || pond.Transport != TransportSSE || pond.Headers["X"] != "y" {
		t.Errorf("pond is %+v", pond)
	}
	for _, server := range read[0].Servers {
		entry, lost, err := server.Export(client, options.Getenv)
		if err != nil || len(lost) > 0 {
			t.Fatalf("%s: %v, lost %q", server.Name, err, lost)
		}
		path := append(slices.Clone(read[0].Keys()), server.Plain())
		written, err := Edit(filepath.Base(read[0].Path), nil, Change{Path: path, Value: entry})
		if err != nil {
			t.Fatal(err)
		}
		if again := readAgain(t, options, read[0].ClientFile, written); again == nil || !alike(server, again) {
			t.Errorf("wrote %s, read %+v", written, again)
		}
	}
	reeds.Env["A"] = "${B}"
	entry, _, err := reeds.Export(client, options.Getenv)
	if err != nil || !strings.Contains(string(entry), `"vars":{"A":"<B>"}`) {
		t.Errorf("exported %s, %v", entry, err)
	}
	elsewhere := filepath.Join(put(t, root, "other.json = "+text), "other.json")
	named, err := ReadClientFile(options, elsewhere)
	if err != nil || len(named.Servers) != 2 || named.Servers[1].URL == "" {
		t.Errorf("a file named by the user: %+v, %v", named, err)
	}
	if err := os.RemoveAll(filepath.Join(root, "home")); err != nil {
		t.Fatal(err)
	}
	put(t, root, "work/.heron/settings.json = "+text)
	if read := ReadClients(options, client); len(read) != 1 || read[0].Project == nil || len(read[0].Servers) != 2 {
		t.Errorf("the project's file: %+v", read)
	}
}
