package toolset

import (
	"context"
	"log/slog"

	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/history"
)

// ProgramOf returns the command or address of a server on the command line, and its name; nothing for nil.
func ProgramOf(adHoc *config.Server) (program, name string) {
	switch {
	case adHoc == nil:
		return "", ""
	case adHoc.URL != "":
		return adHoc.URL, adHoc.Name
	}
	return exec.PasteLine(append([]string{adHoc.Command}, adHoc.Args...)...), adHoc.Name
}

// Record starts writing events to files: the execution log, with the settings in keeps, and the trace.
func (a *Opener) Record(keeps config.Log, adHoc *config.Server) error {
	if !keeps.Off {
		a.recordHistory(keeps, adHoc)
	}
	return a.RecordTrace(false)
}

// RecordTrace starts writing messages to and from servers to stderr and to a file, which it replaces or adds to.
func (a *Opener) RecordTrace(add bool) error {
	view := traceView{a.Out, a.Flags.Trace == cli.TraceFull}
	if a.Flags.Trace != "" {
		a.Bus.Subscribe(frames(view.frame))
	}
	if view.full {
		a.Bus.Subscribe(view.unexpected)
	}
	if a.Flags.Record == "" {
		return nil
	}
	file, err := newRecordFile(a.Out, a.Flags.Record, add)
	if err != nil {
		return fault.Usage("--record: "+err.Error(), "use a writable file")
	}
	a.Bus.Subscribe(file.write)
	a.OnClose(func(ctx context.Context) {
		if err := file.close(ctx); err != nil {
			a.Out.Log.Warn("the recording is incomplete: " + err.Error())
		}
	})
	return nil
}

// recordHistory starts the execution log. A log that cannot be written never fails a call.
func (a *Opener) recordHistory(keeps config.Log, adHoc *config.Server) {
	log, err := history.Open(stores.History(), a.Out.Mask)
	if err != nil {
		a.Out.Log.Info(err.Error())
		return
	}
	log.Notice, log.NoResults = a.notLogged, keeps.NoResults
	log.Program, log.AdHoc = ProgramOf(adHoc)
	a.Calls = log
	a.Bus.Subscribe(log.Record)
	a.OnClose(func(context.Context) { log.Close() })
}

// notLogged reports that the execution log cannot be written: on stderr, or in the full-screen interface if it is open.
func (a *Opener) notLogged(err error) {
	if !a.Out.Drawn.Load() {
		a.Out.Log.Warn(err.Error())
		return
	}
	// A subscriber must not emit an event itself.
	go a.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: err.Error()})
}
