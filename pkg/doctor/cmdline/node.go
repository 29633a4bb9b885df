package cmdline

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// NodePackage is the npm package that a server's code belongs to.
type NodePackage struct {
	Folder  string // that package.json is in
	Name    string `json:"name"`
	Version string `json:"version"`
	Engines struct {
		Node string `json:"node"`
	} `json:"engines"`
}

// NodeScript is the file that node runs: its first argument, or the command itself
// where that is a script for node.
func NodeScript(command string, args []string, launch *config.Resolved) string {
	if name := BaseName(command); name == "node" || name == "nodejs" || name == "bun" || name == "tsx" {
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if i < 0 {
			return ""
		}
		return RealPath(args[i], launch.Cwd)
	}
	found := LookupOf(launch).Find(command)
	if first, ok := ReadShebang(found.Path); ok && (first.Program == "node" || BaseName(first.Interpreter) == "node") {
		return RealPath(found.Path, launch.Cwd)
	}
	return ""
}

// RealPath is a path with its links followed, counted from folder; empty where
// nothing is there.
func RealPath(path, folder string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	followed, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return followed
}

// PackageAbove reads the nearest package.json with a name, from a file upwards:
// those without one only set the kind of modules below them.
func PackageAbove(file string) (NodePackage, bool) {
	for folder := filepath.Dir(file); ; folder = filepath.Dir(folder) {
		if found, ok := readPackage(folder); ok && found.Name != "" {
			return found, true
		}
		if folder == filepath.Dir(folder) {
			return NodePackage{}, false
		}
	}
}

// readPackage reads the package.json of a folder.
func readPackage(folder string) (NodePackage, bool) {
	const largest = 1 << 20
	found := NodePackage{Folder: folder}
	text := FileBeginning(filepath.Join(folder, "package.json"), largest)
	// A field of another type than npm's leaves the others.
	if len(text) == 0 || !json.Valid(text) {
		return NodePackage{}, false
	}
	_ = json.Unmarshal(text, &found)
	return found, true
}

// InstalledPackage finds what npx runs for a name: the package in a node_modules from
// the server's folder upwards, else the newest one in npx's cache.
func InstalledPackage(name string, launch *config.Resolved) (NodePackage, bool) {
	if folder, err := filepath.Abs(launch.Cwd); err == nil {
		if found, ok := Dependency(folder, name); ok {
			return found, true
		}
	}
	cache, set := Variable(launch.Env, "npm_config_cache")
	if !set {
		home, _ := Variable(launch.Env, "HOME")
		cache = filepath.Join(home, ".npm")
	}
	folders, _ := filepath.Glob(filepath.Join(cache, "_npx", "*", "node_modules", filepath.FromSlash(name)))
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

// Dependency finds a package as node does: in the node_modules of folder and of those
// above it.
func Dependency(folder, name string) (NodePackage, bool) {
	for {
		if found, ok := readPackage(filepath.Join(folder, "node_modules", filepath.FromSlash(name))); ok {
			return found, true
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return NodePackage{}, false
		}
		folder = parent
	}
}

// NodeOf is the node that a command line comes to: itself, or what PATH has.
func NodeOf(launch *config.Resolved) string {
	if command, _ := Unwrapped(launch.Command, launch.Args); BaseName(command) == "node" {
		return command
	}
	return "node"
}

// Printed runs a program that prints one line and ends; it is empty where that came
// to nothing. To the wire such a program is a server with text on its stdout.
func Printed(ctx context.Context, server *config.Server, launch *config.Resolved) string {
	var (
		mu   sync.Mutex
		line string
	)
	bus := &exec.Bus{}
	bus.Subscribe(func(event exec.Event) {
		if text, is := event.(servers.PollutedLine); is {
			mu.Lock()
			defer mu.Unlock()
			if line == "" {
				line = string(text.Text)
			}
		}
	})
	wire, err := servers.Dial(server, launch, servers.WireOptions{Bus: bus})
	if err != nil {
		return ""
	}
	wire.Exited(ctx)
	wire.Close(ctx)
	mu.Lock()
	defer mu.Unlock()
	return line
}
