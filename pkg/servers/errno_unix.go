//go:build unix

package servers

import "syscall"

// What the system says of connections.
const (
	errRefused = syscall.ECONNREFUSED
	errReset   = syscall.ECONNRESET
	errAborted = syscall.EPIPE
)
