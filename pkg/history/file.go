package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// append writes one line at the end of the file. The file is opened for every line:
// that costs microseconds, holds nothing open beside a long-running TUI or server,
// and always meets the file that is current, whichever process rotated the last.
//
// Rotation is a rename and nothing else. A library that makes the new file itself
// would truncate what another process has written to it in the meantime.
func (l *Log) append(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	file, err := open(l.path)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && l.full(info, line) {
		file.Close() // nothing was written to it
		l.rotate(line)
		if file, err = open(l.path); err != nil {
			return err
		}
	}
	if _, err := file.Write(line); err != nil {
		file.Close() // the write's error says more
		return err
	}
	return file.Close()
}

// open makes the folder and the file where they are missing, for the user alone:
// arguments are nobody else's business.
func open(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY
	file, err := os.OpenFile(path, flags, 0o600)
	if !os.IsNotExist(err) {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}

// full says whether line goes into a new file.
func (l *Log) full(info os.FileInfo, line []byte) bool {
	return info.Size() > 0 && info.Size()+int64(len(line)) > l.limit
}

// rotate moves the full log out of the way and removes the oldest. One process does
// so at a time; where another does, or where it fails (Windows, while another
// process writes), the log grows a little until the next attempt.
func (l *Log) rotate(line []byte) {
	unlock, ok := lock(l.path + ".lock")
	if !ok {
		return
	}
	defer unlock()
	if info, err := os.Stat(l.path); err != nil || !l.full(info, line) {
		return // another process was faster
	}
	base, extension := split(l.path)
	// Nanoseconds of fixed width: names sort by time, and no two are alike.
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	if os.Rename(l.path, base+"-"+stamp+extension) != nil {
		return
	}
	old := rotated(l.path)
	for _, path := range old[:max(0, len(old)-backups)] {
		os.Remove(path) //nolint:errcheck // tried again at the next rotation
	}
}

// lock takes the lock file at path, at once or not at all. One that has been there
// for a minute was left by a process that died: it is removed, for the next attempt.
func lock(path string) (unlock func(), ok bool) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Minute {
			os.Remove(path) //nolint:errcheck // tried again at the next rotation
		}
		return nil, false
	}
	file.Close()                            // it is empty
	return func() { os.Remove(path) }, true //nolint:errcheck // it goes stale
}

// rotated gives the rotated logs of path, oldest first.
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

// split cuts the extension off: "history" and ".jsonl".
func split(path string) (base, extension string) {
	extension = filepath.Ext(path)
	return strings.TrimSuffix(path, extension), extension
}
