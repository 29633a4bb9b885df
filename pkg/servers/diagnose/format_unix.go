//go:build unix

package diagnose

import "syscall"

const (
	errBadFormat = syscall.ENOEXEC

	badFormatHint = "a script needs a first line such as #!/usr/bin/env node, " +
		"and a program must be built for this system"
)
