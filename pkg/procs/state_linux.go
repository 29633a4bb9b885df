package procs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
)

// StateOf says what a process is doing.
func StateOf(pid int) *State {
	stat, ok := ReadStat(pid)
	if !ok {
		return nil
	}
	meaning := map[string]string{
		"R": "running", "S": "sleeping", "D": "waiting for a disk or a network file system",
		"T": "stopped by a signal", "t": "stopped by a debugger", "Z": "ended, not yet collected", "I": "idle",
	}[stat.State]
	state := &State{State: fmt.Sprintf("%s (%s)", stat.State, cmp.Or(meaning, "unknown"))}
	stdin, err := os.Readlink(Path(pid, "fd/0"))
	if now, lives := ReadStat(pid); lives && now.State != "Z" { // what has ended has no stdin either
		state.Deaf = errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(stdin, "pipe:")
	}
	if wait, err := os.ReadFile(Path(pid, "wchan")); err == nil && string(wait) != "0" {
		state.Wait = string(wait)
	}
	tree := Tree(pid)
	owners := opened(tree)
	state.Listening = sockets(tree, owners, listening)
	state.Connecting, state.Connected = sockets(tree, owners, connecting), sockets(tree, owners, connected)
	state.Log, state.Runs, state.Queued = openLog(owners), helper(tree), Queued(tree)
	for _, process := range tree {
		stat, _ := ReadStat(process.PID)
		state.Used += stat.Used
	}
	return state
}

// helper returns the command of the innermost process of a tree that has another stdin than the first; empty if there
// is none. esbuild, which compiles for tsx, is in every such server.
func helper(tree []Process) string {
	for _, process := range slices.Backward(tree) {
		if name := cmdline.BaseName(process.Command[0]); !process.Stdin && name != "esbuild" {
			return strings.Join(append([]string{name}, process.Command[1:]...), " ")
		}
	}
	return ""
}

// openLog returns a log among what processes have open; empty if there is none.
func openLog(owners map[string]int) string {
	for _, path := range slices.Sorted(maps.Keys(owners)) {
		if strings.HasSuffix(path, ".log") && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}
