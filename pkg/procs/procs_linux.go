package procs

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of processor time in /proc: USER_HZ, which is 100 on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// Tree returns a process and all that descend from it, parents before their children; nil if it is gone.
func Tree(pid int) []Process {
	children := make(map[int][]int)
	for child, stat := range All() {
		children[stat.Parent] = append(children[stat.Parent], child)
	}
	var tree []Process
	parents := map[int]int{pid: 0}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		one := queue[0]
		command := Command(one)
		if command == nil {
			continue
		}
		tree = append(tree, Process{
			PID: one, Parent: parents[one], Command: command,
			Stdin: shareFile(one, pid, "fd/0"), Stdout: shareFile(one, pid, "fd/1"),
		})
		for _, child := range children[one] {
			parents[child] = one
			queue = append(queue, child)
		}
	}
	return tree
}

// shareFile reports whether two processes have the same file open, by its name in /proc.
func shareFile(a, b int, name string) bool {
	one, err := os.Readlink(Path(a, name))
	other, _ := os.Readlink(Path(b, name)) // empty if it is gone
	return err == nil && one == other
}

// Command returns the arguments of a process, the program first; nil if it has ended. Programs that rename themselves,
// such as npm, leave spaces or zeros after their name.
func Command(pid int) []string {
	text, _ := os.ReadFile(Path(pid, "cmdline"))
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00 "), "\x00")
}

// Stat is what toolx reads of /proc/PID/stat (man 5 proc).
type Stat struct {
	State         string // a letter: "S" sleeps, "Z" has ended and is not yet collected
	Parent, Group int
	Used          time.Duration // of processors, with that of children that have ended
	Started       uint64        // ticks of the clock since the system started
}

// ReadStat reads a process's stat. The name in it is in parentheses and may hold any character; fields are counted from
// its end.
func ReadStat(pid int) (Stat, bool) {
	text, err := os.ReadFile(Path(pid, "stat"))
	if err != nil {
		return Stat{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return Stat{}, false
	}
	stat := Stat{State: fields[0]}
	stat.Parent, _ = strconv.Atoi(fields[1])
	stat.Group, _ = strconv.Atoi(fields[2])
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		ticks, _ := strconv.ParseInt(field, 10, 64)
		stat.Used += time.Duration(ticks) * clockTick
	}
	stat.Started, _ = strconv.ParseUint(fields[19], 10, 64)
	return stat, true
}

// Queued returns how long the processes of a tree that share the first one's stdin have been ready to run without a
// processor to run on (sched-stats.rst of the kernel's documentation: the second figure of /proc/PID/schedstat, that of
// the main thread); zero where the kernel does not count it. A wrapper and the server that it starts wait one after the
// other; a server's workers have another stdin, and wait for each other.
func Queued(tree []Process) (queued time.Duration) {
	for _, process := range tree {
		if !process.Stdin {
			continue
		}
		text, _ := os.ReadFile(Path(process.PID, "schedstat")) // empty if it is gone
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			queued += time.Duration(waited)
		}
	}
	return queued
}

// Running returns how many threads of all processes run, or are ready to, at this moment, without the one that asks;
// zero where the system does not say.
func Running() int {
	text, _ := os.ReadFile("/proc/loadavg") // "0.20 0.18 0.12 1/80 11206" (man 5 proc_loadavg)
	running := 0
	if fields := strings.Fields(string(text)); len(fields) > 3 {
		ready, _, _ := strings.Cut(fields[3], "/")
		running, _ = strconv.Atoi(ready)
	}
	return max(0, running-1)
}

// Locking reports whether a process of a tree has locked a file so that no other process can (man 5 proc_locks).
func Locking(tree []Process) bool {
	locks, _ := os.ReadFile("/proc/locks") // of which "1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF" is a line
	for line := range strings.Lines(string(locks)) {
		_, owner, writes := strings.Cut(line, " WRITE ")
		pid, _, _ := strings.Cut(owner, " ")
		if writes && slices.ContainsFunc(tree, func(one Process) bool { return strconv.Itoa(one.PID) == pid }) {
			return true
		}
	}
	return false
}

// Path returns the path of a file about a process: Path(17, "stat").
func Path(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// All yields the processes of the system, by their numbers.
func All() iter.Seq2[int, Stat] {
	return func(yield func(int, Stat) bool) {
		folders, _ := filepath.Glob("/proc/[0-9]*")
		for _, folder := range folders {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			if stat, ok := ReadStat(pid); ok && !yield(pid, stat) {
				return
			}
		}
	}
}

// Memory returns how much memory a process and its descendants use, in bytes; zero if they are gone.
func Memory(pid int) (bytes int64) {
	for _, process := range Tree(pid) {
		statm, _ := os.ReadFile(Path(process.PID, "statm")) // empty if it is gone
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			bytes += pages * int64(os.Getpagesize())
		}
	}
	return bytes
}

// OpenFiles returns the targets of the descriptors of a process; none if that is not permitted.
func OpenFiles(pid int) map[string]bool {
	files := make(map[string]bool)
	entries, _ := os.ReadDir(Path(pid, "fd"))
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join(Path(pid, "fd"), entry.Name())); err == nil {
			files[target] = true
		}
	}
	return files
}
