package cmd

import (
	"errors"
	"strings"

	"toolx/pkg/state"
	"toolx/pkg/tui"
)

// crashError is a panic of the terminal interface, with where its trace is.
type crashError struct {
	*tui.PanicError
	path  string   // of the file with the trace; empty where it could not be written
	trace []string // lines, where there is no file
}

// crashed keeps the trace of a panic in a file, since nobody can read it on a terminal
// that was just restored; every other error stays as it is.
func (a *App) crashed(err error, path string) error {
	var panicked *tui.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	text := a.mask.Text("toolx " + Version() + "\n" + panicked.Error() + "\n\n" + panicked.Stack)
	if path != "" && state.Replace(path, []byte(text)) == nil {
		return &crashError{PanicError: panicked, path: path}
	}
	return &crashError{PanicError: panicked, trace: strings.Split(strings.TrimSpace(panicked.Stack), "\n")}
}

func (e *crashError) Unwrap() error { return e.PanicError }

// Details is the trace where it stands nowhere else.
func (e *crashError) Details() []string { return e.trace }

// Hint implements the interface that fault.HintOf looks for.
func (e *crashError) Hint() string {
	if e.path == "" {
		return "this is a mistake in toolx: please report it with the trace above"
	}
	return "this is a mistake in toolx: please report it with the trace in " + e.path
}
