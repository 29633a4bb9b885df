// Package dev has toolx dev, which restarts a server when its files change.
package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	doctorcmd "toolx/cmd/doctor"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/reload"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui"
	"toolx/pkg/words"
)

// Options are the server under development, and what to do after each start.
type Options struct {
	Flags   *cli.Flags
	Tools   *toolset.Opener
	Printer *request.Printer

	name     string
	command  []string // a command line after --
	watch    []string // paths
	calls    []string // "TOOL {json}"
	noDoctor bool
	json     bool
	answers  person.AnswerFlags
}

// New returns the command dev; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Flags: f.Flags, Tools: f.Tools, Printer: f.Printer}
	cmd := &cobra.Command{
		Use:   "dev [SERVER] [-- COMMAND…]",
		Short: "Restart a server when its files change",
		Long: `Start a server and watch its files. After each change, toolx restarts the server and
prints what changed: tools that were added, removed or edited, the results of --call,
and the doctor's new and fixed findings. Press Ctrl-C to stop.

toolx watches the server's program, and the source and settings files in the program's
folder, the working folder and the folders below, except node_modules and folders whose
names start with a dot.

Exit codes: 2 wrong usage, an unknown server, or nothing to watch, 130 Ctrl-C.`,
		Example: `  toolx dev -- node server.js
  toolx dev zwave --call 'control_zwave_device {"device_name":"Switch"}'
  toolx dev --watch src --watch server.toml -- python -m server`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.NameOrCommand(&o.command, func(args []string) error {
				if err := cli.AtMostOne(&o.name, "toolx dev takes one server")(cmd, args); err != nil {
					return err
				}
				if o.name != "" && len(o.command) > 0 {
					return fault.Usage("name a server, or give a command after --, not both", "toolx dev -- COMMAND…")
				}
				return nil
			})(cmd, args)
		},
		RunE:              cli.Run(&o, run, o.answers.Check),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	flags := cmd.Flags()
	cli.TextsVar(flags, &o.watch, "watch",
		"watch only `PATH`, a file or a folder and all files below it (repeatable)")
	cli.TextsVar(flags, &o.calls, "call", "call a tool after each start: `'TOOL {json}'` (repeatable)")
	flags.BoolVar(&o.noDoctor, "no-doctor", false, "do not run the doctor")
	flags.BoolVar(&o.json, "json", false,
		"print JSON lines with time and text, and results of --call as call --json prints them")
	o.answers.Declare(flags)
	return cmd
}

// Run starts the server, and again after each change of its files, until ctx ends.
func Run(ctx context.Context, o Options) error {
	o.Flags.NoSession = true // a session would run an older version
	d, err := newDevelopment(o)
	if err != nil {
		return err
	}
	watch, paths, err := d.watch(o.watch)
	if err != nil {
		return err
	}
	defer func() { _ = watch.Close() }()
	if err := d.print("watching %s; Ctrl-C ends it", strings.Join(words.Texts(paths, render.Safe), ", ")); err != nil {
		return err
	}
	for {
		life, end := context.WithCancel(ctx)
		var failed error
		over := make(chan struct{})
		go func() {
			defer close(over)
			if failed = d.life(life); failed != nil {
				end()
			}
		}()
		changed, err := watch.Wait(life)
		end()
		if <-over; failed != nil {
			return failed
		}
		if ctx.Err() != nil {
			return exit.Reported(&exec.InterruptedError{}) // Ctrl-C is how it ends
		}
		if err != nil {
			return err
		}
		if err := d.print("changed: %s", strings.Join(words.Texts(changed, d.relative), ", ")); err != nil {
			return err
		}
		d.box.Pool.Stop(ctx, d.server.Name)
	}
}

// development is a server that is being developed.
type development struct {
	tools    *toolset.Opener
	results  *request.Printer
	box      *toolset.Set
	server   *config.Server
	made     sources
	calls    []exec.Call
	noDoctor bool
	json     bool

	listed   bool
	last     []*exec.Tool // the tools of the last list
	examined bool
	findings []check.Finding // of the last examination
}

// newDevelopment reads the config and everything else that the options name. All errors are usage errors.
func newDevelopment(o Options) (*development, error) {
	d := &development{tools: o.Tools, results: o.Printer, noDoctor: o.noDoctor, json: o.json}
	for _, text := range o.calls {
		tool, arguments, err := doctorcmd.ReadToolCall(text)
		if err != nil {
			return nil, err
		}
		d.calls = append(d.calls, exec.Call{Tool: tool, Arguments: arguments})
	}
	var err error
	d.box, err = o.Tools.Open(toolset.Options{
		Server: o.command, Once: true, ReportFailures: true, Answers: &o.answers,
	})
	if err != nil {
		return nil, err
	}
	var names []string
	if o.name != "" {
		names = []string{o.name}
	}
	if names, err = d.box.NamedServers(names); err != nil {
		return nil, err
	}
	if len(names) != 1 {
		return nil, fault.Usage("toolx dev runs one server, and the config has several: "+strings.Join(names, ", "),
			"toolx dev SERVER")
	}
	d.server = d.box.Server(names[0])
	d.made, err = sourcesOf(d.server)
	return d, err
}

// sources are the files of a server under development.
type sources struct {
	folder string   // in which the server is started; absolute
	files  []string // its program
}

// sourcesOf returns where the files of a server are.
func sourcesOf(server *config.Server) (sources, error) {
	if server.URL != "" {
		return sources{}, fault.Usage(
			"server "+strconv.Quote(server.Name)+" has an address, so toolx does not start it",
			"toolx dev -- COMMAND… restarts a program; toolx watch shows what a server reports")
	}
	if err := server.CheckConsent(); err != nil {
		return sources{}, exit.Usage(err)
	}
	launch, err := server.Resolve(os.Environ())
	if err != nil {
		return sources{}, err
	}
	folder, err := filepath.Abs(launch.Cwd)
	return sources{folder, cmdline.ProgramFiles(launch.Command, launch.Args, folder, launch.Env)}, err
}

// paths returns the paths to watch: the program's files, their folders, and the server's working folder. It leaves out
// folders with more than a server's files.
func (s sources) paths() (files, folders []string, err error) {
	for _, folder := range append([]string{s.folder}, words.Texts(s.files, filepath.Dir)...) {
		if !crowded(folder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	if len(s.files)+len(folders) == 0 {
		return nil, nil, fault.Usage("the server's folder is "+s.folder+", which has more than the server's files",
			"start it in the folder of the server, or name what to watch: toolx dev --watch PATH")
	}
	return s.files, folders, nil
}

// crowded reports whether a folder has the files of many programs: a home folder, the root, or a folder in PATH.
func crowded(folder string) bool {
	home, _ := os.UserHomeDir()
	return folder == filepath.Clean(home) || folder == filepath.Dir(folder) ||
		slices.Contains(filepath.SplitList(os.Getenv("PATH")), folder)
}

// watch watches the files of a server, and returns what it watches. If there are too many files below the folders of
// its program, it watches only the program's files.
func (s sources) watch() (watch *reload.Watcher, watched []string, err error) {
	files, folders, err := s.paths()
	if err != nil {
		return nil, nil, err
	}
	watched = append(slices.Clone(files), folders...)
	watch, err = reload.New(watched, false)
	if errors.Is(err, reload.ErrTooMany) && len(files) > 0 {
		other := func(folder string) bool { return folder != s.folder }
		watched = append(slices.Clone(files), slices.DeleteFunc(folders, other)...)
		watch, err = reload.New(watched, false)
	}
	return watch, watched, watchError(err)
}

// watchError returns a usage error for files that cannot be watched.
func watchError(err error) error {
	if errors.Is(err, reload.ErrTooMany) || errors.Is(err, os.ErrNotExist) {
		return fault.Usage("cannot watch "+err.Error(), "toolx dev --watch PATH names the files that matter")
	}
	return err
}

// SourcesFor watches the files of a configured server.
func SourcesFor(b *toolset.Set, name string) (tui.Sources, error) {
	made, err := sourcesOf(b.Server(name))
	if err != nil {
		return nil, err
	}
	watch, _, err := made.watch()
	if err != nil {
		return nil, err
	}
	return watch, nil
}

// watch watches the files that the user has named, or otherwise those of the server, and returns what it watches.
func (d *development) watch(named []string) (watch *reload.Watcher, watched []string, err error) {
	if len(named) == 0 {
		return d.made.watch()
	}
	watch, err = reload.New(named, true)
	return watch, named, watchError(err)
}

// relative returns the shortest name of a file, seen from the server's folder.
func (d *development) relative(path string) string {
	if short, err := filepath.Rel(d.made.folder, path); err == nil && filepath.IsLocal(short) {
		path = short
	}
	return render.Safe(path)
}

// maxDevLine is the most bytes of a line about a server.
const maxDevLine = 500

// devLine is a line of --json.
type devLine struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// print writes a line to stdout, with the time of day.
func (d *development) print(format string, args ...any) error {
	d.tools.Out.Live.Clear()
	now, line := time.Now(), words.Shorten(d.tools.Out.Mask.Text(fmt.Sprintf(format, args...)), maxDevLine)
	if d.json {
		return d.tools.Out.PrintJSON(devLine{now, line})
	}
	_, err := fmt.Fprintln(d.tools.Out.Console.Out, now.Format(time.TimeOnly)+"  "+line)
	return err
}

// life starts the server and does everything that follows a start; then it waits until ctx or the server ends. The
// error comes from stdout.
func (d *development) life(ctx context.Context) error {
	session, err := d.box.Pool.Open(ctx, d.server.Name)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		d.tools.Out.ShowError(d.tools.Out.Masked(err))
		if err := d.print("did not start"); err != nil {
			return err
		}
		return d.examine(ctx)
	}
	start := session.Timing.StartMS + session.Timing.InitializeMS + session.Timing.ListMS
	took := time.Duration(start * float64(time.Millisecond)).Round(time.Millisecond)
	tools := session.Tools()
	if err := d.print("started in %s, %s", took, words.Count(len(tools), "tool")); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return d.compare(tools) },
		func() error { return d.makeCalls(ctx) },
		func() error { return d.examine(ctx) },
	} {
		if err := step(); err != nil || ctx.Err() != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case <-session.Done():
	}
	return d.reportEnd(session)
}

// reportEnd reports a server that has exited.
func (d *development) reportEnd(session *protocol.Session) error {
	d.tools.Out.ShowError(d.tools.Out.Masked(session.Err()))
	return d.print("exited; toolx restarts it when a file changes")
}

// compare prints which tools were added, removed or changed since the last list. For the first list it prints nothing.
func (d *development) compare(tools []*exec.Tool) error {
	before, first := d.last, !d.listed
	d.last, d.listed = tools, true
	if first {
		return nil
	}
	for _, line := range render.ToolChanges(before, tools) {
		if err := d.print("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// makeCalls runs the calls in --call, and prints their results.
func (d *development) makeCalls(ctx context.Context) error {
	for _, call := range d.calls {
		if target := d.toolNamed(call.Tool); target != nil {
			call.Target = target
		}
		result := d.box.Executor.Call(ctx, call)
		if ctx.Err() != nil {
			return nil
		}
		result.Err = d.tools.Out.Masked(result.Err)
		as := render.ResultOptions{Format: render.FormatText, Screen: d.tools.Out.OutScreen()}
		if d.json { // JSON includes failures
			as.Format = render.FormatJSON
			if err := d.results.Write(ctx, result, as); err != nil {
				return err
			}
			continue
		}
		if result.Err != nil {
			d.tools.Out.ShowError(result.Err)
			if err := d.print("%s failed", render.Safe(call.Tool)); err != nil {
				return err
			}
			continue
		}
		took := time.Duration(result.Timing.CallMS * float64(time.Millisecond)).Round(time.Millisecond / 10)
		if err := d.print("%s answered in %s:", render.Safe(call.Tool), took); err != nil {
			return err
		}
		if err := d.results.Write(ctx, result, as); err != nil {
			return err
		}
	}
	return nil
}

// toolNamed returns the server's tool with a name, which may start with the server's name.
func (d *development) toolNamed(name string) *exec.Tool {
	session := d.box.Pool.Session(d.server.Name)
	if session == nil {
		return nil
	}
	for _, tool := range session.Tools() {
		if tool.Plain == name || tool.Name == name {
			return tool
		}
	}
	return nil
}

// examine lets the doctor examine the server in separate processes, and prints new and fixed findings: errors and
// warnings.
func (d *development) examine(ctx context.Context) error {
	if d.noDoctor {
		return nil
	}
	report, err := doctorcmd.ExamineOne(ctx, d.box, d.server.Name)
	if err != nil || ctx.Err() != nil || report.Status == doctor.StatusInterrupted {
		return err
	}
	findings := slices.DeleteFunc(slices.Clone(report.Findings), func(f check.Finding) bool {
		return f.Severity != check.Error && f.Severity != check.Warning
	})
	before, first := d.findings, !d.examined
	d.findings, d.examined = findings, true
	for _, f := range findings {
		if !found(before, f) {
			mark := map[check.Severity]string{check.Error: "✗", check.Warning: "!"}[f.Severity]
			if err := d.print("%s %s  %s", mark, render.Safe(f.Title), f.ID); err != nil {
				return err
			}
		}
	}
	if report.Status == doctor.StatusUnreachable {
		d.findings = append(findings, before...) // the examination is incomplete
		return nil
	}
	for _, f := range before {
		if !found(findings, f) {
			if err := d.print("✓ fixed: %s  %s", render.Safe(f.Title), f.ID); err != nil {
				return err
			}
		}
	}
	if first && len(findings) == 0 {
		return d.print("✓ the doctor finds nothing wrong")
	}
	return nil
}

// found reports whether there is a finding of the same check with the same title.
func found(findings []check.Finding, wanted check.Finding) bool {
	return slices.ContainsFunc(findings, func(f check.Finding) bool {
		return f.ID == wanted.ID && f.Title == wanted.Title
	})
}
