package protocol

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/stdio"
)

// stage is everything between a fake server and a call of its tools.
type stage struct {
	t        *testing.T
	events   *serverstest.Events
	registry *exec.Registry
	executor *exec.Executor
	options  Options
	session  *Session
}

// newStage prepares a fake server in the given modes; limit bounds both its start and each call.
func newStage(t *testing.T, limit time.Duration, args ...string) *stage {
	t.Helper()
	bus := &exec.Bus{}
	s := &stage{t: t, events: &serverstest.Events{}, registry: exec.NewRegistry(bus)}
	bus.Subscribe(s.events.Take)
	s.executor = &exec.Executor{Registry: s.registry, Bus: bus, Defaults: exec.Defaults{Timeout: limit}}
	s.options = Options{
		Server: &config.Server{Name: "fake"}, Launch: serverstest.Launch(t, args...), Bus: bus, StartTimeout: limit,
		MaxMessage: 1 << 20,
	}
	return s
}

// open starts the server; the session is closed when the test ends, and nothing of it is left.
func (s *stage) open() error {
	session, err := Open(context.Background(), stdio.New(stdio.Options{
		Server: "fake", Bus: s.options.Bus, Launch: s.options.Launch, MaxMessage: s.options.MaxMessage,
		StderrDir: s.t.TempDir(),
	}), s.options)
	if err != nil {
		return err
	}
	s.session = session
	s.registry.Register(session.Tools()...)
	s.t.Cleanup(s.close)
	return nil
}

// close ends the session, by force where it does not end at once.
func (s *stage) close() { s.closeWithin(time.Second) }

// closeWithin ends the session, by force where that takes longer than limit.
func (s *stage) closeWithin(limit time.Duration) {
	if s.session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.session.Close(ctx)
}

// call runs one tool through the Executor.
func (s *stage) call(tool, arguments string) *exec.Result {
	return s.executor.Call(context.Background(), exec.Call{Tool: tool, Arguments: json.RawMessage(arguments)})
}
