package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolx/pkg/state"
)

// append writes lines at the end of the file, in one write. It opens the file each time, which takes tens of
// microseconds: a long-running TUI or server keeps no file open, and always writes to the current file, even if another
// process has rotated it.
//
// Rotation only renames. A library that creates the new file would truncate lines that another process has written to
// it in the meantime.
func (l *Log) append(lines []byte) error {
	file, err := state.Append(l.path)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && l.full(info, lines) {
		file.Close() // nothing was written to it
		if err := l.rotate(lines); err != nil {
			l.notice(fmt.Errorf("the log of calls is not rotated: %w", err))
		}
		if file, err = state.Append(l.path); err != nil {
			return err
		}
	}
	if state.IsCut(file) {
		lines = append([]byte{'\n'}, lines...)
	}
	if _, err := file.Write(lines); err != nil {
		file.Close() // the write's error says more
		return err
	}
	return file.Close()
}

// full reports whether lines go into a new file.
func (l *Log) full(info os.FileInfo, lines []byte) bool {
	return info.Size() > 0 && info.Size()+int64(len(lines)) > l.limit
}

// rotate renames the full log and removes the oldest one. One process does so at a time. If another
// process is rotating, or if renaming fails (Windows, while another process writes), the log grows
// until the next attempt. The error says that the lock cannot be taken.
func (l *Log) rotate(lines []byte) error {
	unlock, ok, err := state.TryLock(l.path + ".lock")
	if err != nil || !ok {
		return err
	}
	defer unlock()
	if info, err := os.Stat(l.path); err != nil || !l.full(info, lines) {
		return nil // another process was faster
	}
	base, extension := split(l.path)
	// Nanoseconds of fixed width: names sort by time, and no two are alike.
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	if os.Rename(l.path, base+"-"+stamp+extension) != nil {
		return nil
	}
	old := rotated(l.path)
	for _, path := range old[:max(0, len(old)-backups)] {
		os.Remove(path) //nolint:errcheck // tried again at the next rotation
	}
	return nil
}

// rotated returns the rotated logs of path, oldest first.
func rotated(path string) []string {
	base, extension := split(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		stamp, ok := strings.CutPrefix(entry.Name(), filepath.Base(base)+"-")
		if ok && strings.HasSuffix(stamp, extension) && entry.Type().IsRegular() {
			found = append(found, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	slices.Sort(found)
	return found
}

// split splits off the extension: "history" and ".jsonl".
func split(path string) (base, extension string) {
	extension = filepath.Ext(path)
	return strings.TrimSuffix(path, extension), extension
}
