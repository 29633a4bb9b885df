//go:build unix

package http

import "syscall"

// What the system says of connections.
const (
	errRefused = syscall.ECONNREFUSED
	ErrReset   = syscall.ECONNRESET
	errAborted = syscall.EPIPE
)
