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

// births notes the start of each process of a tree, and of the group that its first process leads.
func births(pid int) []birth {
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
	var found []birth
	for one, stat := range stats {
		if stat.State != "Z" && belongs(one) {
			found = append(found, birth{one, stat.Started})
		}
	}
	return found
}

// maxAncestors bounds the ancestors that are looked at: the list of processes is not of one moment.
const maxAncestors = 64

// groupMembers returns the living processes of a process group.
func groupMembers(group int) []birth {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) { // which is the usual case, and saves a look at all processes
		return nil
	}
	var members []birth
	for pid, stat := range procs.All() {
		if stat.Group == group && stat.State != "Z" {
			members = append(members, birth{pid, stat.Started})
		}
	}
	return members
}

// alive reports whether the process still is the same one, and runs.
func (b birth) alive() bool {
	stat, ok := procs.ReadStat(b.pid)
	return ok && stat.Started == b.started && stat.State != "Z"
}

// process is what can be told of a living process.
func (b birth) process() procs.Process {
	return procs.Process{PID: b.pid, Command: procs.Command(b.pid)}
}

// kill ends the process. FindProcess holds on to it by a descriptor, so that its
// number cannot pass to another between the question and the signal.
func (b birth) kill() {
	process, err := os.FindProcess(b.pid)
	if err != nil {
		return
	}
	defer func() { _ = process.Release() }()
	if b.alive() {
		_ = process.Kill()
	}
}

// pipesOf are the pipes that a process has as its stdout and stderr, by their names in /proc ("pipe:[4026]").
func pipesOf(pid int) map[string]string {
	pipes := make(map[string]string)
	for name, fd := range map[string]string{"stdout": "fd/1", "stderr": "fd/2"} {
		if target, err := os.Readlink(procs.Path(pid, fd)); err == nil && strings.HasPrefix(target, "pipe:") {
			pipes[target] = name
		}
	}
	return pipes
}

// holds says which of pipes a process has open.
func holds(pid int, pipes map[string]string) []string {
	var held []string
	for target := range procs.OpenFiles(pid) {
		if name := pipes[target]; name != "" && !slices.Contains(held, name) {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return held
}

// holders returns the processes, other than this one, that have one of pipes open.
func holders(pipes map[string]string) []birth {
	if len(pipes) == 0 {
		return nil
	}
	var found []birth
	for pid, stat := range procs.All() {
		if pid != os.Getpid() && len(holds(pid, pipes)) > 0 {
			found = append(found, birth{pid, stat.Started})
		}
	}
	return found
}
