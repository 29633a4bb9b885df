package cmd

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

// programOf returns what the server of the command line is, by its command or its address, and its name; nothing for
// nil.
func programOf(adHoc *config.Server) (program, name string) {
	switch {
	case adHoc == nil:
		return "", ""
	case adHoc.URL != "":
		return adHoc.URL, adHoc.Name
	}
	return exec.PasteLine(append([]string{adHoc.Command}, adHoc.Args...)...), adHoc.Name
}

// record sets up what writes events to files: the execution log, as keeps says, and the trace.
func (a *opener) record(keeps config.Log, adHoc *config.Server) error {
	if !keeps.Off {
		a.recordHistory(keeps, adHoc)
	}
	return a.recordTrace()
}

// recordTrace sets up what writes messages to and from servers to stderr and to a file.
func (a *opener) recordTrace() error {
	view := traceView{a.out, a.flags.Trace == cli.TraceFull}
	if a.flags.Trace != "" {
		a.bus.Subscribe(frames(view.frame))
	}
	if view.full {
		a.bus.Subscribe(view.stray)
	}
	if a.flags.TraceFile == "" {
		return nil
	}
	file, err := newTraceFile(a.out, a.flags.TraceFile)
	if err != nil {
		return fault.Usage("--trace-file: "+err.Error(), "name a file that can be written")
	}
	a.bus.Subscribe(frames(file.write))
	a.bus.Subscribe(file.takeOther)
	a.onClose(func(ctx context.Context) {
		if err := file.close(ctx); err != nil {
			a.out.Log.Warn("the trace file is not complete: " + err.Error())
		}
	})
	return nil
}

// recordHistory keeps the execution log. A log that cannot be kept never fails a call.
func (a *opener) recordHistory(keeps config.Log, adHoc *config.Server) {
	log, err := history.Open(stores.History(), a.out.Mask)
	if err != nil {
		a.out.Log.Info(err.Error())
		return
	}
	log.Notice, log.NoResults = a.notLogged, keeps.NoResults
	log.Program, log.AdHoc = programOf(adHoc)
	a.calls = log
	a.bus.Subscribe(log.Record)
	a.onClose(func(context.Context) { log.Close() })
}

// notLogged reports that the execution log cannot be written: on stderr, or in the terminal interface where that has
// the terminal.
func (a *opener) notLogged(err error) {
	if !a.out.Drawn.Load() {
		a.out.Log.Warn(err.Error())
		return
	}
	// A subscriber must not emit an event itself.
	go a.bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: err.Error()})
}
