// Package state opens, replaces and locks the files that toolx keeps for itself: tokens, the
// execution log, what it knows of servers. Nothing that stands in the place of such a file
// makes toolx wait, and a process that dies leaves nothing that stops the others.
package state

import (
	"context"
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

// ErrIrregular says that a pipe, a device, a socket or a folder stands where a file should be.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file with the flags of os.OpenFile, and makes it with mode 0600 where
// the flags say so. It never waits: to open a pipe would wait for its other end, and to open a
// device can do anything. The error is a *fs.PathError, with ErrIrregular for what is no
// regular file.
func Open(path string, flags int) (*os.File, error) {
	irregular := &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, irregular
	}
	// What was put there since is opened without waiting, and looked at once more.
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

// Append opens a regular file to write at its end and to read, and makes it where it is
// missing, with its folder, for the user alone. Its errors are those of Open.
func Append(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_RDWR
	file, err := Open(path, flags)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return Open(path, flags)
}

// Read reads a whole regular file of at most most bytes. Its errors are those of Open, and one
// for a file that is larger.
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

// Replace writes a file that only the user can read, with its folder where that is missing. A
// reader sees the old text or the new one, also after a crash. It waits while another process
// replaces a file of the same folder (lockTime at most), and removes what a process that died
// while it did so has left there.
func Replace(path string, text []byte) error {
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	_ = clean(filepath.Dir(path)) // what cannot be removed now is tried again the next time
	name, err := writeNew(filepath.Dir(path), text)
	if err != nil {
		return err
	}
	if err = rename(name, path); err != nil {
		_ = os.Remove(name) // the first error says more
	}
	return err
}

// Writable says why Replace cannot write in a folder; nil where it can.
func Writable(folder string) error {
	unlock, err := lockFolder(folder)
	if err != nil {
		return err
	}
	defer unlock()
	_ = clean(folder)
	name, err := writeNew(folder, []byte{'\n'}) // a file system that is full takes names still
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// Sweep removes what processes that died in Replace have left in a folder. Where there is
// nothing, nothing is written either.
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

// newPrefix begins the name of a file that is not in its place yet.
const newPrefix = "new-"

// leftovers are the files of a folder that are not in their place. A folder that cannot be
// read has none.
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

// clean removes them. It is for who holds the folder's lock: then they belong to nobody.
func clean(folder string) (err error) {
	for _, path := range leftovers(folder) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// lockTime is how long a folder may be locked by another process, which writes one small file.
const lockTime = 5 * time.Second

// lockFolder lets one process at a time write new files in a folder. No interrupt ends the
// waiting: what is written may be a token that exists nowhere else.
func lockFolder(folder string) (unlock func(), err error) {
	path := filepath.Join(folder, "write.lock")
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if unlock, err = Lock(ctx, path); errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another process has held %s for %s", path, lockTime)
	}
	return unlock, err
}

// writeNew writes a file under a name that is free. After an error nothing is left of it.
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

// rename puts a file in the place of another. Windows refuses that while somebody reads the
// other, which takes no time: it is tried again.
func rename(from, to string) error {
	err := os.Rename(from, to)
	for tries := 0; err != nil && runtime.GOOS == "windows" && tries < 50; tries++ {
		time.Sleep(lockPoll)
		err = os.Rename(from, to)
	}
	return err
}

// lockPoll is how often a lock that another process holds is tried.
const lockPoll = 20 * time.Millisecond

// Lock waits until no other process holds the lock of a file, which is made where it is
// missing, with its folder. The system gives the lock back when a process ends, however it
// does, and whatever the clock says.
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

// TryLock takes the lock of a file as Lock does, at once or not at all; ok reports whether it did.
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

// lockFile is the lock of a file. What is no file is refused: to open a pipe would wait.
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
	return func() { _ = file.Unlock() } // the end of the process unlocks as well
}
