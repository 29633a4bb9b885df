//go:build unix && !linux

package stdio

import "syscall"

// dieWithParent does nothing where the kernel has no such service: a server sees
// its stdin close, which is how MCP tells it to end.
func dieWithParent(*syscall.SysProcAttr) {}

// pollHangup is empty where sockets report their end as pipes do.
const pollHangup = 0
