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

// crashed writes the trace of a panic to a file, since nobody can read it on a terminal that was just restored. It
// returns any other error as it is.
func (o *output) crashed(err error, path string) error {
	var panicked *tui.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	text := o.mask.Text("toolx " + Version() + "\n" + panicked.Error() + "\n\n" + panicked.Stack)
	if path != "" && state.Replace(path, []byte(text)) == nil {
		return &crashError{PanicError: panicked, path: path}
	}
	return &crashError{PanicError: panicked, trace: strings.Split(strings.TrimSpace(panicked.Stack), "\n")}
}

func (e *crashError) Unwrap() error { return e.PanicError }

// Details returns the trace where no file has it.
func (e *crashError) Details() []string { return e.trace }

// Hint implements the interface that fault.HintOf looks for.
func (e *crashError) Hint() string {
	if e.path == "" {
		return "this is a mistake in toolx: please report it with the trace above"
	}
	return "this is a mistake in toolx: please report it with the trace in " + e.path
}
