package diagnose

import (
	"bytes"
	"os"

	"toolx/pkg/procs"
)

// treeOf returns a process and its descendants.
func treeOf(pid int) []treeProcess {
	var tree []treeProcess
	for _, one := range procs.Tree(pid) {
		environ, _ := os.ReadFile(procs.Path(one.PID, "environ")) // another user's is not shown
		tree = append(tree, treeProcess{
			pid: one.PID, parent: one.Parent, command: one.Command, installs: installs(environ),
		})
	}
	return tree
}

// installs reports whether a process runs in the environment that npm package managers give to install scripts.
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
