package toolset

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/history"
	"toolx/pkg/servers"
	"toolx/pkg/servers/daemon"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// Opener opens the config, its tools, and the logs for commands.
type Opener struct {
	Out      *streams.Streams
	Flags    *cli.Flags
	Line     *cli.CommandLine
	Bus      *exec.Bus
	Keyboard *person.Keyboard
	Consent  *person.Consent
	Logins   *person.Logins
	closers  []func(ctx context.Context)
	// Calls is the execution log; nil if it is off.
	Calls *history.Log
	// pool is the pool of the open Set, for Kill; nil while there is none.
	pool atomic.Pointer[servers.Pool]
}

// Begin checks the global flags and sets up logging. It runs before every verb.
func (a *Opener) Begin() error {
	if err := a.Flags.Check(); err != nil {
		return err
	}
	if a.Flags.NoColor {
		a.Out.Console.NoColor()
	}
	a.Out.Settings = streams.Settings{
		Level: a.Flags.Level(), JSON: a.Flags.LogFormat == "json", Quiet: a.Flags.Quiet, Verbose: a.Flags.Verbose,
	}
	a.Out.Log = a.Out.Logger(a.Out.Live.Log())
	// The SDK logs to slog's default in places; only toolx writes to stderr.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	return nil
}

// BeginQuietly is Begin for completions and suggestions: without questions and logs.
func (a *Opener) BeginQuietly() error {
	a.Consent.NoQuestions = true
	err := a.Begin()
	a.Out.Log = slog.New(slog.DiscardHandler)
	return err
}

// Close closes everything that was opened, in reverse order. It takes at most TeardownTime after Ctrl-C, and no time
// after a second one.
func (a *Opener) Close(ctx, hurry context.Context) {
	a.Out.Live.Stop()
	bounded, cancel := context.WithCancel(hurry)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(TeardownTime, cancel) })()
	for _, end := range slices.Backward(a.closers) {
		end(bounded)
	}
	a.closers = nil
	a.Out.Flush()
}

// Kill ends every server at once, without waiting.
func (a *Opener) Kill() {
	if pool := a.pool.Load(); pool != nil {
		pool.Kill()
	}
}

// ShowProgress draws the progress of a call of the tool until stop is called; see Streams.ShowProgress.
func (a *Opener) ShowProgress(tool string) (stop func()) { return a.Out.ShowProgress(a.Bus, tool) }

// OnClose calls f when the command ends.
func (a *Opener) OnClose(f func(context.Context)) { a.closers = append(a.closers, f) }

// readConfig reads the config, and replaces its servers with those of options; adHoc is the server on the command line,
// nil if there is none.
func (a *Opener) readConfig(options Options) (loaded *config.Config, adHoc *config.Server, err error) {
	if adHoc, err = a.Flags.AdHoc(options.Server); err != nil {
		return nil, nil, err
	}
	loaded, err = a.Consent.LoadConfig()
	a.ReportRemarks(loaded)
	switch {
	case adHoc != nil && err != nil: // a server on the command line needs no config
		a.Out.Log.Warn(words.FirstLine(err.Error()) + "; the config is not used")
	case err != nil && !options.Lenient:
		return nil, nil, err
	}
	switch {
	case options.Servers != nil:
		loaded.Servers = options.Servers
	case adHoc != nil:
		loaded.Servers = []*config.Server{adHoc}
	case len(a.Flags.Servers) > 0:
		if loaded.Servers, err = cli.ServersNamed(loaded.Servers, a.Flags.Servers); err != nil {
			return nil, nil, err
		}
	}
	return loaded, adHoc, nil
}

// attempts returns how often a server is started; zero leaves it to the server's entry.
func (a *Opener) attempts(options Options, loaded *config.Config) int {
	if options.Once {
		return cmp.Or(a.Flags.Attempts(), 1)
	}
	return cmp.Or(a.Flags.Attempts(), loaded.Defaults.Retry.Attempts)
}

// Open reads the config and gathers the tools that need no server. It starts nothing.
func (a *Opener) Open(options Options) (*Set, error) {
	loaded, adHoc, err := a.readConfig(options)
	if err != nil {
		return nil, err
	}
	flags := a.AddFlags(options.Guards, loaded.Servers)
	if err := a.Record(loaded.Defaults.Log, adHoc); err != nil {
		return nil, err
	}
	answers, err := a.answers(options.Answers, options.User, loaded)
	if err != nil {
		return nil, err
	}
	options.SuggestUnknown = options.SuggestUnknown && a.Flags.LogFormat == "text"
	events := newEventLog(a.Out.Log, a.Out.Mask, options)
	a.Line.AdHoc, a.Line.URL = adHoc != nil, a.Flags.URL
	a.Line.Launch = exec.LaunchWords(flags, a.Flags.URL, options.Server)
	events.adHoc, events.launchWords = a.Line.AdHoc, a.Line.Launch
	a.Bus.Subscribe(events.take)
	a.OnClose(func(context.Context) { events.end() }) // when the servers have ended

	box := &Set{Opener: a, Out: a.Out, Flags: a.Flags, Registry: exec.NewRegistry(a.Bus)}
	box.Loaded.Store(loaded)
	box.AdHoc, box.launch = adHoc != nil, options.Server
	box.Chosen = box.AdHoc || len(a.Flags.Servers) > 0
	kept := a.memory(loaded, options.ReusesLists)
	if options.Answers != nil { // else the verb has no such flags
		box.lacks = person.Lacking(answers)
	}
	pool := a.Connection(loaded.Defaults)
	pool.NoStartLimit, pool.Answers, pool.Memory = options.NoStartLimit, answers, kept
	pool.Registry, pool.Lacks = box.Registry, box.lacks
	pool.Attempts = a.attempts(options, loaded)
	pool.Sessions = cmp.Or(options.Sessions, a.sessions())
	pool.KeepAlive, pool.StartSessions = loaded.Defaults.KeepAlive, options.KeepAlive
	pool.NewSessions, pool.Watch, pool.Fresh = options.NewSessions, options.Watch, a.Flags.Fresh
	pool.Consent = func(ctx context.Context, list ...*config.Server) error {
		a.ReportNotes(loaded, list...)
		return a.Consent.Ask(ctx, list...)
	}
	box.Pool = servers.NewPool(loaded.Servers, pool)
	a.pool.Store(box.Pool)
	box.Registry.ReachedBy(events.launchWords...)
	a.OnClose(func(ctx context.Context) { kept.keep(ctx, box.close) })
	if box.Chosen {
		box.Registry.Prefer(box.Pool.Names()...)
	}
	box.addLocal(options, person.FoldersOf(answers.Roots), flags)
	box.Executor = a.executor(box.Registry, loaded.Defaults, options)
	return box, nil
}

// Connection returns how servers are reached: by the flags, else as the config says.
func (a *Opener) Connection(defaults config.Defaults) servers.Options {
	return servers.Options{
		Options: protocol.Options{
			Bus:          a.Bus,
			StartTimeout: a.Flags.StartTimeout,
			Protocol:     a.Flags.Protocol,
			MaxMessage:   defaults.MaxMessage,
			Version:      build.Version(),
			EraFile:      stores.State("eras.json"),
		},
		MaxStarts: defaults.MaxStarts,
		Attempts:  cmp.Or(a.Flags.Attempts(), defaults.Retry.Attempts),
		RetryAll:  a.Flags.Attempts() > 0,
		BaseDelay: defaults.Retry.BaseDelay,
		StderrDir: stores.State("stderr"),
		Secret:    a.Out.Mask.Add,
		HTTP:      a.HTTP(),
	}
}

// executor returns the Executor, with the limits of the command line, or else those of the config.
func (a *Opener) executor(tools *exec.Registry, defaults config.Defaults, options Options) *exec.Executor {
	return &exec.Executor{Registry: tools, Bus: a.Bus, Masked: a.Out.Masked, Defaults: exec.Defaults{
		Timeout:   cmp.Or(a.Flags.Timeout, defaults.Timeout),
		MaxTime:   cmp.Or(a.Flags.MaxTime, defaults.MaxTime),
		Slow:      defaults.Slow,
		Strict:    options.Strict,
		KeepNames: options.KeepNames,
		Confined:  options.Confined,
	}}
}

// AddFlags adds the command line's guards to all servers, and the flags with which a command finds their tools again,
// which it returns.
func (a *Opener) AddFlags(guards Guards, list []*config.Server) (flags []string) {
	flags = a.Flags.ConnectionFlags()
	for _, server := range list {
		server.Flags = flags
	}
	guards.Narrow(list...)
	return flags
}

// ReportRemarks reports settings without effect in the config, except in servers' entries.
func (a *Opener) ReportRemarks(loaded *config.Config) {
	for _, warning := range loaded.Warnings {
		if warning.Server == "" {
			a.Out.Log.Warn(warning.String())
		}
	}
	for _, problem := range loaded.Problems {
		a.Out.Log.Warn(problem.String())
	}
}

// ReportNotes reports, once, settings without effect in the entries of these servers.
func (a *Opener) ReportNotes(loaded *config.Config, list ...*config.Server) {
	for _, warning := range loaded.Warnings {
		named := func(server *config.Server) bool { return server.Name == warning.Server && !server.OnCommandLine() }
		if slices.ContainsFunc(list, named) {
			a.Out.WarnOnce(warning.String())
		}
	}
}

// HTTP returns the options for reaching servers with an address.
func (a *Opener) HTTP() mcphttp.ClientOptions {
	if a.Flags.Insecure {
		const text = "--insecure: certificates are not checked, " +
			"so anyone on the network path can read and change the traffic"
		a.Out.WarnLoudly(text)
	}
	return mcphttp.ClientOptions{
		CACert: a.Flags.CACert, Insecure: a.Flags.Insecure, Authorize: a.Logins.Authorize, Warn: a.Out.WarnOnce,
	}
}

// answers returns the answers to servers' requests: only roots if o is nil. user answers what no option does; if user
// is nil, the terminal is used.
func (a *Opener) answers(o *person.AnswerFlags, user *person.User, loaded *config.Config) (protocol.Answers, error) {
	var answers protocol.Answers
	roots, untrusted := loaded.TrustedRoots()
	for _, root := range untrusted {
		a.Out.WarnOnce("the root " + root + " is ignored: it is outside the folder of a file that is not trusted; " +
			"toolx trust shows the file")
	}
	if o != nil && len(o.Roots) > 0 {
		roots = o.Roots
	}
	var err error
	if answers.Roots, err = person.RootsOf(roots); err != nil || o == nil {
		return answers, err
	}
	if user == nil {
		user = person.AtTerminal(a.Keyboard, o)
	}
	script, err := person.ReadScript(o.Elicit)
	if err != nil {
		return answers, err
	}
	if answers.Elicit = user.Elicit; script != nil {
		answers.Elicit = script.Answer(a.Bus)
	}
	if o.Sampling != "" {
		answers.Sample, err = person.Sampler(a.Out, a.Bus, o.Sampling, user)
		if err != nil && o.Listing && o.Sampling == "ask" {
			answers.Sample, err = person.DeclineSampling, nil
		}
	}
	return answers, err
}

// sessions returns the store of sessions; nil if sessions are not used, or there is no place for them.
func (a *Opener) sessions() *daemon.Sessions {
	if a.Flags.NoSession || os.Getenv(cli.EnvNoSession) == "1" {
		return nil
	}
	return stores.Sessions()
}

// TeardownTime bounds how long servers may take to exit after Ctrl-C.
const TeardownTime = 2 * time.Second
