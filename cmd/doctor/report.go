package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/streams"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/decode"
	"toolx/pkg/doctor/report"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// reportFile is a file for a copy of the doctor's report (--report).
type reportFile struct {
	format report.Format
	name   string
	file   *os.File
}

// readReports reads FORMAT=FILE and opens the files, so that a file that cannot be written is an error before any
// server starts. All errors are usage errors.
func (v *visit) readReports() error {
	seen := make(map[string]bool)
	for _, text := range v.options.reports {
		format, name, _ := strings.Cut(text, "=")
		if err := cli.RemovedError("doctor --report " + format); err != nil {
			return err
		}
		if err := cli.OneOf("--report", format, "json", "sarif", "junit", "text"); err != nil || name == "" {
			return fault.Usage("--report "+strconv.Quote(text)+" is not a format and a file",
				"--report sarif=toolx.sarif; formats: json, sarif, junit, text")
		}
		if name == "-" {
			return fault.Usage("--report writes files, and - is not one",
				"--json, --sarif and --junit print the report on stdout; without them it is text")
		}
		path := filepath.Clean(name)
		if seen[path] {
			return fault.Usage("two reports go to "+name, "give each report its own file")
		}
		seen[path] = true
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return fault.Usage(fmt.Sprintf("cannot write the report: %v", err),
				"give --report a file in a writable folder")
		}
		v.tools.OnClose(func(context.Context) { _ = file.Close() }) // it was closed already if it was written
		v.reports = append(v.reports, reportFile{report.Format(format), name, file})
	}
	return nil
}

// writeReports replaces the content of each file with the report, in which secrets are masked.
func (v *visit) writeReports(judged *doctor.Report) error {
	var errs []error
	for _, one := range v.reports {
		options := reportOptions(v.tools.Out, one.format, v.options.severity())
		options.Screen = render.Screen{}
		var err error
		if info, statErr := one.file.Stat(); statErr == nil && info.Mode().IsRegular() {
			err = one.file.Truncate(0) // nothing was read or written yet
		}
		if err := errors.Join(err, report.Write(one.file, judged, options), one.file.Close()); err != nil {
			errs = append(errs, fmt.Errorf("report %s: %w", one.name, err))
		}
	}
	return errors.Join(errs...)
}

// reportOptions returns the options for writing a report in a format.
func reportOptions(o *streams.Streams, format report.Format, failOn check.Severity) report.Options {
	return report.Options{
		Format: format, Verbose: o.Settings.Verbose, FailOn: failOn,
		Version: build.Version(), Screen: o.OutScreen(),
	}
}

// printReport prints a report on stdout.
func printReport(o *streams.Streams, judged *doctor.Report, format report.Format, failOn check.Severity) error {
	o.Live.Clear()
	return report.Write(o.Console.Out, judged, reportOptions(o, format, failOn))
}

// failedReport returns the report of a run that could not start.
func failedReport(err error) *doctor.Report {
	return &doctor.Report{
		Schema: 1, Status: doctor.StatusUsage, Error: err.Error(), Hint: fault.HintOf(err),
		Servers: []doctor.ServerReport{}, Findings: []check.Finding{}, Checks: []check.CheckResult{},
	}
}

// listChecks lists the checks that --only and --skip select.
func listChecks(out *streams.Streams, o Options) error {
	selection := doctor.Selection{Only: o.only, Skip: o.skip}
	var checks []check.Check
	for _, check := range doctor.Checks() {
		if selection.Wants(check.ID) {
			checks = append(checks, check)
		}
	}
	if o.format == report.JSON {
		return report.ChecksJSON(out.Console.Out, checks, out.OutScreen())
	}
	return report.Checks(out.Console.Out, checks, out.OutScreen())
}

// explain shows the page of a check, or the meaning of a client's error message. It suggests a similar id only for text
// that looks like an id.
func explain(o *streams.Streams, options Options) error {
	what, out, screen := strings.TrimSpace(options.explain), o.Console.Out, o.OutScreen()
	asJSON := options.format == report.JSON
	if one, found := doctor.Find(what); found {
		if asJSON {
			return report.ChecksJSON(out, []check.Check{one}, screen)
		}
		return report.Page(out, one, screen)
	}
	diagnosis, known := decode.Decode(what)
	switch {
	case known && asJSON:
		return report.DiagnosisJSON(out, diagnosis, screen)
	case known:
		return report.Diagnosis(out, diagnosis, screen)
	case strings.ContainsAny(what, " \"'"):
		return fault.Usage("unknown message "+strconv.Quote(words.Clip(what, 80)),
			"toolx doctor -- COMMAND… examines the server itself")
	}
	return unknownCheck(what)
}

// PrintFailure prints the JSON report of a run that could not start.
func PrintFailure(o *streams.Streams, err error) error {
	return printReport(o, failedReport(o.Masked(err)), report.JSON, "")
}
