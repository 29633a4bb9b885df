package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"go.uber.org/goleak"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/fake"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fake.Remove()
	regexp2.StopTimeoutClock() // it ends by itself, a second after the last match
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

// fakeProgram is the path of the fake server.
func fakeProgram(t testing.TB) string {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// fakeLaunch is the command line of a fake server in the given modes.
func fakeLaunch(t *testing.T, args ...string) *config.Resolved {
	t.Helper()
	return &config.Resolved{Command: fakeProgram(t), Args: args, Env: os.Environ()}
}

// events keeps what was emitted.
type events struct {
	mu    sync.Mutex
	all   []exec.Event
	taken chan struct{} // closed by the next event, where somebody waits for it
}

func (e *events) take(event exec.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
	if e.taken != nil {
		close(e.taken)
		e.taken = nil
	}
}

// await returns when cond holds, which is asked again after each event.
func (e *events) await(cond func() bool) {
	for limit := time.After(ample); ; {
		e.mu.Lock()
		if e.taken == nil {
			e.taken = make(chan struct{})
		}
		next := e.taken
		e.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-next:
		case <-limit:
			return // the assertion that follows says what is missing
		}
	}
}

func (e *events) list() []exec.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]exec.Event(nil), e.all...)
}

// of returns the events of one type.
func of[T exec.Event](e *events) []T {
	var found []T
	for _, event := range e.list() {
		if one, ok := event.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// stage is everything between a fake server and a call of its tools.
type stage struct {
	t        *testing.T
	events   *events
	registry *exec.Registry
	executor *exec.Executor
	dial     dial
	session  *Session
}

// newStage prepares a fake server in the given modes; limit bounds both its start and each call.
func newStage(t *testing.T, limit time.Duration, args ...string) *stage {
	t.Helper()
	bus := &exec.Bus{}
	s := &stage{t: t, events: &events{}, registry: exec.NewRegistry(bus)}
	bus.Subscribe(s.events.take)
	s.executor = &exec.Executor{Registry: s.registry, Bus: bus, Defaults: exec.Defaults{Timeout: limit}}
	s.dial = Options{
		Bus:          bus,
		StartTimeout: limit,
		MaxMessage:   1 << 20,
		StderrDir:    t.TempDir(),
	}.dial(&config.Server{Name: "fake"}, fakeLaunch(t, args...))
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
