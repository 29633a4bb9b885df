//go:build unix

package servers

import "syscall"

// What the system says of connections and programs.
const (
	errRefused   = syscall.ECONNREFUSED
	errReset     = syscall.ECONNRESET
	errAborted   = syscall.EPIPE
	errBadFormat = syscall.ENOEXEC

	badFormatHint = "a script needs a first line such as #!/usr/bin/env node, " +
		"and a program must be built for this system"
)
