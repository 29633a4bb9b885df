package doctor

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

// nodePackage is the npm package that a server's code belongs to.
type nodePackage struct {
	folder  string // that package.json is in
	Name    string `json:"name"`
	Version string `json:"version"`
	Engines struct {
		Node string `json:"node"`
	} `json:"engines"`
}

// nodePackage finds the package whose code node runs for this server; ok is false
// for a server of another kind, and where its files were not found.
func (e *Evidence) nodePackage() (found nodePackage, ok bool) {
	launch := e.local()
	if launch == nil {
		return nodePackage{}, false
	}
	command, args := unwrapped(launch.Command, launch.Args)
	if l, is := parseLauncher(command, args); is {
		if !l.npm || !l.fromRegistry() {
			return nodePackage{}, false
		}
		name, _ := l.split()
		return installedPackage(name, launch)
	}
	if script := nodeScript(command, args, launch); script != "" {
		return packageAbove(script)
	}
	return nodePackage{}, false
}

// nodeScript is the file that node runs: its first argument, or the command itself
// where that is a script for node.
func nodeScript(command string, args []string, launch *config.Resolved) string {
	if name := baseName(command); name == "node" || name == "nodejs" || name == "bun" || name == "tsx" {
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if i < 0 {
			return ""
		}
		return realPath(args[i], launch.Cwd)
	}
	found := lookupOf(launch).find(command)
	if first, ok := readShebang(found.path); ok && (first.program == "node" || baseName(first.interpreter) == "node") {
		return realPath(found.path, launch.Cwd)
	}
	return ""
}

// realPath is a path with its links followed, counted from folder; empty where
// nothing is there.
func realPath(path, folder string) string {
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

// packageAbove reads the nearest package.json with a name, from a file upwards:
// those without one only set the kind of modules below them.
func packageAbove(file string) (nodePackage, bool) {
	for folder := filepath.Dir(file); ; folder = filepath.Dir(folder) {
		if found, ok := readPackage(folder); ok && found.Name != "" {
			return found, true
		}
		if folder == filepath.Dir(folder) {
			return nodePackage{}, false
		}
	}
}

// readPackage reads the package.json of a folder.
func readPackage(folder string) (nodePackage, bool) {
	const largest = 1 << 20
	found := nodePackage{folder: folder}
	text := fileBeginning(filepath.Join(folder, "package.json"), largest)
	// A field of another type than npm's leaves the others.
	if len(text) == 0 || !json.Valid(text) {
		return nodePackage{}, false
	}
	_ = json.Unmarshal(text, &found)
	return found, true
}

// installedPackage finds what npx runs for a name: the package in a node_modules from
// the server's folder upwards, else the newest one in npx's cache.
func installedPackage(name string, launch *config.Resolved) (nodePackage, bool) {
	if folder, err := filepath.Abs(launch.Cwd); err == nil {
		if found, ok := dependency(folder, name); ok {
			return found, true
		}
	}
	cache, set := variable(launch.Env, "npm_config_cache")
	if !set {
		home, _ := variable(launch.Env, "HOME")
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
		return nodePackage{}, false
	}
	return readPackage(newest)
}

// dependency finds a package as node does: in the node_modules of folder and of those
// above it.
func dependency(folder, name string) (nodePackage, bool) {
	for {
		if found, ok := readPackage(filepath.Join(folder, "node_modules", filepath.FromSlash(name))); ok {
			return found, true
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return nodePackage{}, false
		}
		folder = parent
	}
}

// nodeVersion asks the node that runs the server for its version ("v22.1.0"), where
// the server's package says which it needs; else it is empty.
func nodeVersion(ctx context.Context, e *Evidence) string {
	found, ok := e.nodePackage()
	if !ok || found.Engines.Node == "" {
		return ""
	}
	bounded, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return strings.TrimSpace(printed(bounded, e.Server, &config.Resolved{
		Command: nodeOf(e.Launch), Args: []string{"-v"}, Env: e.Launch.Env, Cwd: e.Launch.Cwd,
	}))
}

// nodeOf is the node that a command line comes to: itself, or what PATH has.
func nodeOf(launch *config.Resolved) string {
	if command, _ := unwrapped(launch.Command, launch.Args); baseName(command) == "node" {
		return command
	}
	return "node"
}

// printed runs a program that prints one line and ends; it is empty where that came
// to nothing. To the wire such a program is a server with text on its stdout.
func printed(ctx context.Context, server *config.Server, launch *config.Resolved) string {
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
