//go:build unix

package stdio

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is a process group; its number is that of its first process. Processes that have left the group are found by
// their mark (see descendants).
type group struct {
	id   int
	mark string
}

// startGroup starts a program in a group of its own.
func startGroup(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	mark, err := descendants.start(cmd)
	if err != nil {
		return group{}, err
	}
	return group{cmd.Process.Pid, mark}, nil
}

// waited notes that the first process has ended and been waited for.
func (g group) waited() { descendants.ended(g.id) }

// Terminate asks every process of the group to end.
func (g group) Terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

// Signal sends a signal to every process of the group.
func (g group) Signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.id, number)
	}
}

// Kill kills every process of the group, and those that have left it.
func (g group) Kill() {
	descendants.kill(g.mark, g.id) // while it is known whose children they are
	_ = syscall.Kill(-g.id, syscall.SIGKILL)
	descendants.kill(g.mark, g.id)
}

// release ends the processes that are left when the first one has ended, and gives up the group. It returns the names
// of those that it found, and of those that cannot be ended.
func (g group) release(ctx context.Context) (found, left []string) {
	defer descendants.release(g.mark)
	return descendants.sweep(ctx, g.mark, g.id)
}

// leave gives up the group without ending the processes that are left of it.
func (g group) leave() { descendants.release(g.mark) }

// signalName names the signal that ended a process, empty where none did.
func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	name := status.Signal().String()
	if status.CoreDump() {
		name += " (core dumped)"
	}
	return name
}

// ExitCode returns the exit code of a process as a shell reports it: its exit status, or 128 plus the number of the
// signal that ended it.
func ExitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// PipeState returns the state of what in reads from, which is known only for pipes, sockets and terminals.
func PipeState(in io.Reader) (state pipeFacts) {
	file, ok := in.(*os.File)
	if !ok {
		return state
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return state
	}
	polled := []unix.PollFd{{Events: unix.POLLIN | pollHangup}}
	// Control lets the file stay as it is, which Fd does not.
	err = conn.Control(func(fd uintptr) {
		polled[0].Fd = int32(fd)
		_, _ = unix.Poll(polled, 0) // an error leaves no event
	})
	if err != nil {
		return state
	}
	state.HungUp = polled[0].Revents&(pollHangup|unix.POLLHUP) != 0
	state.readable = polled[0].Revents&unix.POLLIN != 0
	return state
}
