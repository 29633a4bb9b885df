package tui

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"toolx/cmd/correct"
	doctorcmd "toolx/cmd/doctor"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/recording"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui"
)

// showRecording shows a recording until the user quits.
func (o Options) showRecording(ctx context.Context, path string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := readRecording(ctx, path)
	if err != nil {
		return correct.NewForgotten(path, path+": "+fault.Reason(err), "toolx tui FILE shows what --record has written")
	}
	if !o.Out.HasScreen() {
		return correct.NewForgotten(path, noScreen, "toolx trace FILE prints a recording")
	}
	registry := exec.NewRegistry(o.Bus)
	return o.show(ctx, tui.Options{
		In:       o.Out.Console.In,
		Out:      o.Out.Stdout,
		Recorded: events,
		Pool:     servers.NewPool(nil, servers.Options{Registry: registry}),
		Executor: &exec.Executor{Registry: registry},
		Bus:      o.Bus,
		Config:   func() string { return filepath.Base(path) + " (recording)" },
		Examine: func(_ context.Context, name string) (*doctor.Report, error) {
			return doctorcmd.JudgeRecorded(path, name)
		},
		Hide:  o.Out.Mask.Text,
		Color: o.Out.Console.Color,
		ASCII: o.Out.ASCII(),
	})
}

// readRecording reads a recording in the background, with what is added to it, until ctx ends. It returns once there is
// an event, so that an error comes before the screen.
func readRecording(ctx context.Context, path string) (<-chan exec.Event, error) {
	begun, atEnd := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	in, err := recording.Follow(ctx, path, sync.OnceFunc(func() { close(atEnd) }))
	if err != nil {
		return nil, err
	}
	events, failed := make(chan exec.Event), make(chan error)
	emit := func(event exec.Event) {
		begin()
		select {
		case events <- event:
		case <-ctx.Done():
		}
	}
	var last time.Time
	notice := func(level slog.Level, server, text string) {
		emit(exec.Notice{Time: exec.Time{At: last}, Level: level, Server: server, Text: text})
	}
	var causes recording.Causes
	go func() {
		defer close(events)
		defer in.Close()
		if err := recording.Read(in, func(event wire.Event) {
			last = event.When()
			emit(event)
			if why := causes.Take(event); why != nil {
				notice(slog.LevelError, event.From(), why.What)
			}
		}, recording.Skipped(filepath.Base(path), func(why string) { notice(slog.LevelWarn, "", why) })); err != nil {
			select {
			case failed <- err:
			case <-begun:
				notice(slog.LevelError, "", err.Error())
			}
		}
	}()
	select {
	case <-begun:
		return events, nil
	case <-atEnd:
		return nil, errors.New("nothing is recorded yet")
	case err := <-failed:
		return nil, err
	}
}
