package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/decode"
	"toolx/pkg/doctor/report"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// listChecks lists the checks that --only and --skip leave.
func (a *App) listChecks(o doctorOptions) error {
	selection := doctor.Selection{Only: o.only, Skip: o.skip}
	var checks []check.Check
	for _, check := range doctor.Checks() {
		if selection.Wants(check.ID) {
			checks = append(checks, check)
		}
	}
	if o.format == report.JSON {
		return report.ChecksJSON(a.Console.Out, checks, a.outScreen())
	}
	return report.Checks(a.Console.Out, checks, a.outScreen())
}

// explain shows the page of a check, or what an error message of a client means.
// Only what looks like an id is taken for one that is misspelt.
func (a *App) explain(o doctorOptions) error {
	what, out, screen := strings.TrimSpace(o.explain), a.Console.Out, a.outScreen()
	asJSON := o.format == report.JSON
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
		return fault.Usage("toolx does not know the message "+quote(words.Clip(what, 80)),
			"toolx doctor -- COMMAND… looks at the server itself")
	}
	return unknownCheck(what)
}

// completeServers completes the names of configured servers, any number of them.
func completeServers(app *App) cobra.CompletionFunc {
	complete := completeServer(app)
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete(cmd, nil, typed)
	}
}
