//go:build unix

package servers

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group; its number is that of its first process.
type group struct{ id int }

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func newGroup(leader *os.Process) group { return group{leader.Pid} }

// terminate asks every process of the group to end.
func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

// signal sends a signal to every process of the group.
func (g group) signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.id, number)
	}
}

// kill ends every process of the group.
func (g group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

// release gives up what the group holds.
func (g group) release() {}

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

// exitCode is how a shell tells the end of a process: by its exit status, or by 128
// and the number of the signal that ended it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
