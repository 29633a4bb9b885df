package cmd

import (
	"context"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/pkg/doctor"
)

// examination returns the options of the doctor that do not depend on who asks for it.
func examination(a *opener) doctor.Options {
	return doctor.Options{
		Limit:     a.flags.StartTimeout,
		StderrDir: stores.State("stderr"),
		Version:   build.Version(),
		Secret:    a.out.Mask.Add,
		HTTP:      a.overHTTP(),
	}
}

// examineOne lets the doctor examine one server, in sessions of its own.
func examineOne(ctx context.Context, b *toolbox, name string) (*doctor.Report, error) {
	list, err := cli.ServersNamed(b.config().Servers, []string{name})
	if err != nil {
		return nil, err
	}
	fleet := doctor.Examine(ctx, b.config(), list, examination(b.opener))
	fleet.Config = nil // the report is about the server, not the config
	return doctor.Judge(fleet, doctor.Selection{}), nil
}
