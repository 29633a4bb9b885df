// Package doctor has toolx doctor, which diagnoses servers and configuration.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/report"
	"toolx/pkg/fault"
)

// Options say what to examine, which findings to report, and how.
type Options struct {
	Out   *streams.Streams
	Flags *cli.Flags
	Tools *toolset.Opener

	servers []string // names from the config; none means all of them and the config
	command []string // a command line after --

	format     report.Format
	reports    []string // FORMAT=FILE
	full       bool
	listChecks bool
	explain    string

	only, skip    []string
	failOn        string
	baseline      string
	writeBaseline string

	calls   []string
	envLike string
	budget  contract.Budget
}

// doctorTime bounds a whole run unless --max-time does.
const doctorTime = 2 * time.Minute

// New returns the command doctor; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "doctor [SERVER…] [-- COMMAND…]",
		Short: "Diagnose servers and configuration",
		Long: `Find out why MCP servers fail, and how to fix them.

The doctor starts each server twice: first like any client, then with the first
message of the other protocol era, invalid input and a signal. It calls only the tools
that --call names; --call safe calls the read-only ones. A server over HTTP (--url) gets
a session and raw requests instead. Without arguments, the doctor examines the config
and all of its servers. With the file of a recording (--record), it starts nothing.

Exit codes: 0 no findings at or above --fail-on, 2 wrong usage or config, 3 a server
requires authentication, 4 no server could be started or reached, 6 findings, or a stale
baseline, 124 timeout, 130 interrupted.`,
		Example: `  toolx doctor -- npx -y @modelcontextprotocol/server-everything
  toolx doctor --url https://mcp.example.com/mcp
  toolx doctor zwave --call 'list_zwave_devices {"room":"hall"}'
  toolx doctor calls.jsonl
  toolx doctor --json | jq -r '.findings[] | "\(.severity) \(.id): \(.title)"'
  toolx doctor --report sarif=toolx.sarif --report junit=toolx.xml
  toolx doctor --explain stdout-pollution
  toolx doctor --explain 'Unexpected token S in JSON at position 0'`,
		Args:              cli.NamesOrCommand(&o.servers, &o.command),
		ValidArgsFunction: complete.ServersOrRecording(f.Tools),
	}
	flags := cmd.Flags()
	var forms []string
	for _, form := range reportFlags {
		flags.Bool(string(form.format), false, form.usage)
		forms = append(forms, string(form.format))
	}
	cmd.MarkFlagsMutuallyExclusive(forms...)
	o.declare(flags)
	cmd.RunE = cli.Run(&o, run, func() error { return o.check(flags) })
	return cmd
}

// reportFlags has the flags that print the report in a form other than text.
var reportFlags = []struct {
	format report.Format
	usage  string
}{
	{report.JSON, "print the report as JSON"},
	{report.JUnit, "print the report as JUnit XML, for continuous integration"},
	{report.SARIF, "print the report as SARIF 2.1.0, for code scanning"},
}

// declare declares the flags that have one value each.
func (o *Options) declare(flags *pflag.FlagSet) {
	cli.TextsVar(flags, &o.reports, "report",
		"also write the report to a file, as `FORMAT=FILE`: json, sarif, junit, text (repeatable)")
	flags.BoolVar(&o.full, "full", false, "show whole lines as evidence instead of 80 bytes")
	flags.BoolVar(&o.listChecks, "list-checks", false, "list all checks")
	flags.StringVar(&o.explain, "explain", "", "explain the check `ID`, or a client's error message")
	flags.StringSliceVar(&o.only, "only", nil, "run only checks whose id matches `GLOB` (repeatable, comma-separated)")
	flags.StringSliceVar(&o.skip, "skip", nil, "skip checks whose id matches `GLOB` (repeatable, comma-separated)")
	flags.StringVar(&o.failOn, "fail-on", "error", "fail on findings from `SEVERITY` up: error, warn, info, never")
	flags.StringVar(&o.baseline, "baseline", "", "accept the findings in `FILE`, and compare tools with its pins")
	flags.StringVar(&o.writeBaseline, "write-baseline", "", "write current findings and pins of all tools to `FILE`")
	cli.TextsVar(flags, &o.calls, "call",
		"call a tool, as `'TOOL {\"json\"}'` (repeatable); safe: call all tools that are read-only")
	flags.StringVar(&o.envLike, "env-like", "",
		"start servers with the environment of `CLIENT`: claude-desktop, cursor, minimal")
	cli.BudgetVar(flags, &o.budget)
	flags.Func("max-result-size", "fail if a result of --call is larger than `SIZE`", func(text string) (err error) {
		o.budget.ResultSize, err = config.ParseSize(text)
		return err
	})
}

// check refuses invalid values, and sets the form of output.
func (o *Options) check(flags *pflag.FlagSet) error {
	o.format = report.Text
	for _, form := range reportFlags {
		if on, _ := flags.GetBool(string(form.format)); on {
			o.format = form.format
		}
	}
	if err := cli.OneOf("--fail-on", o.failOn, "error", "warn", "warning", "info", "never"); err != nil {
		return err
	}
	if err := cli.CheckPatterns(slices.Concat(o.only, o.skip)); err != nil {
		return err
	}
	for _, glob := range slices.Concat(o.only, o.skip) {
		matching := func(check check.Check) bool { ok, _ := path.Match(glob, check.ID); return ok }
		if !slices.ContainsFunc(doctor.Checks(), matching) {
			return unknownCheck(glob)
		}
	}
	if flags.Changed("explain") && strings.TrimSpace(o.explain) == "" {
		return fault.Usage("--explain is empty", "toolx doctor --explain stdout-pollution")
	}
	return nil
}

// unknownCheck returns the error for an unknown check id.
func unknownCheck(id string) error {
	if err := cli.RemovedCheck(id); err != nil {
		return err
	}
	fix := "toolx doctor --list-checks shows all ids"
	if near := doctor.Near(id); near != "" {
		fix = "did you mean " + near + "? " + fix
	}
	return fault.Usage("no check named "+strconv.Quote(id), fix)
}

// severity returns the one that --fail-on names, empty for never.
func (o *Options) severity() check.Severity {
	switch o.failOn {
	case "never":
		return ""
	case "warn": // as in --log-level
		return check.Warning
	}
	return check.Severity(o.failOn)
}

// Run examines servers, removes findings that the baseline accepts, and reports the rest.
func Run(ctx context.Context, o Options) error {
	switch {
	case o.listChecks:
		return listChecks(o.Out, o)
	case o.explain != "":
		return explain(o.Out, o)
	}
	visit, err := newVisit(o)
	if err != nil {
		return err
	}
	if err := visit.leaveUntrusted(ctx); err != nil {
		return err
	}
	limit := cmp.Or(o.Flags.MaxTime, doctorTime)
	if limit == config.Unlimited {
		limit = math.MaxInt64
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	fleet, judged := visit.examine(bounded)
	switch {
	case visit.configErr != nil:
		judged.Status, judged.Error = doctor.StatusUsage, visit.configErr.Error()
		judged.Hint = fault.HintOf(visit.configErr)
	case ctx.Err() != nil:
		judged.Status = doctor.StatusInterrupted
	case bounded.Err() != nil && slices.ContainsFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Cut }):
		judged.Status = doctor.StatusTimeout
	}
	if err := visit.accept(fleet, judged); err != nil {
		return err
	}
	if o.full {
		judged.ExpandEvidence(fleet)
	}
	judged.Mask(o.Out.Mask.Text)
	err = printReport(o.Out, judged, o.format, o.severity())
	if err := errors.Join(err, visit.writeReports(judged)); err != nil {
		return err
	}
	return verdictOf(judged, o.severity())
}

// verdictOf returns an error that sets the exit code for a report; nil if all is well. The report has everything else.
func verdictOf(judged *doctor.Report, failOn check.Severity) error {
	kind, bad := map[string]fault.Kind{
		doctor.StatusUsage:       fault.KindUsage,
		doctor.StatusInterrupted: fault.KindInterrupted,
		doctor.StatusTimeout:     fault.KindTimeout,
		doctor.StatusAuth:        fault.KindAuth,
		doctor.StatusUnreachable: fault.KindConnect,
	}[judged.Status]
	if !bad {
		if !judged.Fails(failOn) {
			return nil
		}
		kind = fault.KindProtocol
	}
	return exit.Reported(exit.Fail(errors.New("the doctor: "+judged.Status), kind, ""))
}
