package cmd

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/console"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/history"
	"toolx/pkg/servers"
	"toolx/pkg/tui"
	"toolx/pkg/words"
)

// App wires together what verbs share. A verb that deals with tools opens the toolbox; the others pay nothing for it.
type App struct {
	*output
	flags    globalFlags
	cmd      *cobra.Command // the verb that runs
	bus      *exec.Bus
	keyboard *keyboard
	consent  *consent
	logins   *logins
	closers  []func(ctx context.Context)
	// calls is the execution log; nil where none is kept.
	calls *history.Log
	// pool is the toolbox's, for kill; nil while there is none.
	pool atomic.Pointer[servers.Pool]
	// passesSignals says that a signal is not for toolx: the proxy passes it on to its server.
	passesSignals atomic.Bool
	// showTUI is tui.Run; tests replace it.
	showTUI func(context.Context, tui.Options) error
}

func newApp(c *console.Console) *App {
	a := &App{bus: &exec.Bus{}, showTUI: tui.Run}
	a.output = newOutput(c, &a.flags)
	a.keyboard = &keyboard{output: a.output, in: c.In}
	a.consent = &consent{output: a.output, keyboard: a.keyboard, sources: newSources(a.keyboard, &a.flags)}
	a.logins = &logins{output: a.output, consent: a.consent}
	return a
}

// begin checks the global flags and sets up logging. It runs before every verb.
func (a *App) begin() error {
	if err := a.flags.check(); err != nil {
		return err
	}
	if a.flags.noColor {
		a.Console.NoColor()
	}
	a.log = a.logger(a.live.log())
	// The SDK logs to slog's default in places; only toolx writes to stderr.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	return nil
}

// beginQuietly is begin for completions and suggestions: it asks and logs nothing.
func (a *App) beginQuietly() error {
	a.consent.asksNobody = true
	err := a.begin()
	a.log = slog.New(slog.DiscardHandler)
	return err
}

// close ends what was opened, the latest first. It takes at most teardownTime after Ctrl-C, and no time after a second
// one.
func (a *App) close(ctx, hurry context.Context) {
	a.live.Stop()
	bounded, cancel := context.WithCancel(hurry)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(teardownTime, cancel) })()
	for _, end := range slices.Backward(a.closers) {
		end(bounded)
	}
	a.closers = nil
	a.flush()
}

// kill ends every server at once, without waiting.
func (a *App) kill() {
	if pool := a.pool.Load(); pool != nil {
		pool.Kill()
	}
}

func (a *App) onClose(f func(context.Context)) { a.closers = append(a.closers, f) }

// toolbox is what a verb that deals with tools works with.
type toolbox struct {
	*App
	loaded   atomic.Pointer[config.Config]
	registry *exec.Registry
	pool     *servers.Pool
	executor *exec.Executor
	// adHoc reports whether a server was given on the command line; launch is its command there.
	adHoc  bool
	launch []string
	// lacks names what servers are not offered, with the flags that offer it; see lacking.
	lacks string
	// chosen reports whether the command line says which servers there are (adHoc, or --server): then toolx's own tools
	// are left out.
	chosen bool
}

// config returns the config that was read last.
func (b *toolbox) config() *config.Config { return b.loaded.Load() }

// toolboxOptions say what is in a toolbox.
type toolboxOptions struct {
	// server is a command line that replaces the configured servers, and servers are entries that do.
	server  []string
	servers []*config.Server
	// strict makes parameters outside the schema an error.
	strict bool
	// keepNames switches the normalization of parameter names off.
	keepNames bool
	// once connects with one attempt, unless --retries says otherwise.
	once bool
	// lenient goes on without the config files that cannot be parsed.
	lenient bool
	// configOnly leaves toolx's own tools out; stage is where mocks play faults.
	configOnly bool
	stage      builtin.Stage
	// confined reports whether no person at the keyboard makes the calls (see exec.Defaults).
	confined bool
	// tellsFailures reports whether the verb itself reports failed calls.
	tellsFailures bool
	// namesUnknown reports whether the verb reports an unknown tool itself, so that stderr needs no log line about it.
	namesUnknown bool
	// reusesLists lets a list of tools that a server gave earlier stand in for its answer if the server allows that.
	reusesLists bool
	// answers say how servers that ask something back are answered; nil: they get roots alone.
	answers *answerOptions
	// user is who is asked what no option answers; nil: the person at the terminal.
	user *person
	// guards narrow what the config lets through.
	guards guardOptions
	// stays reports whether the verb may start servers that stay, because their entries have keepAlive; watches that it
	// wants to know what such servers do between its requests.
	stays, watches bool
	// patient reports whether the user stops a server that does not start, and no limit does.
	patient bool
	// holds are the sessions to start, by the names of servers, and sessions where they are.
	holds    map[string]servers.Record
	sessions *servers.Sessions
}

// toolboxConfig reads the config, with the servers that options have in place of its own; adHoc is that of the command
// line, nil if there is none.
func (a *App) toolboxConfig(options toolboxOptions) (loaded *config.Config, adHoc *config.Server, err error) {
	if adHoc, err = a.flags.adHoc(options.server); err != nil {
		return nil, nil, err
	}
	loaded, err = a.consent.loadConfig()
	a.tellRemarks(loaded)
	switch {
	case adHoc != nil && err != nil: // which needs no config
		a.log.Warn(words.FirstLine(err.Error()) + "; the config is not used")
	case err != nil && !options.lenient:
		return nil, nil, err
	}
	switch {
	case options.servers != nil:
		loaded.Servers = options.servers
	case adHoc != nil:
		loaded.Servers = []*config.Server{adHoc}
	case len(a.flags.servers) > 0:
		if loaded.Servers, err = serversNamed(loaded.Servers, a.flags.servers); err != nil {
			return nil, nil, err
		}
	}
	return loaded, adHoc, nil
}

// attempts returns how often a server is started; zero leaves it to the server's entry.
func (a *App) attempts(options toolboxOptions, loaded *config.Config) int {
	if options.once {
		return cmp.Or(a.flags.attempts(), 1)
	}
	return cmp.Or(a.flags.attempts(), loaded.Defaults.Retry.Attempts)
}

// toolbox reads the config and gathers the tools that need no server. It starts nothing.
func (a *App) toolbox(options toolboxOptions) (*toolbox, error) {
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
	options.namesUnknown = options.namesUnknown && a.flags.logFormat == "text"
	events := newEventLog(a.log, a.mask, options)
	a.led.adHoc, a.led.launch = adHoc != nil, exec.LaunchWords(flags, a.flags.url, options.server)
	events.adHoc, events.launchWords = adHoc != nil, exec.LaunchWords(flags, a.flags.url, options.server)
	a.bus.Subscribe(events.take)
	a.onClose(func(context.Context) { events.end() }) // when the servers have ended

	box := &toolbox{App: a, registry: exec.NewRegistry(a.bus)}
	box.loaded.Store(loaded)
	box.adHoc, box.launch = adHoc != nil, options.server
	box.chosen = box.adHoc || len(a.flags.servers) > 0
	kept := a.memory(loaded, options.reusesLists)
	if options.answers != nil { // else the verb has no such flags
		box.lacks = lacking(answers)
	}
	box.pool = servers.NewPool(loaded.Servers, servers.Options{
		Bus:          a.bus,
		Registry:     box.registry,
		Attempts:     a.attempts(options, loaded),
		Insists:      a.flags.attempts() > 0,
		BaseDelay:    loaded.Defaults.Retry.BaseDelay,
		StartTimeout: a.flags.startTimeout,
		Patient:      options.patient,
		Protocol:     a.flags.protocol,
		MaxMessage:   loaded.Defaults.MaxMessage,
		StderrDir:    stateFile("stderr"),
		Version:      Version(),
		Secret:       a.mask.Add,
		HTTP:         a.overHTTP(),
		EraFile:      stateFile("eras.json"),
		Answers:      answers,
		Lacks:        box.lacks,
		Memory:       kept,
		Sessions:     cmp.Or(options.sessions, a.sessions()),
		KeepAlive:    loaded.Defaults.KeepAlive,
		Stays:        options.stays, Watches: options.watches, Fresh: a.flags.fresh,
		Hold: options.holds,
		Consent: func(ctx context.Context, list ...*config.Server) error {
			a.tellNotes(loaded, list...)
			return a.consent.ask(ctx, list...)
		},
	})
	a.pool.Store(box.pool)
	box.registry.ReachedBy(events.launchWords...)
	a.onClose(func(ctx context.Context) { kept.keep(ctx, box.pool.Close) })
	if box.chosen {
		box.registry.Prefer(box.pool.Names()...)
	}
	box.addLocal(options, foldersOf(answers.Roots), flags)
	box.executor = a.executor(box.registry, loaded.Defaults, options)
	return box, nil
}

// executor returns what makes the calls of a toolbox, with the limits of the command line, then those of the config.
func (a *App) executor(tools *exec.Registry, defaults config.Defaults, options toolboxOptions) *exec.Executor {
	return &exec.Executor{Registry: tools, Bus: a.bus, Masked: a.masked, Defaults: exec.Defaults{
		Timeout:   cmp.Or(a.flags.timeout, defaults.Timeout),
		MaxTime:   cmp.Or(a.flags.maxTime, defaults.MaxTime),
		Slow:      defaults.Slow,
		Strict:    options.strict,
		KeepNames: options.keepNames,
		Confined:  options.confined,
	}}
}

// addFlags adds to servers what the command line says of all of them: guards, and the flags with which a command finds
// their tools again, which it returns.
func (a *App) addFlags(guards guardOptions, list []*config.Server) (flags []string) {
	flags = a.flags.connectionFlags()
	for _, server := range list {
		server.Flags = flags
	}
	guards.narrow(list...)
	return flags
}

// tellRemarks reports what has no effect in the config, except in the entries of servers.
func (a *App) tellRemarks(loaded *config.Config) {
	for _, warning := range loaded.Warnings {
		if warning.Server == "" {
			a.log.Warn(warning.String())
		}
	}
	for _, problem := range loaded.Problems {
		a.log.Warn(problem.String())
	}
}

// tellNotes reports, once, what has no effect in the entries of these servers.
func (a *App) tellNotes(loaded *config.Config, list ...*config.Server) {
	for _, warning := range loaded.Warnings {
		named := func(server *config.Server) bool { return server.Name == warning.Server && !server.OnCommandLine() }
		if slices.ContainsFunc(list, named) {
			a.warnOnce(warning.String())
		}
	}
}

// addLocal registers the built-in tools and, over them, those of the config. roots are the folders of callers that are
// confined; flags are those with which a command finds the tools again.
func (b *toolbox) addLocal(options toolboxOptions, roots, flags []string) {
	services := b.services(options.stage, roots)
	var tools []*exec.Tool
	if !options.configOnly {
		tools = builtin.Tools(services)
	}
	for _, entry := range b.config().Tools {
		tools = append(tools, builtin.FromConfig(entry, services))
	}
	for _, tool := range tools {
		tool.Flags, tool.Guards = flags, options.guards.guards()
	}
	b.registry.Register(tools...)
}

// services returns what toolx's own tools need. A tool's answer is passed on as it is, so what the services say of
// servers is masked here.
func (b *toolbox) services(stage builtin.Stage, roots []string) builtin.Services {
	return builtin.Services{
		Registry: b.registry,
		Find: func(ctx context.Context, name string) (*exec.Tool, error) {
			tool, err := b.pool.Find(ctx, name)
			return tool, b.masked(err)
		},
		Open: func(ctx context.Context, server string) error {
			if server != "" {
				_, err := b.pool.Open(ctx, server)
				return b.masked(err)
			}
			return b.masked(firstFailure(b.pool.OpenAll(ctx)))
		},
		Servers: b.describeServers,
		Stage:   stage,
		Roots:   roots,
		Notice:  func(level slog.Level, text string) { b.log.Log(context.Background(), level, text) },
	}
}

// firstFailure returns the error of the first server that did not open; nil where all did.
func firstFailure(opened []servers.Opened) error {
	for _, one := range opened {
		if one.Err != nil {
			return one.Err
		}
	}
	return nil
}

// describeServers returns what the tool list_servers shows.
func (b *toolbox) describeServers() []builtin.Server {
	described := make([]builtin.Server, 0, len(b.config().Servers))
	for _, server := range b.config().Servers {
		one := builtin.Server{Name: server.Name, Transport: "stdio", Hint: b.mask.Text(server.Hint)}
		if server.URL != "" {
			one.Transport = "http"
		}
		one.Status, one.Protocol, one.Error = b.pool.Status(server.Name)
		one.Error = b.mask.Text(one.Error)
		described = append(described, one)
	}
	return described
}

// record sets up what writes events to files: the execution log, as keeps says, and the trace.
func (a *App) record(keeps config.Log, adHoc *config.Server) error {
	if !keeps.Off {
		a.recordHistory(keeps, adHoc)
	}
	return a.recordTrace()
}

// programOf returns what the server of the command line is, by its command or its address, and its name; nothing for
// nil.
func programOf(adHoc *config.Server) (program, name string) {
	switch {
	case adHoc == nil:
		return "", ""
	case adHoc.URL != "":
		return adHoc.URL, adHoc.Name
	}
	return exec.PasteLine(append([]string{adHoc.Command}, adHoc.Args...)...), adHoc.Name
}

// recordTrace sets up what writes messages to and from servers to stderr and to a file.
func (a *App) recordTrace() error {
	if a.flags.trace != "" {
		a.bus.Subscribe(frames(a.showFrame))
	}
	if a.flags.trace == traceFull {
		a.bus.Subscribe(a.showStray)
	}
	if a.flags.traceFile == "" {
		return nil
	}
	file, err := newTraceFile(a.output, a.flags.traceFile)
	if err != nil {
		return fault.Usage("--trace-file: "+err.Error(), "name a file that can be written")
	}
	a.bus.Subscribe(frames(file.write))
	a.bus.Subscribe(file.takeOther)
	a.onClose(func(ctx context.Context) {
		if err := file.close(ctx); err != nil {
			a.log.Warn("the trace file is not complete: " + err.Error())
		}
	})
	return nil
}

// recordHistory keeps the execution log. A log that cannot be kept never fails a call.
func (a *App) recordHistory(keeps config.Log, adHoc *config.Server) {
	log, err := history.Open(historyLog(), a.mask)
	if err != nil {
		a.log.Info(err.Error())
		return
	}
	log.Notice, log.NoResults = a.notLogged, keeps.NoResults
	log.Program, log.AdHoc = programOf(adHoc)
	a.calls = log
	a.bus.Subscribe(log.Record)
	a.onClose(func(context.Context) { log.Close() })
}

// notLogged reports that the execution log cannot be written: on stderr, or in the terminal interface where that has
// the terminal.
func (a *App) notLogged(err error) {
	if !a.drawn.Load() {
		a.log.Warn(err.Error())
		return
	}
	// A subscriber must not emit an event itself.
	go a.bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: err.Error()})
}

// overHTTP returns how servers that have an address are reached.
func (a *App) overHTTP() servers.HTTPOptions {
	if a.flags.insecure {
		const text = "--insecure: certificates are not checked, " +
			"so anyone on the network path can read and change the traffic"
		a.warnLoudly(text)
	}
	return servers.HTTPOptions{
		CACert: a.flags.caCert, Insecure: a.flags.insecure, Authorize: a.logins.authorize, Warn: a.warnOnce,
	}
}

// examination returns the options of the doctor that do not depend on who asks for it.
func (a *App) examination() doctor.Options {
	return doctor.Options{
		Limit:     a.flags.startTimeout,
		StderrDir: stateFile("stderr"),
		Version:   Version(),
		Secret:    a.mask.Add,
		HTTP:      a.overHTTP(),
	}
}

// cacheFile returns the path of a file or folder in toolx's folder for what can be found out again (XDG Base Directory
// Specification), empty where there is no home to put it in.
func cacheFile(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_CACHE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.CacheHome, "toolx", name)
}

// stateFile returns the path of a file or folder in toolx's folder for state (XDG Base Directory Specification), empty
// where there is no home to put it in.
func stateFile(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "toolx", name)
}
