package doctor

import (
	"context"
	"slices"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/cmd/toolset"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/recording"
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

// JudgeRecorded lets the doctor judge one server of a recording.
func JudgeRecorded(path, name string) (*doctor.Report, error) {
	recorded := new(doctor.Recorded)
	if err := recording.ReadFile(path, recorded.Take, func(string) {}); err != nil {
		return nil, err
	}
	fleet := recorded.Fleet()
	fleet.Servers = slices.DeleteFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Server.Name != name })
	return doctor.Judge(fleet, doctor.Selection{}), nil
}
