package servers

import (
	"bytes"
	"os"
	"strings"

	"toolx/pkg/procs"
)

// treeOf returns a process and its descendants.
func treeOf(pid int) []treeProcess {
	return processesBelow(nil, pid, 0)
}

func processesBelow(tree []treeProcess, pid, parent int) []treeProcess {
	command, err := os.ReadFile(procs.Path(pid, "cmdline"))
	if err != nil {
		return tree // it has just ended
	}
	environ, _ := os.ReadFile(procs.Path(pid, "environ")) // another user's is not shown
	tree = append(tree, treeProcess{
		pid: pid, parent: parent, command: strings.Split(strings.TrimRight(string(command), "\x00 "), "\x00"),
		installs: installs(environ),
	})
	for _, child := range childrenOf(pid) {
		tree = processesBelow(tree, child, pid)
	}
	return tree
}

// installs reports whether a process runs in an environment that package managers of npm give to scripts which belong
// to the installation of a package.
func installs(environ []byte) bool {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if event, ok := bytes.CutPrefix(entry, []byte("npm_lifecycle_event=")); ok {
			switch string(event) {
			case "preinstall", "install", "postinstall", "prepare":
				return true
			}
		}
	}
	return false
}
