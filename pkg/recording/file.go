package recording

import (
	"errors"
	"os"

	"toolx/pkg/state"
)

// maxFile is how large a recording grows, in bytes.
const maxFile = 512 << 20

// OldSuffix is added to the name of a full recording, when a new one is begun in its place.
const OldSuffix = ".1"

// File is the file of a recording, which only the user can read. Write expects whole lines. It is not safe for
// concurrent use, but several processes may add to one file.
type File struct {
	path  string
	file  *os.File
	size  int64
	limit int64 // zero: none, since it is a pipe or a device
}

// Create opens the file of a recording. It replaces an older one, or adds to it, which is for commands that a client
// may start again and again.
func Create(path string, add bool) (*File, error) {
	f := &File{path: path, limit: maxFile}
	var err error
	if add {
		f.file, err = state.Append(path)
	} else {
		f.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		f.limit = 0
	default:
		f.size = info.Size()
		if add && state.IsCut(f.file) {
			_, err = f.file.WriteString("\n")
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.file.Close())
	}
	return f, nil
}

// Write writes lines. If the file would get too large, it first renames it and begins a new one.
func (f *File) Write(lines []byte) (int, error) {
	if f.limit > 0 && f.size > 0 && f.size+int64(len(lines)) > f.limit {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(lines)
	f.size += int64(n)
	return n, err
}

// rotate keeps the full file under another name. If that fails, as it does on Windows while another process has the
// file open, the recording starts again.
func (f *File) rotate() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	_ = os.Rename(f.path, f.path+OldSuffix)
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	f.file, f.size = file, 0
	return err
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
