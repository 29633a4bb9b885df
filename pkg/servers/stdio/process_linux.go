package stdio

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel end the server when toolx is killed and cannot do it itself.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// pollHangup is the event of a socket of which the other side has ended its half; pipes report it unasked.
const pollHangup = unix.POLLRDHUP
