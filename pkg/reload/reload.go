// Package reload reports when the files of a server that is being developed have changed.
package reload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Settle is how long to wait after the last change before reporting: editors and compilers write several files.
const Settle = 150 * time.Millisecond

// maxFolders limits watched folders; each takes a system handle.
const maxFolders = 4096

// sources are the extensions of a server's source files.
var sources = []string{
	".c", ".cc", ".cfg", ".cjs", ".clj", ".cpp", ".cs", ".cts", ".dart", ".env", ".ex", ".exs", ".fs", ".go",
	".gradle", ".h", ".hpp", ".ini", ".java", ".js", ".json", ".jsonc", ".jsx", ".kt", ".kts", ".lua", ".md", ".mjs",
	".mod", ".mts", ".php", ".pl", ".properties", ".proto", ".ps1", ".py", ".pyi", ".r", ".rb", ".rs", ".scala", ".sh",
	".sql", ".swift", ".toml", ".ts", ".tsx", ".wasm", ".xml", ".yaml", ".yml", ".zig",
}

// skipped are folders with third-party files, besides those whose names begin with a dot.
var skipped = []string{"__pycache__", "node_modules", "venv"}

// ErrTooMany reports more folders than can be watched.
var ErrTooMany = fmt.Errorf("there are over %d folders", maxFolders)

// Watcher watches files. Its methods are for one goroutine.
type Watcher struct {
	notify *fsnotify.Watcher
	settle time.Duration
	// named are the paths of the caller. With chosen, every file in these folders counts; else only source files. A
	// file that the caller named always counts.
	named  map[string]bool
	chosen bool
	count  int // of watched folders
}

// New watches files, and the files in folders and below. chosen reports that the user named them, so that every file
// counts; else only sources and settings do, by extension. It skips package folders and those whose names begin with a
// dot. Close must be called.
func New(paths []string, chosen bool) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{notify: notify, settle: Settle, named: make(map[string]bool), chosen: chosen}
	for _, path := range paths {
		if err := w.add(path); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), notify.Close())
		}
	}
	return w, nil
}

// Close ends the watch.
func (w *Watcher) Close() error { return w.notify.Close() }

// add watches one path that the caller gave.
func (w *Watcher) add(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	w.named[path] = true
	if info.IsDir() {
		return w.addBelow(path)
	}
	return w.notify.Add(filepath.Dir(path)) // editors replace the file
}

// addBelow watches a folder and the folders below.
func (w *Watcher) addBelow(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil || !entry.IsDir(): // the user edits nothing in an unreadable folder
			return nil
		case path != root && skips(entry.Name()):
			return fs.SkipDir
		}
		if w.count++; w.count > maxFolders {
			return ErrTooMany
		}
		return w.notify.Add(path)
	})
}

// skips reports whether a folder of this name is left out.
func skips(name string) bool { return strings.HasPrefix(name, ".") || slices.Contains(skipped, name) }

// Wait returns the paths of the files that have changed, sorted, once nothing has changed for a while. The error is
// ctx's, or why watching failed.
func (w *Watcher) Wait(ctx context.Context) ([]string, error) {
	var changed []string
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	for {
		select {
		case event, open := <-w.notify.Events:
			if !open {
				return nil, errors.New("the watch has ended")
			}
			if w.counts(event) {
				changed = append(changed, event.Name)
				settled.Reset(w.settle)
			}
		case err := <-w.notify.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, err
			}
			settled.Reset(w.settle) // something has changed, but not known what
		case <-settled.C:
			slices.Sort(changed)
			return slices.Compact(changed), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// counts reports whether an event is a change of a relevant file, or a new folder, which it adds to the watch.
func (w *Watcher) counts(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod {
		return false
	}
	if w.named[event.Name] {
		return true
	}
	if !w.below(filepath.Dir(event.Name)) {
		return false // next to a named file
	}
	name := filepath.Base(event.Name)
	if event.Has(fsnotify.Create) {
		if info, err := os.Stat(event.Name); err == nil && info.IsDir() {
			if skips(name) {
				return false
			}
			_ = w.addBelow(event.Name) // changes in an unwatchable folder are not reported
			return true                // it may already have files
		}
	}
	temporary := strings.HasPrefix(name, ".#") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".swp")
	return !temporary && (w.chosen || slices.Contains(sources, strings.ToLower(filepath.Ext(name))))
}

// below reports whether a folder is a named one or below one.
func (w *Watcher) below(folder string) bool {
	for {
		if w.named[folder] {
			return true
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return false
		}
		folder = parent
	}
}
