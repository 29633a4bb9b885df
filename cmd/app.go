package cmd

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/history"
	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui"
)

// App holds the few things that every verb needs. A verb that deals with tools
// opens the toolbox; one that does not pays nothing for it.
type App struct {
	// Console is what toolx writes to; what is written to Console.Err itself does not
	// wait for what was written to live.
	Console *console.Console
	// stdout is the stream itself, for what draws on it or closes it.
	stdout io.Writer

	flags   globalFlags
	live    *liveLine
	log     *slog.Logger
	mask    *mask.Masker
	bus     *exec.Bus
	closers []func(ctx context.Context)
	// pool is that of the toolbox, for kill; nil where there is none yet.
	pool atomic.Pointer[servers.Pool]
	// loginTo is the server that a person may be sent to a browser for (see letLogin).
	loginTo string
	// patient says that a signal is not for toolx to obey: the proxy passes it on.
	patient atomic.Bool
	// drawn says that the terminal interface has the terminal: what is logged is not seen.
	drawn atomic.Bool
	// flushTime bounds the wait for stderr at the end; zero means that there is no bound.
	flushTime time.Duration
	// maxError is how many bytes of an error stderr shows; zero means defaultMaxOutput, a negative number all of them.
	maxError int64
	// warned holds what warnOnce has told.
	warned sync.Map
	// asked holds the config files that consentTo has asked about; asksNobody says that
	// standard input is not for that, though it may be a terminal.
	asked      sync.Map
	asksNobody bool
	// keyboard is where the user answers what servers ask.
	keyboard keyboard
	// showTUI is tui.Run; tests have it go wrong.
	showTUI func(context.Context, tui.Options) error
}

func newApp(c *console.Console) *App {
	a := &App{
		Console: c,
		stdout:  c.Out,
		mask:    mask.New(),
		bus:     &exec.Bus{},

		keyboard: keyboard{in: c.In},
		showTUI:  tui.Run,
	}
	a.live = newLiveLine(c, a.droppedLines)
	if c.Joined {
		ordered := *c
		ordered.Out = inOrder{c.Out, a.live}
		a.Console = &ordered
	}
	return a
}

// logJSON is where lines of JSON go on stderr.
func (a *App) logJSON() io.Writer {
	if a.Console.ErrTTY {
		return safeJSON{a.live.log()}
	}
	return a.live.log()
}

// droppedLines is the line of the log that stands in the place of others, which nobody read in time.
func (a *App) droppedLines(lines int) string {
	var text strings.Builder
	newLogger(&text, a.screen(), a.flags, a.mask).Warn("stderr was not read: " + plural(lines, "line", "lines") + " dropped here")
	return text.String()
}

// begin runs before every verb: it checks the global flags and sets logging up.
func (a *App) begin() error {
	if err := a.flags.check(); err != nil {
		return err
	}
	if a.flags.noColor {
		a.Console.NoColor()
	}
	a.log = newLogger(a.live.log(), a.screen(), a.flags, a.mask)
	// The SDK logs to slog's default in places; nothing but toolx writes to stderr.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	return nil
}

// screen are the facts about stderr that rendering needs.
func (a *App) screen() render.Screen {
	return render.Screen{TTY: a.Console.ErrTTY, Width: a.Console.Width, Color: a.Console.ErrColor}
}

// outScreen are the facts about stdout.
func (a *App) outScreen() render.Screen {
	return render.Screen{TTY: a.Console.OutTTY, Width: a.Console.Width, Color: a.Console.Color}
}

// close ends what was opened, the latest first. After Ctrl-C it takes
// teardownTime at most, and no time at all after the second one.
func (a *App) close(ctx, hurry context.Context) {
	a.live.Stop()
	bounded, cancel := context.WithCancel(hurry)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(teardownTime, cancel)
	})
	defer stop()
	for i := len(a.closers) - 1; i >= 0; i-- {
		a.closers[i](bounded)
	}
	a.closers = nil
	a.flush()
}

// flush waits until stderr has taken everything, or for flushTime where that is set.
func (a *App) flush() {
	ctx := context.Background()
	if a.flushTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.flushTime)
		defer cancel()
	}
	a.live.Flush(ctx)
}

// unreadTime is how long toolx waits at its end for the client that started it to read its stderr: not every one does.
const unreadTime = time.Second

// kill ends every server at once, without waiting.
func (a *App) kill() {
	if pool := a.pool.Load(); pool != nil {
		pool.Kill()
	}
}

func (a *App) onClose(f func(context.Context)) { a.closers = append(a.closers, f) }

// toolbox is what a verb that deals with tools works with.
type toolbox struct {
	config   *config.Config
	registry *exec.Registry
	pool     *servers.Pool
	executor *exec.Executor
	// adHoc says that a server was given on the command line.
	adHoc bool
}

// toolboxOptions say what is in a toolbox.
type toolboxOptions struct {
	// server is a command line that is used instead of the configured servers.
	server []string
	// strict makes parameters outside the schema an error.
	strict bool
	// keepNames switches the normalization of parameter names off.
	keepNames bool
	// maxOutput is the size at which output is cut; zero means never.
	maxOutput int64
	// lenient goes on without the files of the config that cannot be parsed.
	lenient bool
	// configOnly leaves toolx's own tools out; stage is where mocks play faults.
	configOnly bool
	stage      builtin.Stage
	// confined says that no person at the keyboard makes the calls (see exec.Request).
	confined bool
	// tellsFailures says that the verb itself tells the user of failed calls.
	tellsFailures bool
	// namesUnknown says that the verb's own word about a tool that is not found is the line
	// which the log would have: stderr has it once.
	namesUnknown bool
	// answers say how servers are answered that ask something back; nil: they are told of roots alone.
	answers *answerOptions
	// user is who is asked what no option answers; nil: the person at the terminal.
	user *person
}

// toolbox reads the config and gathers the tools that need no server. It starts nothing.
func (a *App) toolbox(options toolboxOptions) (*toolbox, error) {
	adHoc, err := a.adHoc(options.server)
	if err != nil {
		return nil, err
	}
	loaded, err := a.loadConfig()
	a.tellRemarks(loaded)
	switch {
	case adHoc != nil && err != nil: // which needs no config
		a.log.Warn(oneLine(err) + "; the config is not used")
	case err != nil && !options.lenient:
		return nil, err
	}
	if adHoc != nil {
		loaded.Servers = []*config.Server{adHoc}
	}
	for _, server := range loaded.Servers {
		server.Flags = a.flags.reaching()
	}
	if err := a.record(loaded); err != nil {
		return nil, err
	}
	answers, err := a.answers(options.answers, options.user, loaded)
	if err != nil {
		return nil, err
	}
	options.namesUnknown = options.namesUnknown && a.flags.logFormat == "text"
	events := newEventLog(a.log, a.mask, options)
	events.adHoc, events.reaching = adHoc != nil, exec.LaunchWords(a.flags.reaching(), a.flags.url, options.server)
	a.bus.Subscribe(events.take)
	a.onClose(func(context.Context) { events.end() }) // when the servers have ended

	box := &toolbox{config: loaded, registry: exec.NewRegistry(a.bus), adHoc: adHoc != nil}
	box.pool = servers.NewPool(loaded.Servers, servers.Options{
		Bus:          a.bus,
		Registry:     box.registry,
		Attempts:     cmp.Or(a.flags.attempts(), loaded.Defaults.Retry.Attempts),
		BaseDelay:    loaded.Defaults.Retry.BaseDelay,
		StartTimeout: a.flags.startTimeout,
		Protocol:     a.flags.protocol,
		MaxMessage:   loaded.Defaults.MaxMessage,
		StderrDir:    stateFile("stderr"),
		Version:      Version(),
		Secret:       a.mask.Add,
		HTTP:         a.overHTTP(),
		EraFile:      stateFile("eras.json"),
		Answers:      answers,
		Consent: func(ctx context.Context, list ...*config.Server) error {
			a.tellNotes(loaded, list...)
			return a.consent(ctx, list...)
		},
	})
	a.pool.Store(box.pool)
	box.registry.ReachedBy(events.reaching...)
	a.onClose(box.pool.Close)
	if box.adHoc {
		box.registry.Prefer(config.AdHocName)
	}
	services := a.services(box, options.stage, foldersOf(answers.Roots))
	box.addLocal(services, options.configOnly, a.flags.reaching())
	box.executor = &exec.Executor{Registry: box.registry, Bus: a.bus, Masked: a.masked, Defaults: exec.Defaults{
		Timeout:   cmp.Or(a.flags.timeout, loaded.Defaults.Timeout),
		MaxTime:   cmp.Or(a.flags.maxTime, loaded.Defaults.MaxTime),
		Slow:      loaded.Defaults.Slow,
		MaxOutput: options.maxOutput,
		Strict:    options.strict,
		KeepNames: options.keepNames,
		Confined:  options.confined,
	}}
	return box, nil
}

// tellRemarks tells of what has no effect in the config, but for what is said of servers.
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

// tellNotes tells, once, of what has no effect in the entries of these servers.
func (a *App) tellNotes(loaded *config.Config, list ...*config.Server) {
	for _, warning := range loaded.Warnings {
		named := func(server *config.Server) bool { return server.Name == warning.Server && !server.OnCommandLine() }
		if slices.ContainsFunc(list, named) {
			a.warnOnce(warning.String())
		}
	}
}

// oneLine is the first line of what an error says.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// addLocal registers the built-in tools and, over them, those of the config, which flags find again.
func (b *toolbox) addLocal(services builtin.Services, configOnly bool, flags []string) {
	var tools []*exec.Tool
	if !configOnly {
		tools = builtin.Tools(services)
	}
	for _, entry := range b.config.Tools {
		tools = append(tools, builtin.FromConfig(entry, services))
	}
	for _, tool := range tools {
		tool.Flags = flags
	}
	b.registry.Register(tools...)
}

// services are what toolx's own tools need; stage is nil but for serve. roots are the folders for who is confined. What
// a tool answers is passed on as it is, so what the services say of servers has no secrets.
func (a *App) services(box *toolbox, stage builtin.Stage, roots []string) builtin.Services {
	return builtin.Services{
		Registry: box.registry,
		Find: func(ctx context.Context, name string) (*exec.Tool, error) {
			tool, err := box.pool.Find(ctx, name)
			return tool, a.masked(err)
		},
		Open: func(ctx context.Context, server string) error {
			if server != "" {
				_, err := box.pool.Open(ctx, server)
				return a.masked(err)
			}
			var first error
			for _, opened := range box.pool.OpenAll(ctx) {
				if opened.Err != nil && first == nil {
					first = opened.Err
				}
			}
			return a.masked(first)
		},
		Servers: func() []builtin.Server { return a.describeServers(box) },
		Stage:   stage,
		Roots:   roots,
		Notice:  func(level slog.Level, text string) { a.log.Log(context.Background(), level, text) },
	}
}

// describeServers is what list_servers tells.
func (a *App) describeServers(b *toolbox) []builtin.Server {
	described := make([]builtin.Server, 0, len(b.config.Servers))
	for _, server := range b.config.Servers {
		one := builtin.Server{Name: server.Name, Transport: "stdio", Hint: a.mask.Text(server.Hint)}
		if server.URL != "" {
			one.Transport = "http"
		}
		one.Status, one.Protocol, one.Error = b.pool.Status(server.Name)
		one.Error = a.mask.Text(one.Error)
		described = append(described, one)
	}
	return described
}

// record sets up what writes events to files: the execution log and the trace.
func (a *App) record(loaded *config.Config) error {
	if !loaded.Defaults.Log.Off {
		a.recordHistory(loaded.Defaults.Log)
	}
	return a.recordTrace()
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
	file, err := a.newTraceFile(a.flags.traceFile)
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
func (a *App) recordHistory(keeps config.Log) {
	log, err := history.Open(stateFile("history.jsonl"), a.mask)
	if err != nil {
		a.log.Info(err.Error())
		return
	}
	log.Notice, log.NoResults = a.notLogged, keeps.NoResults
	a.bus.Subscribe(log.Record)
	a.onClose(func(context.Context) { log.Close() })
}

// notLogged tells that the execution log cannot be written: on stderr, or in the log of the
// terminal interface where that has the terminal.
func (a *App) notLogged(err error) {
	if !a.drawn.Load() {
		a.log.Warn(err.Error())
		return
	}
	// Who is told of an event must not emit another one.
	go a.bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: err.Error()})
}

// stateFile is the path of a file or folder in toolx's folder for state (XDG Base
// Directory Specification), empty where there is no home to put it in.
func stateFile(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "toolx", name)
}
