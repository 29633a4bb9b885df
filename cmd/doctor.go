package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/cmdline"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/report"
	"toolx/pkg/doctor/repro"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// doctorOptions say what is examined, how it is judged, and how that is told.
type doctorOptions struct {
	servers []string // names from the config; none means all of them and the config
	command []string // a command line behind --

	format     report.Format
	reports    []string // FORMAT=FILE
	repro      bool
	full       bool
	listChecks bool
	explain    string

	only, skip    []string
	failOn        string
	baseline      string
	writeBaseline string

	calls   []string
	repeat  int
	envLike string
}

// doctorTime bounds a whole run unless --max-time does.
const doctorTime = 2 * time.Minute

func newDoctorCommand(app *App, run func(context.Context, *App, doctorOptions) error) *cobra.Command {
	var o doctorOptions
	formats := map[report.Format]*bool{}
	cmd := &cobra.Command{
		Use:   "doctor [SERVER…] [-- COMMAND…]",
		Short: "Find out what is wrong with servers and the config",
		Long: `Find out what makes MCP servers fail, name the culprit, and say how to mend it.

Each server is started twice: once as any client does, once with the other era's
first message, hostile input and a signal. No tool is ever called, except by --call;
--call safe calls those that say that they are read-only, and no others.
A server that is reached by HTTP (--url) has a session and raw requests instead.
Without arguments all servers of the config are examined, in parallel, and the
config itself.

Exit codes: 0 nothing at or above --fail-on was found, 2 wrong usage or config,
3 a server wants authentication, 4 no server could be started or reached, 6 something was
found, or the baseline is stale, 124 the time was up, 130 interrupted.`,
		Example: `  toolx doctor -- npx -y @modelcontextprotocol/server-everything
  toolx doctor --url https://mcp.example.com/mcp
  toolx doctor zwave --call 'list_zwave_devices {"room":"hall"}'
  toolx doctor --json | jq -r '.findings[] | "\(.severity) \(.id): \(.title)"'
  toolx doctor --report sarif=toolx.sarif --report junit=toolx.xml
  toolx doctor --explain stdout-pollution
  toolx doctor --explain 'Unexpected token S in JSON at position 0'`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			o.servers, o.command, err = splitDash(cmd, args)
			if err == nil && len(o.servers) > 0 && len(o.command) > 0 {
				err = fault.Usage("there is a server's name and a command",
					"toolx doctor SERVER, or toolx doctor -- COMMAND…")
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.chooseFormat(formats); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("explain") && strings.TrimSpace(o.explain) == "" {
				return fault.Usage("--explain is empty", "toolx doctor --explain stdout-pollution")
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: completeServers(app),
	}
	flags := cmd.Flags()
	for _, format := range []struct {
		name  report.Format
		usage string
	}{
		{report.JSON, "print the report as JSON"},
		{report.SARIF, "print it as SARIF 2.1.0, for code scanning"},
		{report.JUnit, "print it as JUnit XML, for continuous integration"},
		{report.Markdown, "print it as Markdown, for an issue"},
	} {
		formats[format.name] = flags.Bool(string(format.name), false, format.usage)
	}
	o.declare(cmd)
	return cmd
}

// declare declares the flags that have one value each.
func (o *doctorOptions) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.reports, "report", nil, "write the report into a file too, as `FORMAT=FILE`: json, markdown, sarif, junit, text (repeatable)")
	flags.BoolVar(&o.repro, "repro", false, "print a shell script that shows the first finding without toolx")
	flags.BoolVar(&o.full, "full", false, "show whole lines as evidence, not 80 bytes of them")
	flags.BoolVar(&o.listChecks, "list-checks", false, "list all checks")
	flags.StringVar(&o.explain, "explain", "", "explain a check by its `ID`, or the error message of a client")
	flags.StringArrayVar(&o.only, "only", nil, "make only checks whose id fits `GLOB` (repeatable)")
	flags.StringArrayVar(&o.skip, "skip", nil, "leave checks out whose id fits `GLOB` (repeatable)")
	flags.StringVar(&o.failOn, "fail-on", "error", "fail from this `SEVERITY` on: error, warn, info, never")
	flags.StringVar(&o.baseline, "baseline", "", "accept the findings that `FILE` knows, and hold tools to its pins")
	flags.StringVar(&o.writeBaseline, "write-baseline", "", "write what is found now, and pins of all tools, into `FILE`")
	flags.StringArrayVar(&o.calls, "call", nil, "call a tool for real, as `'TOOL {\"json\"}'` (repeatable); safe: call those that say they are read-only, with arguments that their schemas give")
	flags.IntVar(&o.repeat, "repeat", 0, "start each server `N` times more to measure its start, and make each --call N times more")
	flags.StringVar(&o.envLike, "env-like", "", "start servers with the environment of `CLIENT`: claude-desktop, cursor, minimal")
}

// chooseFormat allows one form of output at a time.
func (o *doctorOptions) chooseFormat(formats map[report.Format]*bool) error {
	o.format = report.Text
	var asked []string
	for _, format := range slices.Sorted(maps.Keys(formats)) {
		if *formats[format] {
			o.format = format
			asked = append(asked, "--"+string(format))
		}
	}
	if o.repro {
		asked = append(asked, "--repro")
	}
	if len(asked) > 1 {
		return fault.Usage(strings.Join(asked, " and ")+" exclude each other", "keep one of them")
	}
	return nil
}

// check refuses values that cannot be meant.
func (o *doctorOptions) check() error {
	if err := oneOf("--fail-on", o.failOn, "error", "warn", "warning", "info", "never"); err != nil {
		return err
	}
	if o.repeat < 0 {
		return fault.Usage("--repeat must not be negative", "--repeat 3")
	}
	for _, glob := range slices.Concat(o.only, o.skip) {
		if err := checkGlob(glob); err != nil {
			return err
		}
	}
	return nil
}

// checkGlob wants a glob that means some check.
func checkGlob(glob string) error {
	for _, check := range doctor.Checks() {
		fits, err := path.Match(glob, check.ID)
		if err != nil {
			return fault.Usage("the pattern "+quote(glob)+" is malformed", "quote [ and \\ in patterns: '\\['")
		}
		if fits {
			return nil
		}
	}
	return unknownCheck(glob)
}

// unknownCheck is the error for an id that no check has.
func unknownCheck(id string) error {
	fix := "toolx doctor --list-checks shows all ids"
	if near := doctor.Near(id); near != "" {
		fix = "did you mean " + near + "? " + fix
	}
	return fault.Usage("no check is called "+quote(id), fix)
}

// severity is the one that --fail-on names, empty for never.
func (o *doctorOptions) severity() check.Severity {
	switch o.failOn {
	case "never":
		return ""
	case "warn": // --log-level has that word
		return check.Warning
	}
	return check.Severity(o.failOn)
}

// runDoctor is the whole of a visit: examine, judge, accept what is known, tell.
func runDoctor(ctx context.Context, app *App, o doctorOptions) error {
	switch {
	case o.listChecks:
		return app.listChecks(o)
	case o.explain != "":
		return app.explain(o)
	}
	visit, err := app.newVisit(o)
	if err != nil {
		return err
	}
	if err := visit.leaveUntrusted(ctx); err != nil {
		return err
	}
	limit := cmp.Or(app.flags.maxTime, doctorTime)
	if limit == config.Unlimited {
		limit = math.MaxInt64
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	fleet, report := visit.examine(bounded)
	switch {
	case visit.configErr != nil:
		report.Status, report.Error, report.Hint = doctor.StatusUsage, visit.configErr.Error(), fault.HintOf(visit.configErr)
	case ctx.Err() != nil:
		report.Status = doctor.StatusInterrupted
	case bounded.Err() != nil && slices.ContainsFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Cut }):
		report.Status = doctor.StatusTimeout
	}
	if err := visit.accept(fleet, report); err != nil {
		return err
	}
	if o.full {
		report.Uncut(fleet)
	}
	if o.repro {
		err = app.printRepro(fleet, report)
	}
	report.Mask(app.mask.Text)
	if !o.repro {
		err = app.printReport(report, o.format, o.severity())
	}
	if err := errors.Join(err, visit.writeReports(report)); err != nil {
		return err
	}
	return verdictOf(report, o.severity())
}

// visit is everything that is known before a server is started.
type visit struct {
	app       *App
	options   doctorOptions
	config    *config.Config // nil for a server on the command line
	configErr error          // why it could not be read
	servers   []*config.Server
	whole     bool // all servers and the config, not some of them
	calls     []evidence.Call
	safe      bool // --call safe
	environ   []string
	selection doctor.Selection
	baseline  *doctor.Baseline // nil where none was given
	reports   []reportFile
}

// newVisit reads the config and everything else that options name. All errors are the user's to mend.
func (a *App) newVisit(o doctorOptions) (*visit, error) {
	v := &visit{app: a, options: o, selection: doctor.Selection{Only: o.only, Skip: o.skip}}
	for _, step := range []func() error{v.chooseServers, v.readCalls, v.readEnviron, v.readSeverities, v.readBaseline, v.record, v.readReports} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// chooseServers finds what is examined: the command behind --, else the named servers, else all that are not disabled.
func (v *visit) chooseServers() error {
	adHoc, err := v.app.adHoc(v.options.command)
	if err != nil {
		return err
	}
	if adHoc != nil && len(v.options.servers) > 0 {
		return fault.Usage("there is a server's name and a --url", "toolx doctor SERVER, or toolx doctor --url URL")
	}
	if adHoc != nil {
		v.servers = []*config.Server{adHoc}
		return nil
	}
	loaded, err := v.app.loadConfig()
	if err != nil {
		v.configErr = err // which the doctor can judge
		return nil
	}
	v.config = loaded
	if len(v.options.servers) > 0 {
		return v.namedServers()
	}
	v.whole = true
	for _, server := range loaded.Servers {
		if !server.Disabled {
			v.servers = append(v.servers, server)
		}
	}
	if len(loaded.Files) == 0 {
		return fault.Usage("there is no server to examine: no config was found, and no command was given",
			"toolx doctor -- npx -y @modelcontextprotocol/server-everything")
	}
	return nil
}

// leaveUntrusted leaves out the servers that wait for the user's consent. That is an error
// where one of them was named, or no other is there.
func (v *visit) leaveUntrusted(ctx context.Context) error {
	if err := v.app.consent(ctx, v.servers...); err != nil {
		return err
	}
	var trusted []*config.Server
	var waiting []servers.Opened
	for _, server := range v.servers {
		if err := server.CheckConsent(); err != nil {
			waiting = append(waiting, servers.Opened{Server: server.Name, Err: err})
			continue
		}
		trusted = append(trusted, server)
	}
	for _, err := range untrustedTogether(waiting) {
		if !v.whole || len(trusted) == 0 {
			return &usageError{err}
		}
		v.app.warnOnce(err.Error())
	}
	v.servers = trusted
	return nil
}

// namedServers takes servers by their names, disabled ones too: who names one means it.
func (v *visit) namedServers() error {
	var known []string
	for _, server := range v.config.Servers {
		known = append(known, server.Name)
	}
	for _, name := range v.options.servers {
		at := slices.Index(known, name)
		if at < 0 {
			fix := "toolx doctor -- COMMAND… examines a server that no config names"
			if len(known) > 0 {
				fix = "known servers: " + strings.Join(known, ", ")
			}
			return fault.Usage("no server is named "+quote(name), fix)
		}
		if !slices.Contains(v.servers, v.config.Servers[at]) {
			v.servers = append(v.servers, v.config.Servers[at])
		}
	}
	return nil
}

// readCalls reads "TOOL {json}" and finds the server that each is for; "safe" alone lets the doctor choose.
func (v *visit) readCalls() error {
	var names []string
	for _, server := range v.servers {
		names = append(names, server.Name)
	}
	for _, text := range v.options.calls {
		if text == "safe" {
			v.safe = true
			continue
		}
		tool, arguments, _ := strings.Cut(strings.TrimSpace(text), " ")
		call := evidence.Call{Tool: tool, Arguments: json.RawMessage(cmp.Or(strings.TrimSpace(arguments), "{}"))}
		var object map[string]json.RawMessage
		if tool == "" || strings.HasPrefix(tool, "{") || json.Unmarshal(call.Arguments, &object) != nil {
			return fault.Usage("--call "+quote(text)+" is not a tool and a JSON object",
				`--call 'echo {"message":"hi"}'`)
		}
		if server := exec.ServerOf(tool, names); server != "" {
			call.Server = server
		} else if len(v.servers) > 1 {
			return fault.Usage("--call "+quote(text)+" does not say which server is meant",
				"--call 'SERVER__"+tool+" …', with SERVER one of: "+strings.Join(names, ", "))
		}
		v.calls = append(v.calls, call)
	}
	return nil
}

// readEnviron cuts the environment to that of another client.
func (v *visit) readEnviron() (err error) {
	if v.options.envLike != "" {
		v.environ, err = cmdline.EnvLike(v.options.envLike, os.Environ())
	}
	return err
}

// readSeverities takes what the config says of how much checks matter.
func (v *visit) readSeverities() error {
	if v.config == nil {
		return nil
	}
	v.selection.Severities = make(map[string]check.Severity)
	for _, id := range slices.Sorted(maps.Keys(v.config.Doctor.Severity)) {
		if _, found := doctor.Find(id); !found {
			origin, _ := v.config.Origin("doctor.severity." + id)
			text := fmt.Sprintf("%s: doctor.severity: no check is called '%s'", origin, id)
			if near := doctor.Near(id); near != "" {
				text += fmt.Sprintf(", did you mean '%s'?", near)
			}
			v.app.log.Warn(text)
		}
		v.selection.Severities[id] = check.Severity(v.config.Doctor.Severity[id])
	}
	return nil
}

func (v *visit) readBaseline() error {
	if v.options.baseline == "" {
		return nil
	}
	baseline, err := doctor.ReadBaseline(v.options.baseline)
	if err != nil {
		return &usageError{err}
	}
	v.baseline = baseline
	return nil
}

// record writes calls to the execution log and messages to the trace, as for every verb (EXEC-11).
func (v *visit) record() error {
	return v.app.record(cmp.Or(v.config, &config.Config{}))
}

// examination is what every visit of the doctor has in common, whoever asks for it.
func (a *App) examination() doctor.Options {
	return doctor.Options{
		Limit:     a.flags.startTimeout,
		StderrDir: stateFile("stderr"),
		Version:   Version(),
		Secret:    a.mask.Add,
		HTTP:      a.overHTTP(),
	}
}

// examine starts the servers and judges what came of it.
func (v *visit) examine(ctx context.Context) (*evidence.Fleet, *doctor.Report) {
	doing, stop := v.app.showDoing("doctor")
	options := v.app.examination()
	options.Calls, options.Safe, options.CallTimeout = v.calls, v.safe, v.app.flags.timeout
	options.Repeat, options.Environ = v.options.repeat, v.environ
	options.Watch = v.app.bus.Emit
	options.Doing = func(server, what string) {
		if len(v.servers) > 1 {
			what = server + ": " + what
		}
		doing(what)
	}
	if v.baseline != nil {
		options.Pinned = v.baseline.Tools
	}
	began := time.Now()
	fleet := doctor.Examine(ctx, v.config, v.servers, options)
	fleet.ConfigErr = v.configErr
	if !v.whole {
		fleet.Config = nil // a server was asked about, not the config
	}
	report := doctor.Judge(fleet, v.selection)
	report.Duration = time.Since(began)
	stop()
	return fleet, report
}

// accept writes a baseline where that was asked for, and takes known findings out of the report.
func (v *visit) accept(fleet *evidence.Fleet, report *doctor.Report) error {
	file := v.options.writeBaseline
	if file == "" {
		if v.baseline != nil {
			v.baseline.Apply(report)
		}
		return nil
	}
	if report.Status != doctor.StatusHealthy && report.Status != doctor.StatusProblems {
		v.app.log.Warn(file + " was not written: not everything was examined")
		return nil
	}
	severity := check.Warning
	if v.options.failOn == "info" {
		severity = check.Info
	}
	earlier, err := v.earlierBaseline(file)
	if err != nil {
		return err
	}
	reason := "accepted on " + time.Now().Format(time.DateOnly) + "; say why"
	written := doctor.NewBaseline(report, fleet, severity, earlier, reason)
	if err := written.Write(file); err != nil {
		return &usageError{err}
	}
	tools := 0
	for _, pins := range written.Tools {
		tools += len(pins)
	}
	fmt.Fprintf(v.app.live, "%s: %s and %s; give each finding its reason\n", render.Safe(file), plural(len(written.Findings), "finding", "findings"), plural(tools, "tool", "tools"))
	written.File = file
	written.Apply(report)
	return nil
}

// earlierBaseline is where reasons come from: the baseline that was given, else what stands in the file that will be
// written, nil where there is none. A file that is something else is not overwritten.
func (v *visit) earlierBaseline(file string) (*doctor.Baseline, error) {
	if v.baseline != nil {
		return v.baseline, nil
	}
	earlier, err := doctor.ReadBaseline(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &usageError{err}
	}
	return earlier, nil
}

// printReport prints a report on stdout.
func (a *App) printReport(judged *doctor.Report, format report.Format, failOn check.Severity) error {
	a.live.Clear()
	return report.Write(a.Console.Out, judged, a.reportOptions(format, failOn))
}

// printRepro prints a script for the first finding that one can show.
func (a *App) printRepro(fleet *evidence.Fleet, report *doctor.Report) error {
	var first error = &repro.ReproError{Reason: "nothing was found"}
	for i, finding := range report.Findings {
		script, err := repro.Repro(fleet, finding, a.mask.Text)
		if err == nil {
			_, err = fmt.Fprint(a.Console.Out, script)
			return err
		}
		if i == 0 {
			first = err
		}
	}
	a.tell(first)
	return nil
}

// failedReport is the report of a visit that could not begin.
func failedReport(err error) *doctor.Report {
	return &doctor.Report{
		Schema: 1, Status: doctor.StatusUsage, Error: err.Error(), Hint: fault.HintOf(err),
		Servers: []doctor.ServerReport{}, Findings: []check.Finding{}, Checks: []check.CheckResult{},
	}
}

// verdict is a report as an error: what the exit code is chosen by.
type verdict struct {
	kind fault.Kind
	text string
}

func (v *verdict) Error() string { return v.text }

// Kind implements the interface that fault.KindOf looks for.
func (v *verdict) Kind() fault.Kind { return v.kind }

// verdictOf is nil where all is well; the user has been told of everything else.
func verdictOf(report *doctor.Report, failOn check.Severity) error {
	found := &verdict{text: "the doctor: " + report.Status}
	switch report.Status {
	case doctor.StatusUsage:
		found.kind = fault.KindUsage
	case doctor.StatusInterrupted:
		found.kind = fault.KindInterrupted
	case doctor.StatusTimeout:
		found.kind = fault.KindTimeout
	case doctor.StatusAuth:
		found.kind = fault.KindAuth
	case doctor.StatusUnreachable:
		found.kind = fault.KindConnect
	default:
		if !report.Fails(failOn) {
			return nil
		}
		found.kind = fault.KindProtocol
	}
	return &reportedError{found}
}
