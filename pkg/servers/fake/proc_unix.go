//go:build unix

package fake

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// dieBy ends the process by a signal, named without its SIG. The runtime turns faults such as SIGSEGV into an exit, so
// a shell takes the process over first: exec gives every signal its default action back, and keeps the process id.
func (p *process) dieBy(signal string) {
	script := "ulimit -c 0; kill -" + strings.TrimPrefix(signal, "SIG") + " $$"
	err := syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
	p.say("fake: cannot die by SIG" + signal + ": " + err.Error())
	p.die(1)
}

// newSession takes the child out of our process group and session.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
