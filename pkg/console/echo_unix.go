//go:build linux || darwin

package console

import "golang.org/x/sys/unix"

// withoutEcho switches the echo of a terminal off; read and write are the system's requests for its settings.
func withoutEcho(fd int, read, write uint) error {
	settings, err := unix.IoctlGetTermios(fd, read)
	if err != nil {
		return err
	}
	settings.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, write, settings)
}
