package servers

import "syscall"

// dieWithParent makes the kernel end the server when toolx is killed and cannot
// do it itself.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
