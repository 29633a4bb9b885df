package stdio

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolx/pkg/procs"
)

// descendants tracks the descendants of the programs that toolx runs for servers. A process that leaves its group
// (setsid) and whose parent ends (a double fork) has no known owner. While such programs run, toolx therefore asks the
// kernel to make it the parent of orphans (PR_SET_CHILD_SUBREAPER), and an environment variable that they have
// inherited tells which server they belong to. One that has cleared its environment belongs to the last of the servers
// that run at a time: toolx's other programs have the variable too.
//
// The kernel has one such setting for a process, so this is a package variable.
var descendants tracker

type tracker struct {
	// mu is locked while a program is started, so that reap knows of it before it can end.
	mu      sync.Mutex
	waited  map[int]bool    // the programs that os/exec waits for
	started int             // those that have not been released
	living  map[string]bool // the marks of those that have not been swept
	stop    func()          // ends reaping
}

// markName is the variable that marks descendants. It has the marks of this toolx and of the ones around it,
// separated by commas.
const markName = "TOOLX_OFFSPRING"

// start starts a program and returns the mark that its descendants inherit. After each start, the caller calls ended
// when os/exec no longer waits, and then release.
func (f *tracker) start(cmd *exec.Cmd) (mark string, err error) {
	mark = rand.Text()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(slices.Clone(cmd.Env), markName+"="+strings.TrimPrefix(os.Getenv(markName)+","+mark, ","))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.started == 0 {
		f.adopt()
	}
	f.started++
	if err := cmd.Start(); err != nil {
		f.leave()
		return "", err
	}
	f.waited[cmd.Process.Pid] = true
	f.living[mark] = true
	return mark, nil
}

func (f *tracker) ended(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waited, pid)
}

func (f *tracker) release(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.living, mark)
	f.leave()
}

// adopt starts taking over orphans and reaping them.
func (f *tracker) adopt() {
	// An old kernel refuses: then orphans go to init, as usual.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	f.waited, f.living = make(map[int]bool), make(map[string]bool)
	_ = os.Setenv(markName, cmp.Or(os.Getenv(markName), "toolx")) // the name is valid
	children, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(children, syscall.SIGCHLD)
	go func() {
		for {
			select {
			case <-children:
				f.reap()
			case <-done:
				return
			}
		}
	}()
	f.stop = func() {
		signal.Stop(children)
		close(done)
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}

func (f *tracker) leave() {
	if f.started--; f.started == 0 {
		f.stop()
	}
}

// reap reaps orphans that were adopted. It leaves processes that os/exec waits for alone: the programs that are in
// waited, and those of other packages, which are in toolx's own group.
func (f *tracker) reap() {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := unix.Getpgrp()
	for _, pid := range childrenOf(os.Getpid()) {
		if !f.waited[pid] && pgrpOfZombie(pid) != 0 && pgrpOfZombie(pid) != own {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// attempts is how often in a row a search must find nothing to be believed: the kernel's list of children leaves some
// out where others end while it is read (proc(5)).
const attempts = 3

// find returns the living descendants of a program, without the program itself.
func (f *tracker) find(mark string, program int) (found []int) {
	for range attempts {
		if found = f.look(mark, program); len(found) > 0 {
			break
		}
	}
	return found
}

func (f *tracker) look(mark string, program int) []int {
	f.reap()
	f.mu.Lock() // no program is started meanwhile
	defer f.mu.Unlock()
	last := len(f.living) == 0 || len(f.living) == 1 && f.living[mark]
	var found []int
	for _, child := range childrenOf(os.Getpid()) {
		switch {
		case child == program:
			found = append(found, descendantsOf(child)...)
		case !f.waited[child] && (marked(child, mark) || last && cleared(child)):
			found = append(append(found, child), descendantsOf(child)...)
		}
	}
	return slices.DeleteFunc(found, func(pid int) bool { return pgrpOfZombie(pid) != 0 })
}

// kill kills a program's descendants without waiting for them to end. It searches several times: a process can change
// its parent during a search.
func (f *tracker) kill(mark string, program int) {
	for range attempts {
		for _, pid := range f.find(mark, program) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// How long the descendants of an ended program have to end after SIGTERM, and how long toolx waits for them after
// SIGKILL.
const (
	sweepGrace = 200 * time.Millisecond
	sweepTime  = 500 * time.Millisecond
	sweepPoll  = 2 * time.Millisecond
)

// sweep ends the descendants of a program that has itself ended, at once where ctx has ended. It returns the names and
// numbers of those that it found, and of those that cannot be ended.
func (f *tracker) sweep(ctx context.Context, mark string, program int) (found, left []string) {
	f.mu.Lock()
	delete(f.living, mark)
	f.mu.Unlock()
	pids := f.find(mark, program)
	if len(pids) == 0 {
		return nil, nil
	}
	found = namesOf(pids)
	until := time.Now().Add(sweepGrace)
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGTERM)
	}
	for len(pids) > 0 && ctx.Err() == nil && time.Now().Before(until) {
		time.Sleep(sweepPoll)
		pids = f.find(mark, program)
	}
	for until = time.Now().Add(sweepTime); len(pids) > 0 && time.Now().Before(until); pids = f.find(mark, program) {
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(sweepPoll)
	}
	return found, namesOf(pids)
}

// namesOf returns the names of processes with their numbers: "sleep (4711)".
func namesOf(pids []int) []string {
	var names []string
	for _, pid := range pids {
		name, _ := os.ReadFile(procs.Path(pid, "comm")) // gone: its number is left
		names = append(names, fmt.Sprintf("%s (%d)", strings.TrimSpace(string(name)), pid))
	}
	return names
}

// marked reports whether a process was started with a mark. The environment of another user's process cannot be read.
func marked(pid int, mark string) bool {
	environ, _ := os.ReadFile(procs.Path(pid, "environ"))
	return bytes.Contains(environ, []byte(mark))
}

// cleared reports whether a child of toolx has cleared its environment or does not show it. What toolx itself starts
// but for servers is in its own group.
func cleared(pid int) bool {
	group, err := unix.Getpgid(pid)
	return err == nil && group != unix.Getpgrp() && !marked(pid, markName)
}

// descendantsOf returns all descendants of a process.
func descendantsOf(pid int) []int {
	below := childrenOf(pid)
	for i := 0; i < len(below); i++ { // it grows
		below = append(below, childrenOf(below[i])...)
	}
	return below
}

// childrenOf returns the children of a process, including those that wait to be reaped.
func childrenOf(pid int) []int {
	tasks, _ := os.ReadDir(procs.Path(pid, "task")) // gone: it has none
	var children []int
	for _, task := range tasks {
		text, _ := os.ReadFile(procs.Path(pid, "task/"+task.Name()+"/children"))
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// pgrpOfZombie returns the process group of a process that waits to be reaped; zero for one that lives or has gone.
func pgrpOfZombie(pid int) int {
	if stat, ok := procs.ReadStat(pid); ok && stat.State == "Z" {
		return stat.Group
	}
	return 0
}
