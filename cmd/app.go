package cmd

import (
	"context"
	"sync/atomic"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/tui"
)

// App is the program: the parts that commands share, and the command that runs.
type App struct {
	out       *streams.Streams
	flags     *cli.Flags
	line      *commandLine
	bus       *exec.Bus
	keyboard  *person.Keyboard
	consent   *person.Consent
	logins    *person.Logins
	results   *results
	tools     *opener
	corrector *corrector
	// passesSignals says that a signal is not for toolx: the proxy passes it on to its server.
	passesSignals atomic.Bool
	// showTUI is tui.Run; tests replace it.
	showTUI func(context.Context, tui.Options) error
}

func newApp(c *console.Console) *App {
	a := &App{flags: &cli.Flags{}, line: &commandLine{}, bus: &exec.Bus{}, showTUI: tui.Run}
	a.out = streams.New(c)
	a.keyboard = &person.Keyboard{Out: a.out, In: c.In}
	a.consent = &person.Consent{
		Out: a.out, Flags: a.flags, Keyboard: a.keyboard, Sources: person.NewSources(a.keyboard, a.flags),
	}
	a.logins = &person.Logins{Out: a.out, Consent: a.consent}
	a.results = &results{out: a.out, line: a.line}
	a.tools = &opener{
		out: a.out, flags: a.flags, line: a.line, bus: a.bus,
		keyboard: a.keyboard, consent: a.consent, logins: a.logins,
	}
	a.corrector = &corrector{out: a.out, line: a.line, tools: a.tools}
	return a
}
