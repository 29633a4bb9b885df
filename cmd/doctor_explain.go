package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/doctor"
	"toolx/pkg/render"
)

// listChecks lists the checks that --only and --skip leave.
func (a *App) listChecks(o doctorOptions) error {
	selection := doctor.Selection{Only: o.only, Skip: o.skip}
	var checks []doctor.Check
	for _, check := range doctor.Checks() {
		if selection.Wants(check.ID) {
			checks = append(checks, check)
		}
	}
	if o.format == render.DoctorJSON {
		return render.DoctorChecksJSON(a.Console.Out, checks, a.outScreen())
	}
	return render.DoctorChecks(a.Console.Out, checks, a.outScreen())
}

// explain shows the page of a check, or what an error message of a client means.
func (a *App) explain(what string) error {
	what = strings.TrimSpace(what)
	if check, found := doctor.Find(what); found {
		return render.DoctorPage(a.Console.Out, check, a.outScreen())
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
