package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := Read(path, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReplace(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "toolx")
	path := filepath.Join(folder, "file")
	for _, text := range []string{"one", "two"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	for _, name := range []string{folder, path} {
		info, err := os.Stat(name)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others can read %s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := Replace(filepath.Join(path, "below", "a file"), nil); err == nil {
		t.Error("a file was made below a file")
	}
	if _, err := Read(path, 2); err == nil || !strings.Contains(err.Error(), "larger than 2 bytes") {
		t.Errorf("a file that is too large: %v", err)
	}
}

// What a process left that died between writing and renaming is removed by the next one that
// writes in the folder, by Writable, and by Sweep, which makes nothing where nothing is.
func TestLeftovers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "auth")
	if err := Sweep(folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Sweep made the folder: %v", err)
	}
	kept := filepath.Join(folder, "kept.json")
	for name, sweep := range map[string]func() error{
		"Replace":  func() error { return Replace(kept, []byte("kept")) },
		"Writable": func() error { return Writable(folder) },
		"Sweep":    func() error { return Sweep(folder) },
	} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(folder, "new-123")
		if err := os.WriteFile(left, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sweep(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left it: %v", name, err)
		}
	}
	if got := read(t, kept); got != "kept" {
		t.Errorf("the file in its place is %q", got)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolx", "file.lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("the lock was given twice: %v, %v", ok, err)
	}
	unlock()
	unlock, ok, err := TryLock(path)
	if !ok || err != nil {
		t.Fatalf("the lock was not given back: %v", err)
	}
	unlock()
	folder := t.TempDir()
	if _, _, err := TryLock(folder); !errors.Is(err, errIrregular) {
		t.Errorf("the lock of a folder: %v", err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolx", "log")
	for _, line := range []string{"one\n", "two\n"} {
		file, err := Append(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(file, line); err != nil {
			t.Error(err)
		}
		file.Close()
	}
	if got := read(t, path); got != "one\ntwo\n" {
		t.Errorf("read %q", got)
	}
}

func TestIrregular(t *testing.T) {
	for name, path := range irregular(t) {
		if _, err := Read(path, 10); !errors.Is(err, errIrregular) {
			t.Errorf("%s was read: %v", name, err)
		}
		if _, err := Append(path); !errors.Is(err, errIrregular) {
			t.Errorf("%s was written: %v", name, err)
		}
		if _, err := Lock(t.Context(), path); !errors.Is(err, errIrregular) {
			t.Errorf("%s was locked: %v", name, err)
		}
	}
}
