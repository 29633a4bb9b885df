package cmdline

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// NodePackage is the npm package that a server's code belongs to.
type NodePackage struct {
	Folder  string // of package.json
	Name    string `json:"name"`
	Version string `json:"version"`
	Engines struct {
		Node string `json:"node"`
	} `json:"engines"`
	// Programs are the files of its bin, by their names.
	Programs map[string]string `json:"bin"`
	// Optional are the ranges of versions of packages that are installed if they fit the system, by their names.
	Optional map[string]string `json:"optionalDependencies"`
}

// Excludes reports whether the package does not support a version of Node.
func (p NodePackage) Excludes(node string) bool {
	running, known := ParseVersion(node)
	if !known || p.Engines.Node == "" {
		return false
	}
	inside, readable := running.Within(p.Engines.Node)
	return readable && !inside
}

// Shipped returns the program for this system in an optional dependency, which the scripts of the package only start;
// empty if there is none.
func (p NodePackage) Shipped() string {
	for _, name := range slices.Sorted(maps.Keys(p.Optional)) {
		if found, ok := Dependency(p.Folder, name); ok {
			if program := programIn(found.Folder); program != "" {
				return program
			}
		}
	}
	return ""
}

// programIn returns a program in the folder of a package, or in bin below it; empty if there is none.
func programIn(folder string) string {
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	below, _ := filepath.Glob(filepath.Join(folder, "bin", "*"))
	for _, file := range slices.Concat(files, below) {
		library := slices.Contains([]string{".node", ".so"}, filepath.Ext(file)) // they begin as programs do
		if !library && isProgramFile(FileBeginning(file, 4)) {
			return file
		}
	}
	return ""
}

// isProgramFile reports whether a file begins like a program of Linux, macOS or Windows.
func isProgramFile(begin []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return true
		}
	}
	return false
}

// Script returns the file that npx runs for a package: its only program, or the one with its name.
func (p NodePackage) Script() string {
	program := p.Programs[path.Base(p.Name)]
	if len(p.Programs) == 1 {
		for _, program = range p.Programs {
		}
	}
	if program == "" {
		return ""
	}
	return RealPath(program, p.Folder)
}

// Script returns the file that node runs for a command line in a folder; empty if another program runs it, or if it is
// not found.
func Script(command string, args []string, folder string, environ []string) string {
	command, args = Unwrapped(command, args)
	if l, ok := ParseLauncher(command, args); ok {
		found, _ := l.Installed(folder, environ)
		return found.Script()
	}
	return NodeScript(command, args, LookupIn(folder, environ))
}

// Installed returns the npm package that a launcher runs in a folder; ok is false for other packages, and if it is not
// found.
func (l Launcher) Installed(folder string, environ []string) (found NodePackage, ok bool) {
	if !l.NPM || !l.FromRegistry() {
		return NodePackage{}, false
	}
	name, _ := l.Split()
	return InstalledPackage(name, folder, environ)
}

// NodeScript returns the file that node runs: its first argument, or the command itself if that is a script for node.
func NodeScript(command string, args []string, in Lookup) string {
	if slices.Contains([]string{"node", "nodejs", "bun", "tsx"}, BaseName(command)) {
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if i < 0 {
			return ""
		}
		return RealPath(args[i], in.Folder)
	}
	found := in.Find(command)
	if first, ok := ReadShebang(found.Path); ok && (first.Program == "node" || BaseName(first.Interpreter) == "node") {
		return RealPath(found.Path, in.Folder)
	}
	return ""
}

// RealPath returns a path, relative to folder, with links resolved; empty if it does not exist.
func RealPath(path, folder string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	followed, _ := filepath.EvalSymlinks(path)
	return followed
}

// PackageAbove reads the nearest package.json with a name, from a file upwards. One without a name only sets the module
// type of the files below.
func PackageAbove(file string) (NodePackage, bool) {
	for folder := range upwards(filepath.Dir(file)) {
		if found, ok := readPackage(folder); ok && found.Name != "" {
			return found, true
		}
	}
	return NodePackage{}, false
}

// upwards yields a folder and all folders above it.
func upwards(folder string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(folder) && folder != filepath.Dir(folder) {
			folder = filepath.Dir(folder)
		}
	}
}

// readPackage reads the package.json of a folder.
func readPackage(folder string) (NodePackage, bool) {
	found := NodePackage{Folder: folder}
	text := FileBeginning(filepath.Join(folder, "package.json"), 1<<20)
	if !json.Valid(text) {
		return NodePackage{}, false
	}
	_ = json.Unmarshal(text, &found) // a field of a type that npm does not use leaves the others
	var one struct {
		Bin string `json:"bin"`
	}
	if json.Unmarshal(text, &one) == nil && one.Bin != "" {
		found.Programs = map[string]string{path.Base(found.Name): one.Bin}
	}
	return found, true
}

// InstalledPackage finds what npx runs for a name: the package in a node_modules from the server's folder upwards, or
// the newest one in npx's cache.
func InstalledPackage(name, folder string, environ []string) (NodePackage, bool) {
	if folder, err := filepath.Abs(folder); err == nil {
		if found, ok := Dependency(folder, name); ok {
			return found, true
		}
	}
	folders, _ := filepath.Glob(filepath.Join(npmCache(environ), "_npx", "*", "node_modules", filepath.FromSlash(name)))
	var newest string
	var at time.Time
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.ModTime().After(at) {
			newest, at = folder, info.ModTime()
		}
	}
	if newest == "" {
		return NodePackage{}, false
	}
	return readPackage(newest)
}

// npmCache returns the folder of npm's cache and logs.
func npmCache(environ []string) string {
	if cache, set := Variable(environ, "npm_config_cache"); set {
		return cache
	}
	if local, set := Variable(environ, "LOCALAPPDATA"); set && runtime.GOOS == "windows" {
		return filepath.Join(local, "npm-cache")
	}
	return filepath.Join(homeFolder(environ), ".npm")
}

// homeFolder returns the home folder of an environment; empty if it names none.
func homeFolder(environ []string) string {
	if profile, set := Variable(environ, "USERPROFILE"); set && runtime.GOOS == "windows" {
		return profile
	}
	home, _ := Variable(environ, "HOME")
	return home
}

// Dependency finds a package as Node does: in node_modules of folder and of those above it.
func Dependency(folder, name string) (NodePackage, bool) {
	for above := range upwards(folder) {
		if found, ok := readPackage(filepath.Join(above, "node_modules", filepath.FromSlash(name))); ok {
			return found, true
		}
	}
	return NodePackage{}, false
}

// NodeOf returns the node that a command line runs: its own, or the one in PATH.
func NodeOf(command string, args []string) string {
	if command, _ := Unwrapped(command, args); BaseName(command) == "node" {
		return command
	}
	return "node"
}

// IsNodeShim reports whether a file is the cmd script that npm installs on Windows to start a program.
func IsNodeShim(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	if extension != ".cmd" && extension != ".bat" {
		return false
	}
	return bytes.Contains(bytes.ToLower(FileBeginning(path, 4<<10)), []byte("node.exe"))
}
