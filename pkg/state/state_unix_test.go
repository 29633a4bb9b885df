//go:build unix

package state

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAppendFollowsNoLink writes to no file that a link in the place of its own leads to.
func TestAppendFollowsNoLink(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	link := filepath.Join(t.TempDir(), "history.jsonl")
	if err := errors.Join(os.WriteFile(victim, []byte("kept"), 0o600), os.Symlink(victim, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := Append(link); !errors.Is(err, errIrregular) {
		t.Errorf("the link was followed: %v", err)
	}
}

// irregular are paths of what is no regular file.
func irregular(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path("pipe"), path("link")); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return map[string]string{
		"a pipe": path("pipe"), "a link to a pipe": path("link"), "a socket": path("socket"), "a folder": folder,
		"a device": "/dev/zero",
	}
}
