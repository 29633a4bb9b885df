// Package state opens, replaces and locks toolx's own files: tokens, the execution log, cached data of servers. toolx
// never blocks on anything but a regular file, and a crashed process does not block others.
package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// errIrregular reports a pipe, a device, a socket or a folder instead of a file.
var errIrregular = errors.New("not a regular file")

// Open opens a regular file with the flags of os.OpenFile, and creates it with mode 0600 if the flags
// say so. It never blocks: opening a pipe would wait for its other end, and opening a device can do
// anything. The error is a *fs.PathError, with errIrregular for anything but a regular file.
func Open(path string, flags int) (*os.File, error) {
	irregular := &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, irregular
	}
	// The file may have been replaced since: open without blocking, and check again.
	file, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular
	}
	if err != nil {
		file.Close() // nothing was written to it
		return nil, err
	}
	return file, nil
}

// Append opens a regular file to write at its end and to read. It creates the file if it is missing,
// and its folder, for the user alone. It follows no link. Its errors are those of Open.
func Append(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_RDWR | noFollow
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	file, err := Open(path, flags)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return Open(path, flags)
}

// IsCut reports whether a file ends within a line because a disk was full or a process was killed. It may also return
// true while another process is writing; a newline then makes an empty line, which every reader skips.
func IsCut(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := []byte{'\n'}
	_, _ = file.ReadAt(last, info.Size()-1) // if this fails, assume a newline
	return last[0] != '\n'
}

// Read reads a whole regular file of at most most bytes. Its errors are those of Open, and one for a
// file that is larger.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", most)}
	}
	return text, err
}

// Replace writes a file that only the user can read, and creates its folder if that is missing. A reader sees the old
// text or the new one, even after a crash. It waits while another process replaces a file in the same folder (lockTime
// at most), and removes leftovers of crashed processes.
func Replace(path string, text []byte) error {
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	_ = clean(filepath.Dir(path)) // the next call tries again
	name, err := writeNew(filepath.Dir(path), text)
	if err != nil {
		return err
	}
	if err = rename(name, path); err != nil {
		_ = os.Remove(name) // the first error says more
	}
	return err
}

// EditJSON changes a JSON file under a lock that all processes share: read returns its content, and edit changes it.
// Its errors are those of Lock, read, edit and Replace.
func EditJSON[T any](ctx context.Context, path string, read func() (T, error), edit func(T) (T, error)) error {
	if path == "" {
		return errors.New("there is no state folder: set HOME or XDG_STATE_HOME")
	}
	unlock, err := Lock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := read()
	if err == nil {
		all, err = edit(all)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return Replace(path, append(text, '\n'))
}

// Rewrite replaces a file of the user's, or creates it with a mode, and its folder. An existing file keeps its mode and
// owner, and a link remains a link. A reader sees the old text or the new one, even after a crash.
func Rewrite(path string, text []byte, mode fs.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: path, Err: errIrregular}
	case err == nil:
		mode = info.Mode().Perm()
	default:
		info = nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	name, err := writeNew(filepath.Dir(path), text)
	if err != nil {
		return err
	}
	if info != nil {
		err = keepOwner(name, info)
	}
	if err == nil {
		err = os.Chmod(name, mode)
	}
	if err == nil {
		err = rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name) // the first error says more
	}
	return err
}

// Writable returns why Replace cannot write in a folder, or nil.
func Writable(folder string) error {
	unlock, err := lockFolder(folder)
	if err != nil {
		return err
	}
	defer unlock()
	_ = clean(folder)
	name, err := writeNew(folder, []byte{'\n'}) // a full file system still accepts names
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// Sweep removes leftovers of processes that crashed in Replace. If there are none, it writes nothing.
func Sweep(folder string) error {
	if len(leftovers(folder)) == 0 {
		return nil
	}
	unlock, err := lockFolder(folder)
	if err != nil {
		return err
	}
	defer unlock()
	return clean(folder)
}

// newPrefix begins the name of a file before its final renaming.
const newPrefix = "new-"

// leftovers returns the files of a folder with newPrefix. An unreadable folder has none.
func leftovers(folder string) []string {
	entries, _ := os.ReadDir(folder)
	var found []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), newPrefix) && !entry.IsDir() {
			found = append(found, filepath.Join(folder, entry.Name()))
		}
	}
	return found
}

// clean removes the leftovers of a folder. The caller holds the folder's lock, so no running process owns them.
func clean(folder string) (err error) {
	for _, path := range leftovers(folder) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// lockTime is how long to wait for another process that writes one small file.
const lockTime = 5 * time.Second

// lockFolder lets one process at a time write new files in a folder. An interrupt does not end the
// wait, because the new file may hold a token that exists nowhere else.
func lockFolder(folder string) (unlock func(), err error) {
	path := filepath.Join(folder, "write.lock")
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if unlock, err = Lock(ctx, path); errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another process has locked %s for %s", path, lockTime)
	}
	return unlock, err
}

// writeNew writes a file under an unused name. After an error it leaves no file.
func writeNew(folder string, text []byte) (name string, err error) {
	file, err := os.CreateTemp(folder, newPrefix+"*") // made with 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(file.Name()) // the first error says more
		return "", err
	}
	return file.Name(), nil
}

// rename replaces a file by another. On Windows that fails while a process reads the file, which only takes a moment,
// so rename retries.
func rename(from, to string) error {
	err := os.Rename(from, to)
	for tries := 0; err != nil && runtime.GOOS == "windows" && tries < 50; tries++ {
		time.Sleep(lockPoll)
		err = os.Rename(from, to)
	}
	return err
}

// lockPoll is how often Lock retries.
const lockPoll = 20 * time.Millisecond

// Lock waits for the lock of a file. It creates the file and its folder if necessary. The system releases the lock when
// the process ends, in any way.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	if _, err := file.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	return release(file), nil
}

// TryLock locks a file like Lock, but without waiting; ok reports whether it succeeded.
func TryLock(path string) (unlock func(), ok bool, err error) {
	file, err := lockFile(path)
	if err != nil {
		return nil, false, err
	}
	if ok, err = file.TryLock(); err != nil || !ok {
		return nil, false, err
	}
	return release(file), true, nil
}

// lockFile returns the lock of a file, which must be a regular one, because opening a pipe would block.
func lockFile(path string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := Append(path)
	if err != nil {
		return nil, err
	}
	file.Close() // it is empty
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK), flock.SetPermissions(0o600)), nil
}

func release(file *flock.Flock) func() {
	return func() { _ = file.Unlock() } // the end of the process also unlocks it
}
