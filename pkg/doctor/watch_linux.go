package doctor

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"toolx/pkg/procs"
)

// processTree returns the descendants of a process and the members of its process group.
func processTree(pid int) []processID {
	stats := maps.Collect(procs.All())
	belongs := func(one int) bool {
		for range maxAncestors {
			if one == pid || stats[one].Group == pid {
				return true
			}
			one = stats[one].Parent
		}
		return false
	}
	var found []processID
	for one, stat := range stats {
		if stat.State != "Z" && belongs(one) {
			found = append(found, processID{one, stat.Started})
		}
	}
	return found
}

// maxAncestors limits how many ancestors are followed, because the process list may be inconsistent.
const maxAncestors = 64

// groupMembers returns the living processes of a process group.
func groupMembers(group int) []processID {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) { // the usual case, without reading all processes
		return nil
	}
	var members []processID
	for pid, stat := range procs.All() {
		if stat.Group == group && stat.State != "Z" {
			members = append(members, processID{pid, stat.Started})
		}
	}
	return members
}

// alive reports whether the process still runs.
func (b processID) alive() bool {
	stat, ok := procs.ReadStat(b.pid)
	return ok && stat.Started == b.started && stat.State != "Z"
}

// process describes a running process.
func (b processID) process() procs.Process {
	return procs.Process{PID: b.pid, Command: procs.Command(b.pid)}
}

// kill kills the process. FindProcess keeps a descriptor, so that the pid cannot be reused between the check and the
// signal.
func (b processID) kill() {
	process, err := os.FindProcess(b.pid)
	if err != nil {
		return
	}
	defer func() { _ = process.Release() }()
	if b.alive() {
		_ = process.Kill()
	}
}

// pipesOf returns the pipes of a process's stdout and stderr, by their names in /proc ("pipe:[4026]").
func pipesOf(pid int) map[string]string {
	pipes := make(map[string]string)
	for name, fd := range map[string]string{"stdout": "fd/1", "stderr": "fd/2"} {
		if target, err := os.Readlink(procs.Path(pid, fd)); err == nil && strings.HasPrefix(target, "pipe:") {
			pipes[target] = name
		}
	}
	return pipes
}

// openPipes returns the names of the pipes that a process has open.
func openPipes(pid int, pipes map[string]string) []string {
	var held []string
	for target := range procs.OpenFiles(pid) {
		if name := pipes[target]; name != "" && !slices.Contains(held, name) {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return held
}

// pipeUsers returns the other processes that have one of pipes open.
func pipeUsers(pipes map[string]string) []processID {
	if len(pipes) == 0 {
		return nil
	}
	var found []processID
	for pid, stat := range procs.All() {
		if pid != os.Getpid() && len(openPipes(pid, pipes)) > 0 {
			found = append(found, processID{pid, stat.Started})
		}
	}
	return found
}
