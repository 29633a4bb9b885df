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
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/terminal"
)

// Pool is what the interface needs from the servers; *servers.Pool implements it.
type Pool interface {
	// Open starts a server that is not running.
	Open(ctx context.Context, name string) (*protocol.Session, error)
	// Stop stops a server; Open starts it again.
	Stop(ctx context.Context, name string)
	// Renew ends a server that is shared with other processes, for all of them; Open starts it again. The error is why
	// it could not be ended.
	Renew(ctx context.Context, name string) error
	// Session returns a server's open session, or nil.
	Session(name string) *protocol.Session
}

// Options configure the interface.
type Options struct {
	In  io.Reader // a terminal
	Out io.Writer // a terminal

	Servers  []*config.Server
	Pool     Pool
	Executor *exec.Executor
	Bus      *exec.Bus
	// Local reports whether toolx's own tools are shown too.
	Local bool
	// Config returns the config's name for the terminal's title; empty if there is none.
	Config func() string
	// Folder is where a copied command has to run; empty if any folder will do.
	Folder string
	// History is the path of the execution log, empty if there is none.
	History string
	// Program is the command line or the address of a server on the command line, whose name is AdHoc; both are empty
	// if there is none.
	Program, AdHoc string
	// Recorded has the events of a recording, which is shown instead of servers; nil if servers are.
	Recorded <-chan exec.Event
	// Start is the tool to begin with, or nil.
	Start *Start
	// Questions delivers the requests of servers to the user; nil if other code answers them.
	Questions *Questions
	// OpenPage opens the user's browser at an address that a server asks the user to visit; nil if the
	// user has to open it.
	OpenPage func(ctx context.Context, address string) error
	// Request returns the JSON-RPC request of a call.
	Request func(exec.Call) (json.RawMessage, error)
	// Examine runs the doctor on a server; nil if there is no doctor.
	Examine func(ctx context.Context, server string) (*doctor.Report, error)
	// Entries are the config entries of the servers; nil if the server is on the command line.
	Entries Entries
	// Sources watches the files that a server is made from; nil if none are watched.
	Sources func(server string) (Sources, error)
	// Develop reports whether the files of all servers are watched from the beginning.
	Develop bool
	// Fetching returns the package manager that is still fetching the server of a process, empty if none is. It is nil
	// if that cannot be found out.
	Fetching func(pid int) string
	// Memory returns the memory that a process and its descendants use, in bytes; zero if unknown.
	Memory func(pid int) int64
	// Hide masks secrets; nil shows everything.
	Hide func(string) string

	Color, ASCII bool
	Now          func() time.Time // the clock, in the time zone of displayed times; nil: time.Now
}

// framesPerSecond bounds how often the screen is drawn.
const framesPerSecond = 30

// Run shows the interface until the user quits. It restores the terminal before it returns, whatever happened. The
// error is an *exec.InterruptedError if ctx ended first, and a *PanicError if the interface panicked.
func Run(ctx context.Context, options Options) error {
	inside, cancel := context.WithCancel(ctx)
	defer cancel()
	profile := terminal.Profile(options.Out, os.Environ(), options.Color)
	options.Color = profile > colorprofile.ASCII
	g := &crashGuard{model: newModel(inside, options), end: cancel}
	if profile >= colorprofile.ANSI256 {
		g.model.theme.FixColors(true)
	}
	g.model.takeBackground(terminal.DarkBackground(os.Getenv))
	stop := options.Bus.Subscribe(g.model.feed.Take)
	defer stop()
	program := newProgram(inside, g, options, profile)
	defer terminal.RestoreAtCrash(program)()
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

// newProgram returns the program that shows a model on the terminal.
func newProgram(ctx context.Context, model tea.Model, options Options, profile colorprofile.Profile) *tea.Program {
	return tea.NewProgram(model,
		tea.WithContext(ctx), tea.WithInput(options.In), tea.WithOutput(options.Out),
		tea.WithEnvironment(os.Environ()), tea.WithColorProfile(profile),
		tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
	)
}
