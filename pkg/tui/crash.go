package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/fault"
)

// PanicError reports that the interface panicked. The terminal is restored before the error is shown.
type PanicError struct {
	Value any    // the panic's value
	Stack string // of the goroutine that panicked, one call below the other
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the terminal interface crashed: %v", e.Value)
}

// Kind implements the interface that fault.KindOf looks for.
func (e *PanicError) Kind() fault.Kind { return fault.KindInternal }

// crashGuard wraps the model for Bubble Tea. It ends the program in order after any panic in the model or
// in a command. Bubble Tea itself prints the trace before it restores the terminal, which erases the
// trace, and then returns as if it had been killed.
type crashGuard struct {
	model *model
	end   context.CancelFunc // ends the program
	crash atomic.Pointer[PanicError]
}

// Init implements tea.Model.
func (g *crashGuard) Init() (cmd tea.Cmd) {
	defer g.catch()
	return g.command(g.model.Init())
}

// Update implements tea.Model.
func (g *crashGuard) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer g.catch()
	if g.crash.Load() != nil {
		return g, nil
	}
	return g, g.command(g.model.update(msg))
}

// View implements tea.Model.
func (g *crashGuard) View() (view tea.View) {
	defer g.catch()
	if g.crash.Load() != nil {
		return view
	}
	return g.model.View()
}

// command guards a command, and every command in its message.
func (g *crashGuard) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer g.catch()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.command(batch[i])
			}
		}
		return msg
	}
}

// catch keeps the first panic and ends the program. Call it with defer.
func (g *crashGuard) catch() {
	if value := recover(); value != nil {
		g.crash.CompareAndSwap(nil, &PanicError{Value: value, Stack: string(debug.Stack())})
		g.end()
	}
}
