package doctor

import (
	"context"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/cmd/toolset"
	"toolx/pkg/doctor"
)

// examination returns the options of the doctor that are the same for all callers.
func examination(a *toolset.Opener) doctor.Options {
	return doctor.Options{
		Limit:     a.Flags.StartTimeout,
		StderrDir: stores.State("stderr"),
		Version:   build.Version(),
		Secret:    a.Out.Mask.Add,
		HTTP:      a.HTTP(),
	}
}

// ExamineOne lets the doctor examine one server, in separate sessions.
func ExamineOne(ctx context.Context, b *toolset.Set, name string) (*doctor.Report, error) {
	list, err := cli.ServersNamed(b.Config().Servers, []string{name})
	if err != nil {
		return nil, err
	}
	fleet := doctor.Examine(ctx, b.Config(), list, examination(b.Opener))
	fleet.Config = nil // the report is about the server, not the config
	return doctor.Judge(fleet, doctor.Selection{}), nil
}
