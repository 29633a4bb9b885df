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

// TestRewriteKeepsTheOwner lets a user read on what toolx has changed under sudo.
func TestRewriteKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		return // nobody else's files can be made
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chown(path, 4711, 4712)); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(path, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if system := info.Sys().(*syscall.Stat_t); system.Uid != 4711 || system.Gid != 4712 || info.Mode().Perm() != 0o600 {
		t.Errorf("it belongs to %d:%d, mode %v", system.Uid, system.Gid, info.Mode())
	}
	if got := read(t, path); got != "new" {
		t.Errorf("read %q", got)
	}
}
