// Package exit has toolx's exit codes, and the errors that carry them.
package exit

import (
	"cmp"
	"errors"
	"fmt"

	"toolx/pkg/console"
	"toolx/pkg/fault"
)

// The exit codes: the promise to scripts (docs/exit-codes.md).
const (
	exitOK         = 0
	exitUnforeseen = 1
	exitUsage      = 2
	exitAuth       = 3
	exitConnect    = 4
	exitTool       = 5
	exitProtocol   = 6
	exitTimeout    = 124
	Interrupted    = 130
)

// CodeOf returns the exit code for an error. Nothing else maps errors to exit codes.
func CodeOf(err error) int {
	if err == nil || console.IsBrokenPipe(err) {
		return exitOK
	}
	var status *Status
	if errors.As(err, &status) {
		return status.Code
	}
	for _, known := range Kinds {
		if known.Kind == fault.KindOf(err) {
			return known.ExitCode
		}
	}
	return exitUnforeseen
}

// Failure is an error with a kind, and with a hint if hint is not empty.
type Failure struct {
	error
	kind fault.Kind
	hint string
}

// Fail returns err with a kind, and with a hint if hint is not empty.
func Fail(err error, kind fault.Kind, hint string) error { return &Failure{err, kind, hint} }

func (e *Failure) Unwrap() error { return e.error }

// Kind implements the interface that fault.KindOf looks for.
func (e *Failure) Kind() fault.Kind { return e.kind }

// Hint implements the interface that fault.HintOf looks for.
func (e *Failure) Hint() string { return cmp.Or(e.hint, fault.HintOf(e.error)) }

// Usage turns an error from a package without kinds into a usage error.
func Usage(err error) error { return Fail(err, fault.KindUsage, "") }

// Status ends toolx with an exit code and no message: that of a server, or of a mock that is set to crash.
type Status struct{ Code int }

func (e *Status) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// ReportedError is an error that was already reported to the user, so it only sets the exit code.
type ReportedError struct{ error }

// Reported marks an error as already reported to the user.
func Reported(err error) error { return &ReportedError{err} }

func (e *ReportedError) Unwrap() error { return e.error }
