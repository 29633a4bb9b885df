// Package factory makes the dependencies of commands. A command's constructor takes a Factory and puts what the command
// needs into its options; no other code uses the Factory.
package factory

import (
	"context"
	"sync/atomic"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/tui"
)

// Factory has the dependencies of commands, each with one job.
type Factory struct {
	Out       *streams.Streams   // writes to stdout, stderr and the log
	Flags     *cli.Flags         // the flags of every command
	Line      *cli.CommandLine   // the command line as typed
	Bus       *exec.Bus          // carries events
	Keyboard  *person.Keyboard   // asks the user at the terminal
	Consent   *person.Consent    // reads the config, and asks for consent to it
	Logins    *person.Logins     // puts access tokens on requests
	Tools     *toolset.Opener    // opens servers and tools
	Printer   *request.Printer   // prints results
	Requests  *request.Sender    // sends requests and prints the responses
	Corrector *correct.Corrector // corrects wrong command lines
	// ShowTUI shows the terminal interface; it is tui.Run.
	ShowTUI func(context.Context, tui.Options) error
	// PassSignals reports whether signals are not for toolx: the proxy passes them on to its server.
	PassSignals *atomic.Bool
}

// New returns the Factory of a console.
func New(c *console.Console) *Factory {
	f := &Factory{
		Out: streams.New(c), Flags: &cli.Flags{}, Line: &cli.CommandLine{}, Bus: &exec.Bus{},
		ShowTUI: tui.Run, PassSignals: &atomic.Bool{},
	}
	f.Keyboard = &person.Keyboard{Out: f.Out, In: c.In}
	f.Consent = &person.Consent{
		Out: f.Out, Flags: f.Flags, Keyboard: f.Keyboard, Sources: person.NewSources(f.Keyboard, f.Flags),
	}
	f.Logins = &person.Logins{Out: f.Out, Consent: f.Consent}
	f.Tools = &toolset.Opener{
		Out: f.Out, Flags: f.Flags, Line: f.Line, Bus: f.Bus,
		Keyboard: f.Keyboard, Consent: f.Consent, Logins: f.Logins,
	}
	f.Printer = &request.Printer{Out: f.Out, Line: f.Line}
	f.Corrector = &correct.Corrector{Out: f.Out, Line: f.Line, Tools: f.Tools}
	f.Requests = &request.Sender{Tools: f.Tools, Printer: f.Printer, Corrector: f.Corrector}
	return f
}
