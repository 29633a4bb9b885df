package diagnose

import "golang.org/x/sys/windows"

const (
	errBadFormat = windows.ERROR_BAD_EXE_FORMAT

	badFormatHint = "a program must be built for this system"
)
