package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolx/pkg/exec"
)

// files are the files that a tool may read, named by absolute paths.
type files interface {
	stat(path string) (fs.FileInfo, error)
	lstat(path string) (fs.FileInfo, error)
	// open never blocks, not even for a pipe without a writer.
	open(path string) (*os.File, error)
}

// anyFile is any file, for users.
type anyFile struct{}

func (anyFile) stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (anyFile) lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (anyFile) open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// filesBelow are the files below one folder. A symbolic link that leads out of it is refused.
type filesBelow struct {
	folder string // absolute
	root   *os.Root
}

func (f filesBelow) stat(path string) (fs.FileInfo, error) {
	name, err := f.name(path)
	if err != nil {
		return nil, err
	}
	return f.root.Stat(name)
}

func (f filesBelow) lstat(path string) (fs.FileInfo, error) {
	name, err := f.name(path)
	if err != nil {
		return nil, err
	}
	return f.root.Lstat(name)
}

func (f filesBelow) open(path string) (*os.File, error) {
	name, err := f.name(path)
	if err != nil {
		return nil, err
	}
	return f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// name returns the path of a file from the folder.
func (f filesBelow) name(path string) (string, error) {
	name, err := filepath.Rel(f.folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not below %s", path, f.folder)
	}
	return name, nil
}

// OutsideError reports that a path is outside the folders that a model, or a client of toolx serve, may read.
type OutsideError struct {
	Path    string
	Folders []string
}

func (e *OutsideError) Error() string {
	if len(e.Folders) == 0 {
		return e.Path + " may not be searched: no folder is allowed (roots in the config)"
	}
	return fmt.Sprintf("%s may not be searched: only files below %s are allowed (roots in the config)", e.Path,
		strings.Join(e.Folders, ", "))
}

// confine opens the allowed folder that contains path; the caller closes it. Nil allows the working folder. A relative
// path begins at the first folder.
func confine(folders []string, path string) (absolute string, below filesBelow, err error) {
	if folders == nil {
		working, err := os.Getwd()
		if err != nil {
			return "", below, err
		}
		folders = []string{working}
	}
	if absolute = filepath.Clean(path); !filepath.IsAbs(path) && len(folders) > 0 {
		absolute = filepath.Join(folders[0], path)
	}
	spellings := slices.Clone(folders)
	for _, folder := range folders {
		if resolved, err := filepath.EvalSymlinks(folder); err == nil {
			spellings = append(spellings, resolved) // a path may be written either way
		}
	}
	for _, folder := range spellings {
		below.folder = folder
		if _, err := below.name(absolute); err != nil {
			continue
		}
		if below.root, err = os.OpenRoot(folder); err != nil {
			return "", below, fmt.Errorf("cannot search: %w", err)
		}
		return absolute, below, nil
	}
	return "", below, &OutsideError{Path: path, Folders: folders}
}

// unread explains why a file cannot be read, without the names of Go's system calls.
func unread(path string, failed *fs.PathError) error {
	if failed.Err.Error() == "path escapes from parent" { // from os.Root, which exports no error for it
		return fmt.Errorf("%s leads out of its folder", path)
	}
	return fmt.Errorf("cannot read %s: %w", path, failed.Err)
}

// readUpTo reads a file of at most limit bytes. It refuses anything but regular files, and files that never end, such
// as /proc/kmsg.
func readUpTo(from files, path string, limit int64) ([]byte, error) {
	const readTime = time.Second // for files with a deadline; disks have none
	regular := func(info fs.FileInfo, err error) error {
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", path)
		}
		var failed *fs.PathError
		if errors.As(err, &failed) {
			return unread(path, failed)
		}
		return err
	}
	if err := regular(from.stat(path)); err != nil { // opening a device can have effects
		return nil, err
	}
	file, err := from.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	if err := regular(file.Stat()); err != nil {
		return nil, err
	}
	if err := file.SetReadDeadline(time.Now().Add(readTime)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %s", path, exec.Bytes(limit))
	}
	return data, nil
}

// readFolder lists the entries of a folder in the order of names.
func readFolder(from files, path string) ([]fs.DirEntry, error) {
	folder, err := from.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	entries, err := folder.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
