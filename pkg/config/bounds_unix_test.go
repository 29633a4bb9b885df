//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesOfAFolder proves that a pipe which a folder brings along instead of a config file or an envFile is never
// waited for, and that the same pipe works where the user names it.
func TestPipesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{".env", "toolx.yaml"} {
		if err := syscall.Mkfifo(path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mcp := filepath.Join(t.TempDir(), ".mcp.json")
	text := `{"mcpServers":{"a":{"command":"true","envFile":"` + path(".env") + `"}}}`
	if err := os.WriteFile(mcp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }

	_, err := Load(Options{Dir: dir, Getenv: none, UserDir: t.TempDir()})
	wantProblems(t, err, "toolx.yaml: cannot be read: not a regular file")

	loaded, err := Load(Options{Dir: filepath.Dir(mcp), Getenv: none, UserDir: t.TempDir()})
	if err != nil || len(loaded.Projects) != 1 {
		t.Fatalf("%d projects, %v", len(loaded.Projects), err)
	}
	loaded.Projects[0].Allow()
	_, err = loaded.Servers[0].Resolve(nil)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("envFile: %v", err)
	}

	written := make(chan error)
	go func() {
		written <- errors.Join(
			os.WriteFile(path("toolx.yaml"), []byte("servers: {a: {command: 'true', envFile: .env}}"), 0),
			os.WriteFile(path(".env"), []byte("A=1"), 0),
		)
	}()
	loaded, err = Load(Options{Files: []string{path("toolx.yaml")}, Getenv: none})
	if err != nil || len(loaded.Servers) != 1 {
		t.Fatalf("a named pipe: %v", err)
	}
	if _, err := loaded.Servers[0].Resolve(nil); err != nil {
		t.Errorf("the envFile of a named config: %v", err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
