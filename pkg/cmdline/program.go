// Package cmdline analyses the command line of a server: which program it starts, through which launchers, interpreters
// and shells, and what these need. It runs nothing.
package cmdline

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// Lookup finds programs: bare names in the folders of Path, other commands relative to Folder, by the rules of Goos.
type Lookup struct {
	Goos   string
	Path   string
	Folder string // what relative commands count from; empty means the current one
}

// LookupIn finds programs as a process in a folder and an environment does.
func LookupIn(folder string, environ []string) Lookup {
	path, _ := Variable(environ, "PATH")
	return Lookup{Goos: runtime.GOOS, Path: path, Folder: folder}
}

// Program is what looking a command up came to.
type Program struct {
	// Path is the file, empty where there is none.
	Path string
	Info fs.FileInfo
	// Runnable reports whether the file can be run, as far as its mode says.
	Runnable bool
}

// Find looks a command up. It returns a file that cannot be run only if there is none that can.
func (l Lookup) Find(command string) Program {
	if l.IsPath(command) {
		if l.Folder != "" && !filepath.IsAbs(command) {
			command = filepath.Join(l.Folder, command)
		}
		return l.Inspect(command)
	}
	var blocked Program
	for _, folder := range l.Folders() {
		found := l.Inspect(filepath.Join(folder, command))
		if found.Runnable {
			return found
		}
		if blocked.Path == "" && found.Path != "" && !found.Info.IsDir() {
			blocked = found
		}
	}
	return blocked
}

// IsPath reports whether a command is a path and not a name to look up.
func (l Lookup) IsPath(command string) bool {
	return strings.Contains(command, "/") || l.Goos == "windows" && strings.Contains(command, `\`)
}

// Folders returns the folders of PATH without empty ones, which os/exec never searches.
func (l Lookup) Folders() []string {
	separator := ":"
	if l.Goos == "windows" {
		separator = ";"
	}
	return slices.DeleteFunc(strings.Split(l.Path, separator), func(folder string) bool { return folder == "" })
}

// Inspect checks one file, on Windows also with the extensions of programs.
func (l Lookup) Inspect(path string) Program {
	for _, extension := range l.extensions(path) {
		info, err := os.Stat(path + extension)
		if err != nil {
			continue
		}
		runnable := !info.IsDir() && (l.Goos == "windows" || info.Mode()&0o111 != 0)
		return Program{Path: path + extension, Info: info, Runnable: runnable}
	}
	return Program{}
}

func (l Lookup) extensions(path string) []string {
	if l.Goos != "windows" || filepath.Ext(path) != "" {
		return []string{""}
	}
	return []string{".com", ".exe", ".bat", ".cmd"} // the beginning of PATHEXT
}

// Near returns the program of PATH that a misspelt command most likely means, or empty. It compares programs of similar
// length only: among so many, some are always spelled with the command's letters in between, as bunzip2 with bun.
func (l Lookup) Near(command string) string {
	most := max(1, len(command)/3)
	var names []string
	for _, folder := range l.Folders() {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if longer := len(entry.Name()) - len(command); -most <= longer && longer <= most {
				names = append(names, entry.Name())
			}
		}
	}
	return words.Nearest(command, names)
}

// Variable reads a variable of an environment; the last setting wins, as in os/exec.
func Variable(environ []string, name string) (value string, set bool) {
	for _, pair := range environ {
		key, content, found := strings.Cut(pair, "=")
		if found && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value, set = content, true
		}
	}
	return value, set
}

// InterpreterOf returns the program that runs a script, by its extension; empty for any other file.
func InterpreterOf(script string) string {
	switch strings.ToLower(filepath.Ext(script)) {
	case ".js", ".mjs", ".cjs":
		return "node"
	case ".py":
		return "python3"
	case ".sh":
		return "sh"
	}
	return ""
}

// BaseName is a command without its folder and without the extension that Windows
// may need: "npx" for `C:\node\npx.cmd`.
func BaseName(command string) string {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	for _, extension := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		if stem := len(name) - len(extension); stem > 0 && strings.EqualFold(name[stem:], extension) {
			return strings.ToLower(name[:stem])
		}
	}
	return name
}
