package cmd

import (
	"strings"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/decode"
	"toolx/pkg/doctor/report"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// listChecks lists the checks that --only and --skip leave.
func listChecks(out *output, o doctorOptions) error {
	selection := doctor.Selection{Only: o.only, Skip: o.skip}
	var checks []check.Check
	for _, check := range doctor.Checks() {
		if selection.Wants(check.ID) {
			checks = append(checks, check)
		}
	}
	if o.format == report.JSON {
		return report.ChecksJSON(out.Console.Out, checks, out.outScreen())
	}
	return report.Checks(out.Console.Out, checks, out.outScreen())
}

// explain shows the page of a check, or what an error message of a client means.
// Only what looks like an id is taken for one that is misspelt.
func explain(o *output, options doctorOptions) error {
	what, out, screen := strings.TrimSpace(options.explain), o.Console.Out, o.outScreen()
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
		return fault.Usage("toolx does not know the message "+quote(words.Clip(what, 80)),
			"toolx doctor -- COMMAND… looks at the server itself")
	}
	return unknownCheck(what)
}
