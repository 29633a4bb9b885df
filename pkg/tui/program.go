package tui

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/servers/wire"
)

// programFile is a file that a server was started from, as it was then.
type programFile struct {
	path    string
	changed time.Time
	size    int64
}

// scripts are the endings of arguments that are programs; other files on a command line change while the server runs.
var scripts = []string{
	".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".py", ".pyz", ".rb", ".php", ".pl", ".lua", ".sh", ".jar",
	".dll", ".exe", ".wasm",
}

// programFiles returns the files of a command line that was started in a folder: its program, and scripts among its
// arguments.
func programFiles(command []string, folder string) []programFile {
	var files []programFile
	for i, word := range command {
		path := word
		switch {
		case i == 0 && !strings.ContainsRune(word, filepath.Separator):
			path, _ = exec.LookPath(word) // a program that is not found has no file
		case i > 0 && !slices.Contains(scripts, strings.ToLower(filepath.Ext(word))):
			continue
		case !filepath.IsAbs(word):
			path = filepath.Join(folder, word)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, programFile{path, info.ModTime(), info.Size()})
		}
	}
	return files
}

// stale returns the path of the first file that has changed; empty if none has.
func stale(files []programFile) string {
	for _, file := range files {
		info, err := os.Stat(file.path)
		if err == nil && (!info.ModTime().Equal(file.changed) || info.Size() != file.size) {
			return file.path
		}
	}
	return ""
}

// remember returns the command that notes which files a server was started from.
func (su *supervisor) remember(e wire.ProcessStarted) tea.Cmd {
	s := su.server(e.Server)
	if s == nil {
		return nil
	}
	note := func() []programFile { return programFiles(e.Command, e.Cwd) }
	return after(note, func(files []programFile) tea.Cmd {
		if s.pid == e.PID {
			s.files = files
		}
		return nil
	})
}

// warnStale returns the command that warns if a server runs an older program than the one on disk.
func (su *supervisor) warnStale(name string) tea.Cmd {
	s := su.server(name)
	if s == nil || len(s.files) == 0 || s.pid == 0 {
		return nil
	}
	files, pid := s.files, s.pid
	return after(func() string { return stale(files) }, func(path string) tea.Cmd {
		if path != "" && s.pid == pid {
			su.notify(filepath.Base(path)+" has changed since "+titleOf(s.name)+" started; R restarts it", true)
		}
		return nil
	})
}
