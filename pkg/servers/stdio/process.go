package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// Process is a running server program with its three pipes. It has a process group of its own (on Windows: a Job
// Object), so that Ctrl-C reaches only toolx, and everything that the server started can be ended with it.
type Process struct {
	Cmd     *osexec.Cmd
	Stdin   *os.File
	Stdout  *os.File
	stderr  *os.File
	Group   group
	Started time.Time
	// Exited is closed when the program has ended and the fields below are set.
	Exited chan struct{}
	State  *os.ProcessState
	Lived  time.Duration
}

// Start starts the resolved server program. Its stderr goes to errTo; where that is nil, stderr is a pipe like
// the others. The error is of os/exec where the program could not be started at all.
func Start(r *config.Resolved, errTo io.Writer) (*Process, error) {
	var files pipes
	defer files.closeAll()
	childStdin, stdin := files.pipe()
	stdout, childStdout := files.pipe()
	var stderr *os.File
	if errTo == nil {
		stderr, errTo = files.pipe()
	}
	if files.err != nil {
		return nil, files.err
	}
	if stderr != nil {
		widen(stderr)
	}

	program, err := findProgram(r)
	if err != nil && !errors.Is(err, osexec.ErrDot) {
		return nil, err
	}
	cmd := osexec.Command(program, r.Args...)
	cmd.Err = nil // a relative program that the user named on purpose
	cmd.Args[0] = r.Command
	cmd.Dir, cmd.Env = r.Cwd, r.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childStdin, childStdout, errTo
	cmd.WaitDelay = DrainTime // for a writer that is no file
	started := time.Now()
	group, err := startGroup(cmd)
	if err != nil {
		return nil, err
	}
	p := &Process{
		Cmd: cmd, Stdin: stdin, Stdout: stdout, stderr: stderr,
		Group: group, Started: started, Exited: make(chan struct{}),
	}
	files.keep(stdin, stdout, stderr)
	go p.wait()
	return p, nil
}

// findProgram returns the path of the program that a command names, looked up in the PATH that the server itself
// will have: a config may set another one.
func findProgram(r *config.Resolved) (string, error) {
	if strings.ContainsRune(r.Command, filepath.Separator) || strings.Contains(r.Command, "/") {
		return osexec.LookPath(r.Command)
	}
	path, set := cmdline.Variable(r.Env, "PATH")
	if !set {
		return osexec.LookPath(r.Command)
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // the working directory: never searched without being named
		}
		if found, err := osexec.LookPath(filepath.Join(dir, r.Command)); err == nil {
			return found, nil
		}
	}
	return "", &osexec.Error{Name: r.Command, Err: osexec.ErrNotFound}
}

func (p *Process) wait() {
	// The error says no more than the state.
	_ = p.Cmd.Wait()
	p.Group.waited()
	p.State, p.Lived = p.Cmd.ProcessState, time.Since(p.Started)
	close(p.Exited)
}

// Release ends the processes that the program, which has ended, left behind, at once where ctx has ended, and reports
// them on the bus.
func (p *Process) Release(ctx context.Context, bus *exec.Bus, server string) {
	found, left := p.Group.release(ctx)
	if len(left) > 0 {
		bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Server: server, Text: fmt.Sprintf(
			"server %q has left processes that cannot be ended: %s", server, strings.Join(left, ", "))})
		return
	}
	if len(found) > 0 {
		bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Server: server, Text: fmt.Sprintf(
			"server %q had left processes, which were ended: %s", server, strings.Join(found, ", "))})
	}
}

// Ended reports whether the program has ended within d.
func (p *Process) Ended(d time.Duration) bool { return wire.WaitFor(context.Background(), p.Exited, d) }

// pipeFacts are what is known of the other side of a pipe without reading it.
type pipeFacts struct {
	HungUp   bool // no process is left to write to it, whether or not all has been read
	readable bool // a read would not wait
}

// pipes collects files to close unless they are kept.
type pipes struct {
	files []*os.File
	err   error
}

func (p *pipes) pipe() (r, w *os.File) {
	if p.err != nil {
		return nil, nil
	}
	r, w, p.err = os.Pipe()
	if p.err == nil {
		p.files = append(p.files, r, w)
	}
	return r, w
}

func (p *pipes) keep(files ...*os.File) {
	for _, file := range files {
		for i := range p.files {
			if p.files[i] == file {
				p.files[i] = nil
			}
		}
	}
}

func (p *pipes) closeAll() {
	for _, file := range p.files {
		if file != nil {
			_ = file.Close()
		}
	}
}
