package tui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// Pool is what the interface asks of servers; *servers.Pool is one.
type Pool interface {
	// Open starts a server that does not run.
	Open(ctx context.Context, name string) (*servers.Session, error)
	// Stop ends a server; Open starts it anew.
	Stop(ctx context.Context, name string)
	// Session is a server's open session, nil where there is none.
	Session(name string) *servers.Session
}

// Options are what the interface works with.
type Options struct {
	In  io.Reader // a terminal
	Out io.Writer // a terminal

	Servers  []*config.Server
	Pool     Pool
	Executor *exec.Executor
	Bus      *exec.Bus
	// Local says that toolx's own tools are shown too.
	Local bool
	// History is the file of the execution log, empty where there is none.
	History string
	// Start is the tool to begin with, nil for none.
	Start *Start
	// Questions are what servers ask of the user; nil where they are not asked here.
	Questions *Questions
	// OpenPage starts a browser at an address that a server wants to be visited; nil
	// where the user opens it.
	OpenPage func(ctx context.Context, address string) error
	// Request gives the JSON-RPC request of a call.
	Request func(exec.Call) (json.RawMessage, error)
	// Examine asks the doctor about a server; nil where there is no doctor.
	Examine func(ctx context.Context, server string) (*doctor.Report, error)
	// Memory is what a process takes, in bytes; ok is false where that is not known.
	Memory func(pid int) (bytes int64, ok bool)
	// Hide masks secrets; nil shows everything.
	Hide func(string) string

	Color, ASCII bool
	Now          func() time.Time // the clock, in the zone of the times that are shown; nil: time.Now
}

// framesPerSecond bounds how often the screen is drawn.
const framesPerSecond = 30

// Run shows the interface until the user quits. The terminal is restored when it
// returns, whatever happened. The error is an *exec.InterruptedError where ctx
// ended first, a *PanicError where the interface itself went wrong.
func Run(ctx context.Context, options Options) error {
	inside, cancel := context.WithCancel(ctx)
	defer cancel()
	profile := profileOf(options.Out, os.Environ(), options.Color, terminfoColors)
	options.Color = profile > colorprofile.ASCII
	g := &guard{model: newModel(inside, options), end: cancel}
	stop := options.Bus.Subscribe(g.model.feed.take)
	defer stop()
	program := tea.NewProgram(g,
		tea.WithContext(inside), tea.WithInput(options.In), tea.WithOutput(options.Out), tea.WithEnvironment(os.Environ()),
		tea.WithColorProfile(profile), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
	)
	_, err := program.Run()
	crash := g.crash.Load()
	switch {
	case crash != nil:
		return crash
	case errors.Is(err, tea.ErrProgramPanic): // outside of the model; Bubble Tea has printed the trace
		return &PanicError{Value: err}
	case ctx.Err() != nil, errors.Is(err, tea.ErrProgramKilled), errors.Is(err, tea.ErrInterrupted):
		return &exec.InterruptedError{}
	}
	return err
}
