package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// Read reads a snapshot: a folder, a file, or the output of toolx list --json. The error is a *FileError.
func Read(name string) (Set, error) {
	files, err := readFiles(name)
	if err != nil {
		if reason := (*fs.PathError)(nil); errors.As(err, &reason) {
			err = reason.Err // the path is there already
		}
		if file := (*FileError)(nil); errors.As(err, &file) {
			return nil, err
		}
		return nil, &FileError{name, 0, err}
	}
	return Parse(name, files)
}

func readFiles(name string) (Files, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := state.Read(name, MaxBytes)
		return Files{"": data}, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	reader := folderReader{name, root, make(Files), MaxBytes}
	return reader.files, reader.read(".", 0)
}

// folderReader reads the files of a snapshot. It follows no links.
type folderReader struct {
	name  string
	root  *os.Root
	files Files
	left  int64 // bytes
}

func (r *folderReader) read(folder string, depth int) error {
	const deepest = 2 // SERVER/tools
	entries, err := fs.ReadDir(r.root.FS(), folder)
	if err != nil {
		return r.at(folder, err)
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		below := entry.IsDir() && depth < deepest && !strings.HasPrefix(entry.Name(), ".")
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			return r.at(name, errLink)
		case below:
			err = r.read(name, depth+1)
		case Wanted(name):
			err = r.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errLink refuses symbolic links, which can lead out of a repository.
var errLink = errors.New("it is a symbolic link, which a snapshot cannot have")

func (r *folderReader) file(name string) error {
	if len(r.files) >= MaxFiles {
		return r.at(name, fmt.Errorf("the snapshot has more than %d files", MaxFiles))
	}
	file, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return r.at(name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return r.at(name, errors.Join(err, errors.New("it is not a regular file")))
	}
	data, err := io.ReadAll(io.LimitReader(file, r.left+1))
	if r.left -= int64(len(data)); err == nil && r.left < 0 {
		err = fmt.Errorf("the snapshot is larger than %d MiB", MaxBytes>>20)
	}
	r.files[name] = data
	return r.at(name, err)
}

func (r *folderReader) at(name string, err error) error {
	if err == nil {
		return nil
	}
	if reason := (*fs.PathError)(nil); errors.As(err, &reason) {
		err = reason.Err
	}
	return &FileError{path.Join(r.name, name), 0, err}
}

// WriteFolder writes a set into a folder, with a folder for each server, and removes the files of definitions that are
// gone. It leaves other servers and other files alone. It writes only what changed, and through no link.
func (s Set) WriteFolder(name string) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	before, err := readFiles(name)
	if err != nil {
		return err
	}
	folders, err := s.folders(name, before)
	if err != nil {
		return err
	}
	for server, snapshot := range s {
		files, err := snapshot.Files(server)
		if err != nil {
			return fmt.Errorf("server %q: %w", server, err)
		}
		if err := writeServer(root, folders[server], files, before); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a set into one file, beside the other servers that it has.
func (s Set) WriteFile(name string) error {
	all := make(Set)
	data, err := state.Read(name, MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case rawjson.Get(data, "findings") != nil || !opens(rawjson.Get(data, "servers"), '{'):
		return &FileError{name, 0, errors.New("it has more than snapshots, which would be lost")}
	default:
		if all, err = Parse(name, Files{"": data}); err != nil {
			return err
		}
	}
	maps.Copy(all, s)
	text, err := all.Encode()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return replace(root, filepath.Base(name), text)
}

// folders returns the folder of each server: the one that it has, or a new one.
func (s Set) folders(name string, before Files) (map[string]string, error) {
	folders, taken := make(map[string]string), make(map[string]bool)
	for _, folder := range before.folders() {
		file := path.Join(folder, aboutFile)
		if folder == "" {
			return nil, &FileError{
				path.Join(name, aboutFile), 0, errors.New("this is the folder of one server; name the folder above it"),
			}
		}
		server, _, err := parseServer(folder, Files{file: before[file]})
		if err != nil {
			return nil, locate(path.Join(name, file), err)
		}
		folders[server], taken[strings.ToLower(folder)] = folder, true
	}
	for _, server := range s.Names() {
		if folders[server] == "" {
			folders[server] = FileName(server, taken)
		}
	}
	return folders, nil
}

// replace writes a file in one step: a reader sees the old file or the new one.
func replace(root *os.Root, name string, data []byte) error {
	temporary := name + ".new"
	err := root.WriteFile(temporary, data, 0o644)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return err
}

// writeServer replaces the files of one server.
func writeServer(root *os.Root, folder string, files, before Files) error {
	for name, data := range files {
		file := path.Join(folder, name)
		if bytes.Equal(before[file], data) {
			continue
		}
		if err := root.MkdirAll(path.Dir(file), 0o755); err != nil {
			return err
		}
		if err := replace(root, file, data); err != nil {
			return err
		}
	}
	for file := range before {
		name, of := strings.CutPrefix(file, folder+"/")
		if of && files[name] == nil {
			if err := root.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}
