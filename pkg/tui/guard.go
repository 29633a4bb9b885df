package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/fault"
)

// PanicError says that the interface itself went wrong. The terminal was restored
// before anybody sees it.
type PanicError struct {
	Value any    // what it panicked with
	Stack string // of the goroutine that did, one call below the other
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the terminal interface crashed: %v", e.Value)
}

// Kind implements the interface that fault.KindOf looks for.
func (e *PanicError) Kind() fault.Kind { return fault.KindInternal }

// guard stands between Bubble Tea and the model. Whatever panics in the model or in a
// command ends the program in order. Bubble Tea's own way is to print the trace before
// it restores the terminal, which takes it away again, and to go on as if killed.
type guard struct {
	model *model
	end   context.CancelFunc // ends the program
	crash atomic.Pointer[PanicError]
}

// Init implements tea.Model.
func (g *guard) Init() (cmd tea.Cmd) {
	defer g.catch()
	return g.command(g.model.Init())
}

// Update implements tea.Model.
func (g *guard) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer g.catch()
	if g.crash.Load() != nil {
		return g, nil
	}
	return g, g.command(g.model.update(msg))
}

// View implements tea.Model.
func (g *guard) View() (view tea.View) {
	defer g.catch()
	if g.crash.Load() != nil {
		return view
	}
	return g.model.View()
}

// command is a command that may panic, and all that it leads to.
func (g *guard) command(cmd tea.Cmd) tea.Cmd {
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

// catch keeps the first panic, and ends the program. It is to be deferred itself.
func (g *guard) catch() {
	if value := recover(); value != nil {
		g.crash.CompareAndSwap(nil, &PanicError{Value: value, Stack: string(debug.Stack())})
		g.end()
	}
}
