package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/doctor/evidence"
)

// clockTick is the unit of processor time in /proc: USER_HZ, which is 100 on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// sampleProcess measures the process and all that descend from it while they are left alone for d; nil if the process
// was gone before.
func sampleProcess(ctx context.Context, pid int, d time.Duration) *evidence.ProcessSample {
	used := func(tree []evidence.Process) (used time.Duration) {
		for _, process := range tree {
			stat, _ := readStat(process.PID)
			used += stat.used
		}
		return used
	}
	began := time.Now()
	first := used(processTree(pid))
	quiet(ctx, d/2)
	middle := used(processTree(pid))
	quiet(ctx, d-time.Since(began))
	tree := processTree(pid)
	if len(tree) == 0 || ctx.Err() != nil {
		return nil
	}
	last := used(tree)
	return &evidence.ProcessSample{
		Over: time.Since(began), Processes: len(tree), RSS: memoryOf(tree),
		CPU: max(0, last-first), Settled: max(0, last-middle), Listening: sockets(tree, listening),
	}
}

// treeMemory returns how much memory a process and its descendants use; zero if they are gone.
func treeMemory(pid int) (bytes int64) { return memoryOf(processTree(pid)) }

// queuedTime returns how long a process and the descendants that share its stdin have been ready to run without a
// processor to run on (sched-stats.rst of the kernel's documentation: the second figure of /proc/PID/schedstat, that of
// the main thread); zero where the kernel does not count it. A wrapper and the server that it starts wait one after the
// other; a server's workers have another stdin, and wait for each other.
func queuedTime(pid int) (queued time.Duration) {
	for _, process := range processTree(pid) {
		if !process.Stdin {
			continue
		}
		text, _ := os.ReadFile(procPath(process.PID, "schedstat")) // empty if it is gone
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			queued += time.Duration(waited)
		}
	}
	return queued
}

// memoryOf returns how many bytes of memory the processes of a tree use.
func memoryOf(tree []evidence.Process) (bytes int64) {
	for _, process := range tree {
		statm, _ := os.ReadFile(procPath(process.PID, "statm")) // empty if it is gone
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			bytes += pages * int64(os.Getpagesize())
		}
	}
	return bytes
}

// procStat is what toolx reads of /proc/PID/stat (man 5 proc).
type procStat struct {
	state         string
	parent, group int
	used          time.Duration
	started       uint64
}

// readStat reads a process's stat. The name in it is in parentheses and may hold any character; fields are counted from
// its end.
func readStat(pid int) (procStat, bool) {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return procStat{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return procStat{}, false
	}
	stat := procStat{state: fields[0]}
	stat.parent, _ = strconv.Atoi(fields[1])
	stat.group, _ = strconv.Atoi(fields[2])
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		ticks, _ := strconv.ParseInt(field, 10, 64)
		stat.used += time.Duration(ticks) * clockTick
	}
	stat.started, _ = strconv.ParseUint(fields[19], 10, 64)
	return stat, true
}

func procPath(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// stateOf says what a process is doing.
func stateOf(pid int) *evidence.ProcessState {
	stat, ok := readStat(pid)
	if !ok {
		return nil
	}
	meaning := map[string]string{
		"R": "running", "S": "sleeping", "D": "waiting for a disk or a network file system",
		"T": "stopped by a signal", "t": "stopped by a debugger", "Z": "ended, not yet collected", "I": "idle",
	}[stat.state]
	state := &evidence.ProcessState{State: fmt.Sprintf("%s (%s)", stat.state, cmp.Or(meaning, "unknown"))}
	stdin, err := os.Readlink(procPath(pid, "fd/0"))
	if now, lives := readStat(pid); lives && now.state != "Z" { // what has ended has no stdin either
		state.Deaf = errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(stdin, "pipe:")
	}
	if wait, err := os.ReadFile(procPath(pid, "wchan")); err == nil && string(wait) != "0" {
		state.Wait = string(wait)
	}
	tree := processTree(pid)
	state.Listening, state.Connecting = sockets(tree, listening), sockets(tree, connecting)
	state.Log, state.Runs = openLog(tree), helper(tree)
	return state
}

// helper returns the command of the innermost process of a tree that has another stdin than the first; empty if there
// is none. esbuild, which compiles for tsx, is in every such server.
func helper(tree []evidence.Process) string {
	for _, process := range slices.Backward(tree) {
		if name := cmdline.BaseName(process.Command[0]); !process.Stdin && name != "esbuild" {
			return strings.Join(append([]string{name}, process.Command[1:]...), " ")
		}
	}
	return ""
}

// openLog returns a log that one of the processes has open; empty if none has.
func openLog(tree []evidence.Process) string {
	for _, process := range tree {
		opened, _ := os.ReadDir(procPath(process.PID, "fd")) // empty if it is gone
		for _, file := range opened {
			path, err := os.Readlink(filepath.Join(procPath(process.PID, "fd"), file.Name()))
			if err == nil && strings.HasSuffix(path, ".log") && filepath.IsAbs(path) {
				return path
			}
		}
	}
	return ""
}

// births notes the start of each process of a tree, and of the group that its first process leads.
func births(pid int) []birth {
	var found []birth
	for _, process := range processTree(pid) {
		if stat, ok := readStat(process.PID); ok {
			found = append(found, birth{process.PID, stat.started})
		}
	}
	for _, member := range groupMembers(pid) {
		if !slices.Contains(found, member) {
			found = append(found, member)
		}
	}
	return found
}

// groupMembers returns the living processes of a process group.
func groupMembers(group int) []birth {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) { // which is the usual case, and saves a look at all processes
		return nil
	}
	var members []birth
	for pid, stat := range allProcesses() {
		if stat.group == group && stat.state != "Z" {
			members = append(members, birth{pid, stat.started})
		}
	}
	return members
}

// alive reports whether the process still is the same one, and runs.
func (b birth) alive() bool {
	stat, ok := readStat(b.pid)
	return ok && stat.started == b.started && stat.state != "Z"
}

// process is what can be told of a living process.
func (b birth) process() evidence.Process {
	command, _ := os.ReadFile(procPath(b.pid, "cmdline")) // gone: nothing to tell
	return evidence.Process{PID: b.pid, Command: splitArguments(command)}
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
		if target, err := os.Readlink(procPath(pid, fd)); err == nil && strings.HasPrefix(target, "pipe:") {
			pipes[target] = name
		}
	}
	return pipes
}

// holds says which of pipes a process has open.
func holds(pid int, pipes map[string]string) []string {
	var held []string
	for target := range openFiles(pid) {
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
	for pid, stat := range allProcesses() {
		if pid != os.Getpid() && len(holds(pid, pipes)) > 0 {
			found = append(found, birth{pid, stat.started})
		}
	}
	return found
}

// openFiles are what the descriptors of a process lead to; none where that may not be seen.
func openFiles(pid int) map[string]bool {
	files := make(map[string]bool)
	entries, _ := os.ReadDir(procPath(pid, "fd"))
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join(procPath(pid, "fd"), entry.Name())); err == nil {
			files[target] = true
		}
	}
	return files
}

// socketState is a state of a TCP socket as /proc/net/tcp has it (include/net/tcp_states.h of the kernel).
type socketState string

const (
	listening  socketState = "0A"
	connecting socketState = "02" // the other side has not answered yet
)

// sockets are the TCP sockets of the processes of a tree in a state: the addresses on which they listen, or those to
// which they connect, each with the process that does.
func sockets(tree []evidence.Process, state socketState) []string {
	if len(tree) == 0 {
		return nil
	}
	owners := make(map[string]int) // "socket:[4026]"
	for _, process := range tree {
		for target := range openFiles(process.PID) {
			if _, known := owners[target]; !known && strings.HasPrefix(target, "socket:") {
				owners[target] = process.PID
			}
		}
	}
	var found []string
	for address, inode := range socketsNear(tree[0].PID, state) {
		if owner := owners["socket:["+inode+"]"]; owner != 0 {
			found = append(found, fmt.Sprintf("%s (pid %d)", address, owner))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// socketsNear are the TCP sockets in the network of a process that are in a state, and their inodes.
func socketsNear(pid int, state socketState) iter.Seq2[netip.AddrPort, string] {
	return func(yield func(netip.AddrPort, string) bool) {
		for _, name := range []string{"net/tcp", "net/tcp6"} {
			table, _ := os.ReadFile(procPath(pid, name)) // a system without IPv6 has one of them
			for line := range strings.Lines(string(table)) {
				if address, inode, ok := socketOf(line, state); ok && !yield(address, inode) {
					return
				}
			}
		}
	}
}

// socketOf reads one line of /proc/net/tcp or tcp6; ok is false where it is no socket in that state.
func socketOf(text string, state socketState) (address netip.AddrPort, inode string, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 10 || fields[3] != string(state) {
		return netip.AddrPort{}, "", false
	}
	side := fields[1]
	if state == connecting {
		side = fields[2]
	}
	host, port, _ := strings.Cut(side, ":")
	raw, err := hex.DecodeString(host)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, "", false
	}
	for word := raw; len(word) > 0; word = word[4:] {
		// The kernel prints each word as a number in its own order of bytes.
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), fields[9], ok
}

// allProcesses yields the processes of the system, by their numbers.
func allProcesses() iter.Seq2[int, procStat] {
	return func(yield func(int, procStat) bool) {
		folders, _ := filepath.Glob("/proc/[0-9]*")
		for _, folder := range folders {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			if stat, ok := readStat(pid); ok && !yield(pid, stat) {
				return
			}
		}
	}
}
