package diagnose

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Fetches reports whether a command is a package manager or a container engine that downloads the server before it runs
// it.
func Fetches(command []string) bool {
	if len(command) == 0 {
		return false
	}
	name := programNameOf(command[0])
	return packageManager(name) || name == "docker" || name == "podman"
}

// packageManager reports whether a program downloads the server and then runs it as a child process.
func packageManager(name string) bool {
	switch name {
	case "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "pipx":
		return true
	}
	return false
}

// programNameOf returns the name of a program without its folder and extension.
func programNameOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ending := range []string{".exe", ".cmd", ".js", ".cjs", "-cli"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// launcherOf returns the package manager that a process runs, by its command line; empty if it is none. npx sets the
// title of its process to "npm exec …".
func launcherOf(command []string) string {
	if len(command) == 1 {
		command = strings.Fields(command[0])
	}
	if len(command) > 1 && programNameOf(command[0]) == "npm" && command[1] == "exec" {
		return "npx"
	}
	for i, word := range command {
		switch name := programNameOf(word); {
		case packageManager(name):
			return name
		case i > 0 || name != "node" && name != "sh" && name != "bash" && !strings.HasPrefix(name, "python"):
			return ""
		}
	}
	return ""
}

// treeProcess is a process of a server's tree.
type treeProcess struct {
	pid, parent int
	command     []string
	installs    bool // it runs a script that a package has for its installation
}

// parseProcesses reads lines with the pid, the parent and the command line of each process, and returns a process and
// its descendants.
func parseProcesses(list string, pid int) []treeProcess {
	byParent := make(map[int][]treeProcess)
	var tree []treeProcess
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		var one treeProcess
		one.pid, _ = strconv.Atoi(fields[0]) // ps writes numbers
		one.parent, _ = strconv.Atoi(fields[1])
		one.command = fields[2:]
		byParent[one.parent] = append(byParent[one.parent], one)
		if one.pid == pid {
			tree = append(tree, one)
		}
	}
	for i := 0; i < len(tree); i++ { // it grows
		tree = append(tree, byParent[tree[i].pid]...)
	}
	return tree
}

// fetchingIn returns the package manager in a process tree that is still downloading the server; empty if none is. It
// has no child processes then, except install scripts.
func fetchingIn(tree []treeProcess) string {
	for _, one := range tree {
		name := launcherOf(one.command)
		runs := func(child treeProcess) bool { return child.parent == one.pid && !child.installs }
		if name != "" && !slices.ContainsFunc(tree, runs) {
			return name
		}
	}
	return ""
}

// Fetching returns the package manager, such as npx, that is still downloading the server of a process; empty if none
// is, or if the system does not tell.
func Fetching(pid int) string { return fetchingIn(treeOf(pid)) }
