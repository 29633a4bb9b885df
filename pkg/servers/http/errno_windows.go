package http

import "golang.org/x/sys/windows"

// What Windows says of connections. Package syscall has Unix's names here too, with numbers that no call
// returns.
const (
	errRefused = windows.WSAECONNREFUSED
	ErrReset   = windows.WSAECONNRESET
	errAborted = windows.WSAECONNABORTED
)
