package servers

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
)

func TestMain(m *testing.M) { os.Exit(serverstest.Main(m)) }

// stage is everything between a fake server and a call of its tools.
type stage struct {
	t        *testing.T
	events   *serverstest.Events
	registry *exec.Registry
	executor *exec.Executor
	dial     dial
	session  *protocol.Session
}

// newStage prepares a fake server in the given modes; limit bounds both its start and each call.
func newStage(t *testing.T, limit time.Duration, args ...string) *stage {
	t.Helper()
	bus := &exec.Bus{}
	s := &stage{t: t, events: &serverstest.Events{}, registry: exec.NewRegistry(bus)}
	bus.Subscribe(s.events.Take)
	s.executor = &exec.Executor{Registry: s.registry, Bus: bus, Defaults: exec.Defaults{Timeout: limit}}
	s.dial = Options{
		Options:   protocol.Options{Bus: bus, StartTimeout: limit, MaxMessage: 1 << 20},
		StderrDir: t.TempDir(),
	}.dial(&config.Server{Name: "fake"}, serverstest.Launch(t, args...))
	return s
}

// open starts the server; the session is closed when the test ends, and nothing of it is left.
func (s *stage) open() error {
	session, err := s.dial.open(context.Background())
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
