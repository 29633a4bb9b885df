package reload

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a folder of a server, and the watch on it.
type world struct {
	t      *testing.T
	folder string
	watch  *Watcher
}

func newWorld(t *testing.T, chosen bool, paths ...string) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir()}
	w.write("server.js")
	w.write("lib/tools.js")
	w.write("node_modules/left-pad/index.js")
	for i, path := range paths {
		paths[i] = filepath.Join(w.folder, path)
	}
	var err error
	if w.watch, err = New(paths, chosen); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.watch.Close() })
	return w
}

func (w *world) write(path string) {
	w.t.Helper()
	path = filepath.Join(w.folder, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// expect wants exactly these files to have changed.
func (w *world) expect(paths ...string) {
	w.t.Helper()
	got, err := w.watch.Wait(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for i, path := range got {
		if got[i], err = filepath.Rel(w.folder, path); err != nil {
			w.t.Fatal(err)
		}
		got[i] = filepath.ToSlash(got[i])
	}
	if !slices.Equal(got, paths) {
		w.t.Errorf("changed are %q, want %q", got, paths)
	}
}

// What is ignored is written before what is not: were it reported, it would stand beside.
func TestWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, ".")
	w.write("server.log")
	w.write("node_modules/left-pad/index.js")
	w.write(".git/HEAD.js")
	w.write("server.js~")
	w.write("server.js")
	w.write("lib/tools.js")
	w.expect("lib/tools.js", "server.js")

	if err := os.Rename(filepath.Join(w.folder, "server.log"), filepath.Join(w.folder, "server.js")); err != nil {
		t.Fatal(err)
	}
	w.expect("server.js")
	if err := os.Remove(filepath.Join(w.folder, "lib", "tools.js")); err != nil {
		t.Fatal(err)
	}
	w.expect("lib/tools.js")
}

func TestWaitForChosenFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true, "lib", "server.js")
	w.write("other.js")
	w.write("lib/words.txt")
	w.write("server.js")
	w.expect("lib/words.txt", "server.js")
}

func TestNewFolderIsWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, ".")
	if err := os.Mkdir(filepath.Join(w.folder, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.expect("more")
	w.write("more/tools.py")
	w.expect("more/tools.py")
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, ".")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.watch.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestMissingPath(t *testing.T) {
	t.Parallel()
	if _, err := New([]string{filepath.Join(t.TempDir(), "none")}, true); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}
