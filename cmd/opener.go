package cmd

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
	"toolx/pkg/words"
)

// opener opens what commands work with: the config, the tools in it, and the logs of what is done with them.
type opener struct {
	out      *streams.Streams
	flags    *cli.Flags
	line     *commandLine
	bus      *exec.Bus
	keyboard *person.Keyboard
	consent  *person.Consent
	logins   *person.Logins
	closers  []func(ctx context.Context)
	// calls is the execution log; nil where none is kept.
	calls *history.Log
	// pool is the toolbox's, for kill; nil while there is none.
	pool atomic.Pointer[servers.Pool]
}

// begin checks the global flags and sets up logging. It runs before every verb.
func (a *opener) begin() error {
	if err := a.flags.Check(); err != nil {
		return err
	}
	if a.flags.NoColor {
		a.out.Console.NoColor()
	}
	a.out.Settings = streams.Settings{
		Level: a.flags.Level(), Json: a.flags.LogFormat == "json", Quiet: a.flags.Quiet, Verbose: a.flags.Verbose,
	}
	a.out.Log = a.out.Logger(a.out.Live.Log())
	// The SDK logs to slog's default in places; only toolx writes to stderr.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	return nil
}

// beginQuietly is begin for completions and suggestions: it asks and logs nothing.
func (a *opener) beginQuietly() error {
	a.consent.AsksNobody = true
	err := a.begin()
	a.out.Log = slog.New(slog.DiscardHandler)
	return err
}

// close ends what was opened, the latest first. It takes at most teardownTime after Ctrl-C, and no time after a second
// one.
func (a *opener) close(ctx, hurry context.Context) {
	a.out.Live.Stop()
	bounded, cancel := context.WithCancel(hurry)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(teardownTime, cancel) })()
	for _, end := range slices.Backward(a.closers) {
		end(bounded)
	}
	a.closers = nil
	a.out.Flush()
}

// kill ends every server at once, without waiting.
func (a *opener) kill() {
	if pool := a.pool.Load(); pool != nil {
		pool.Kill()
	}
}

func (a *opener) onClose(f func(context.Context)) { a.closers = append(a.closers, f) }

// toolboxConfig reads the config, with the servers that options have in place of its own; adHoc is that of the command
// line, nil if there is none.
func (a *opener) toolboxConfig(options toolboxOptions) (loaded *config.Config, adHoc *config.Server, err error) {
	if adHoc, err = a.flags.AdHoc(options.server); err != nil {
		return nil, nil, err
	}
	loaded, err = a.consent.LoadConfig()
	a.tellRemarks(loaded)
	switch {
	case adHoc != nil && err != nil: // which needs no config
		a.out.Log.Warn(words.FirstLine(err.Error()) + "; the config is not used")
	case err != nil && !options.lenient:
		return nil, nil, err
	}
	switch {
	case options.servers != nil:
		loaded.Servers = options.servers
	case adHoc != nil:
		loaded.Servers = []*config.Server{adHoc}
	case len(a.flags.Servers) > 0:
		if loaded.Servers, err = cli.ServersNamed(loaded.Servers, a.flags.Servers); err != nil {
			return nil, nil, err
		}
	}
	return loaded, adHoc, nil
}

// attempts returns how often a server is started; zero leaves it to the server's entry.
func (a *opener) attempts(options toolboxOptions, loaded *config.Config) int {
	if options.once {
		return cmp.Or(a.flags.Attempts(), 1)
	}
	return cmp.Or(a.flags.Attempts(), loaded.Defaults.Retry.Attempts)
}

// toolbox reads the config and gathers the tools that need no server. It starts nothing.
func (a *opener) toolbox(options toolboxOptions) (*toolbox, error) {
	loaded, adHoc, err := a.toolboxConfig(options)
	if err != nil {
		return nil, err
	}
	flags := a.addFlags(options.guards, loaded.Servers)
	if err := a.record(loaded.Defaults.Log, adHoc); err != nil {
		return nil, err
	}
	answers, err := a.answers(options.answers, options.user, loaded)
	if err != nil {
		return nil, err
	}
	options.namesUnknown = options.namesUnknown && a.flags.LogFormat == "text"
	events := newEventLog(a.out.Log, a.out.Mask, options)
	a.line.adHoc, a.line.url = adHoc != nil, a.flags.Url
	a.line.launch = exec.LaunchWords(flags, a.flags.Url, options.server)
	events.adHoc, events.launchWords = adHoc != nil, exec.LaunchWords(flags, a.flags.Url, options.server)
	a.bus.Subscribe(events.take)
	a.onClose(func(context.Context) { events.end() }) // when the servers have ended

	box := &toolbox{opener: a, out: a.out, flags: a.flags, registry: exec.NewRegistry(a.bus)}
	box.loaded.Store(loaded)
	box.adHoc, box.launch = adHoc != nil, options.server
	box.chosen = box.adHoc || len(a.flags.Servers) > 0
	kept := a.memory(loaded, options.reusesLists)
	if options.answers != nil { // else the verb has no such flags
		box.lacks = person.Lacking(answers)
	}
	box.pool = servers.NewPool(loaded.Servers, servers.Options{
		Bus:          a.bus,
		Registry:     box.registry,
		Attempts:     a.attempts(options, loaded),
		Insists:      a.flags.Attempts() > 0,
		BaseDelay:    loaded.Defaults.Retry.BaseDelay,
		StartTimeout: a.flags.StartTimeout,
		Patient:      options.patient,
		Protocol:     a.flags.Protocol,
		MaxMessage:   loaded.Defaults.MaxMessage,
		StderrDir:    stores.State("stderr"),
		Version:      build.Version(),
		Secret:       a.out.Mask.Add,
		HTTP:         a.overHTTP(),
		EraFile:      stores.State("eras.json"),
		Answers:      answers,
		Lacks:        box.lacks,
		Memory:       kept,
		Sessions:     cmp.Or(options.sessions, a.sessions()),
		KeepAlive:    loaded.Defaults.KeepAlive,
		Stays:        options.stays, Watches: options.watches, Fresh: a.flags.Fresh,
		Hold: options.holds,
		Consent: func(ctx context.Context, list ...*config.Server) error {
			a.tellNotes(loaded, list...)
			return a.consent.Ask(ctx, list...)
		},
	})
	a.pool.Store(box.pool)
	box.registry.ReachedBy(events.launchWords...)
	a.onClose(func(ctx context.Context) { kept.keep(ctx, box.pool.Close) })
	if box.chosen {
		box.registry.Prefer(box.pool.Names()...)
	}
	box.addLocal(options, person.FoldersOf(answers.Roots), flags)
	box.executor = a.executor(box.registry, loaded.Defaults, options)
	return box, nil
}

// executor returns what makes the calls of a toolbox, with the limits of the command line, then those of the config.
func (a *opener) executor(tools *exec.Registry, defaults config.Defaults, options toolboxOptions) *exec.Executor {
	return &exec.Executor{Registry: tools, Bus: a.bus, Masked: a.out.Masked, Defaults: exec.Defaults{
		Timeout:   cmp.Or(a.flags.Timeout, defaults.Timeout),
		MaxTime:   cmp.Or(a.flags.MaxTime, defaults.MaxTime),
		Slow:      defaults.Slow,
		Strict:    options.strict,
		KeepNames: options.keepNames,
		Confined:  options.confined,
	}}
}

// addFlags adds to servers what the command line says of all of them: guards, and the flags with which a command finds
// their tools again, which it returns.
func (a *opener) addFlags(guards guardOptions, list []*config.Server) (flags []string) {
	flags = a.flags.ConnectionFlags()
	for _, server := range list {
		server.Flags = flags
	}
	guards.narrow(list...)
	return flags
}

// tellRemarks reports what has no effect in the config, except in the entries of servers.
func (a *opener) tellRemarks(loaded *config.Config) {
	for _, warning := range loaded.Warnings {
		if warning.Server == "" {
			a.out.Log.Warn(warning.String())
		}
	}
	for _, problem := range loaded.Problems {
		a.out.Log.Warn(problem.String())
	}
}

// tellNotes reports, once, what has no effect in the entries of these servers.
func (a *opener) tellNotes(loaded *config.Config, list ...*config.Server) {
	for _, warning := range loaded.Warnings {
		named := func(server *config.Server) bool { return server.Name == warning.Server && !server.OnCommandLine() }
		if slices.ContainsFunc(list, named) {
			a.out.WarnOnce(warning.String())
		}
	}
}

// overHTTP returns how servers that have an address are reached.
func (a *opener) overHTTP() servers.HTTPOptions {
	if a.flags.Insecure {
		const text = "--insecure: certificates are not checked, " +
			"so anyone on the network path can read and change the traffic"
		a.out.WarnLoudly(text)
	}
	return servers.HTTPOptions{
		CACert: a.flags.CaCert, Insecure: a.flags.Insecure, Authorize: a.logins.Authorize, Warn: a.out.WarnOnce,
	}
}

// answers returns what servers are answered with: the roots alone where o is nil. What no option answers, the person
// does: the one at the terminal where user is nil.
func (a *opener) answers(o *person.AnswerFlags, user *person.User, loaded *config.Config) (servers.Answers, error) {
	var answers servers.Answers
	roots, untrusted := loaded.TrustedRoots()
	for _, root := range untrusted {
		a.out.WarnOnce("the root " + root + " is left out: it lies outside the folder of a file that is not trusted; " +
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
		user = person.AtTerminal(a.keyboard, o)
	}
	script, err := person.ReadScript(o.Elicit)
	if err != nil {
		return answers, err
	}
	if answers.Elicit = user.Elicit; script != nil {
		answers.Elicit = script.Answer(a.bus)
	}
	if o.Sampling != "" {
		answers.Sample, err = person.Sampler(a.out, a.bus, o.Sampling, user)
		if err != nil && o.Listing && o.Sampling == "ask" {
			answers.Sample, err = person.DeclineSampling, nil
		}
	}
	return answers, err
}

// sessions returns where the servers are that stay; nil where they are not to be used, or there is no place for them.
func (a *opener) sessions() *servers.Sessions {
	if a.flags.NoSession || os.Getenv(cli.EnvNoSession) == "1" {
		return nil
	}
	return stores.Sessions()
}
