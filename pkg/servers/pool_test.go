package servers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// fakePool is a pool of fake servers in one mode, by their names, and what it tells. It is for the test to close.
func fakePool(t *testing.T, answers protocol.Answers, mode string, names ...string) (*Pool, *serverstest.Events) {
	t.Helper()
	list := make([]*config.Server, len(names))
	for i, name := range names {
		list[i] = &config.Server{Name: name, Command: serverstest.Program(t), Args: []string{mode}}
	}
	seen, bus := &serverstest.Events{}, &exec.Bus{}
	bus.Subscribe(seen.Take)
	return NewPool(list, Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: 30 * time.Second, Answers: answers},
		Registry: exec.NewRegistry(bus), StderrDir: t.TempDir(),
	}), seen
}

// allAnswers answers everything.
func allAnswers() protocol.Answers {
	return protocol.Answers{
		Elicit: func(_ context.Context, asked *protocol.Elicitation) (*protocol.Elicited, error) {
			return &protocol.Elicited{Action: protocol.Accept, Content: asked.Fill(json.RawMessage(`{"name":"Ada"}`))}, nil
		},
		Sample: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"role":"assistant","model":"test","content":{"type":"text","text":"hello back"}}`), nil
		},
		Roots: []protocol.Root{{URI: "file:///work", Name: "work"}},
	}
}

// Roots that change are told to the sessions that are open, and to those to come.
func TestRootsOfAPool(t *testing.T) {
	pool, seen := fakePool(t, allAnswers(), "server-requests-early", "open", "later")
	if _, err := pool.Open(t.Context(), "open"); err != nil {
		t.Fatal(err)
	}
	pool.SetRoots(t.Context(), []protocol.Root{{URI: "file:///new"}})
	if _, err := pool.Open(t.Context(), "later"); err != nil {
		t.Fatal(err)
	}
	pool.Close(t.Context())
	said := map[string]string{}
	for _, frame := range serverstest.Of[wire.FrameSent](seen) {
		said[frame.Server] += string(frame.Bytes)
	}
	if !strings.Contains(said["open"], "file:///work") ||
		!strings.Contains(said["open"], "notifications/roots/list_changed") {
		t.Errorf("the open session was told %s", said["open"])
	}
	if !strings.Contains(said["later"], "file:///new") || strings.Contains(said["later"], "file:///work") {
		t.Errorf("the later session was told %s", said["later"])
	}
}

// A server that was stopped is another process when it is opened again; stopping one that does not run does nothing.
func TestStopAndOpenAgain(t *testing.T) {
	pool, seen := fakePool(t, protocol.Answers{}, "good", "fake")
	defer pool.Close(t.Context())

	pool.Stop(t.Context(), "fake")
	pool.Stop(t.Context(), "nobody")
	first, err := pool.Open(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	pool.Stop(t.Context(), "fake")
	if status, _, _ := pool.Status("fake"); status != "ended" {
		t.Errorf("a stopped server is %s", status)
	}
	second, err := pool.Open(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	if second.PID == first.PID {
		t.Errorf("both lives have the process %d", first.PID)
	}
	if exits := serverstest.Of[wire.ProcessExited](seen); len(exits) != 1 || !exits[0].Asked {
		t.Errorf("the ends are %+v", exits)
	}
}

// A server that dies by itself is told of once, behind its being ready, without
// anybody closing it; when it is opened again nothing of the first life is left.
func TestDeathIsTold(t *testing.T) {
	for _, mode := range []string{"good", "exit-after-list", "exit-mid-call", "sigsegv"} {
		t.Run(mode, func(t *testing.T) {
			pool, seen := fakePool(t, protocol.Answers{}, mode, "fake")
			exits := make(chan wire.ProcessExited, 10)
			pool.options.Bus.Subscribe(func(event exec.Event) {
				if e, ok := event.(wire.ProcessExited); ok {
					exits <- e
				}
			})
			first, err := pool.Open(t.Context(), "fake")
			if err != nil {
				t.Fatal(err)
			}
			if mode == "good" {
				first.Kill() // from outside, as with kill -9
			} else {
				_, _ = first.CallTool(t.Context(), exec.Request{Name: "echo", Arguments: []byte(`{"message":"x"}`)})
			}
			if exit := <-exits; exit.Asked || exit.Forced != "" || exit.How == "" {
				t.Errorf("the end is told as %+v", exit)
			}
			ready := func(event exec.Event) bool { _, ok := event.(Connected); return ok }
			ended := func(event exec.Event) bool { _, ok := event.(wire.ProcessExited); return ok }
			if list := seen.List(); slices.IndexFunc(list, ready) > slices.IndexFunc(list, ended) {
				t.Error("the end was told before the session")
			}
			if _, err := pool.Open(t.Context(), "fake"); err != nil {
				t.Fatal(err)
			}
			stdin := first.Transport().(*stdio.Transport).Process.Stdin
			if _, err := stdin.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the stdin of the first life is left open: %v", err)
			}
			pool.Close(t.Context())
			if told := serverstest.Of[wire.ProcessExited](seen); len(told) != 2 {
				t.Errorf("two lives ended as %+v", told)
			}
		})
	}
}

// A server that closes its stdout and lives on is told as lost, once, with the reason;
// one that is closed by toolx is not.
func TestLossIsTold(t *testing.T) {
	for _, mode := range []string{"stdout-closed-call", "good"} {
		pool, seen := fakePool(t, protocol.Answers{}, mode, "fake")
		told := make(chan protocol.SessionLost, 1)
		pool.options.Bus.Subscribe(func(event exec.Event) {
			if e, ok := event.(protocol.SessionLost); ok {
				told <- e
			}
		})
		session, err := pool.Open(t.Context(), "fake")
		if err != nil {
			t.Fatal(err)
		}
		if session.Err() != nil {
			t.Errorf("%s: a session that stands has failed: %v", mode, session.Err())
		}
		executor := &exec.Executor{Registry: pool.options.Registry, Bus: pool.options.Bus}
		result := executor.Call(t.Context(), exec.Call{Tool: "fake__echo", Arguments: []byte(`{"message":"hi"}`)})
		if mode == "good" {
			pool.Close(t.Context())
			if lost := serverstest.Of[protocol.SessionLost](seen); len(lost) != 0 || session.Err() != nil {
				t.Errorf("a session that was closed is told as lost: %+v, %v", lost, session.Err())
			}
			continue
		}
		if result.Success {
			t.Error("the call succeeded")
		}
		if lost := <-told; lost.Server != "fake" || lost.Why.Ending != diagnose.EndingClosedStdout ||
			!lost.Why.Lives() {
			t.Errorf("told %+v", lost)
		}
		if failure := session.Err(); failure == nil || failure.Ending != diagnose.EndingClosedStdout {
			t.Errorf("the session failed by %v", failure)
		}
		pool.Close(t.Context())
	}
}

// slowPool is a pool of one server that starts to answer when the file gate exists; it has
// a process when started gives a value.
func slowPool(t *testing.T) (pool *Pool, gate string, started chan wire.ProcessStarted) {
	t.Helper()
	pool, _ = fakePool(t, protocol.Answers{}, "slow-start", "slow")
	gate = filepath.Join(t.TempDir(), "gate")
	server := pool.known().entries["slow"].server
	server.Args = append([]string{"--gate", gate}, server.Args...)
	started = make(chan wire.ProcessStarted, 10)
	pool.options.Bus.Subscribe(func(event exec.Event) {
		if e, ok := event.(wire.ProcessStarted); ok {
			started <- e
		}
	})
	return pool, gate, started
}

// A caller that gives up does not end the opening for the others, whoever was first.
func TestOpeningOutlivesItsFirstCaller(t *testing.T) {
	pool, gate, started := slowPool(t)
	defer pool.Close(t.Context())
	first, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := pool.Open(first, "slow")
		gone <- err
	}()
	process := <-started
	pool.begin(t.Context(), pool.known().entries["slow"], false) // the second caller waits from here on
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller has %v", err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	session, err := pool.Open(t.Context(), "slow")
	if err != nil {
		t.Fatalf("the second caller has %v", err)
	}
	if session.PID != process.PID {
		t.Errorf("the server was started twice: %d and %d", process.PID, session.PID)
	}
}

// An opening ends with its last caller; who comes after that has another one.
func TestOpeningEndsWithItsLastCaller(t *testing.T) {
	pool, gate, started := slowPool(t)
	defer pool.Close(t.Context())
	e := pool.known().entries["slow"]
	first, cancelFirst := context.WithCancel(t.Context())
	second, cancelSecond := context.WithCancel(t.Context())
	given := pool.begin(first, e, false)
	pool.begin(second, e, false)
	process := <-started
	cancelFirst()
	cancelSecond()
	<-given.ctx.Done()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	session, err := pool.Open(t.Context(), "slow")
	if err != nil {
		t.Fatal(err)
	}
	if session.PID == process.PID {
		t.Error("the opening that was given up is used")
	}
	if !errors.Is(given.err, context.Canceled) {
		t.Errorf("the opening that was given up has %v", given.err)
	}
}

// TestChange gives a pool the servers of a changed config: one is the same, one has another entry, one is gone, one is
// new, and one is to start anew.
func TestChange(t *testing.T) {
	pool, _ := fakePool(t, protocol.Answers{}, "good", "same", "other", "gone", "again")
	defer pool.Close(t.Context())
	sessions := make(map[string]*protocol.Session)
	for _, opened := range pool.OpenAll(t.Context()) {
		if sessions[opened.Server] = opened.Session; opened.Err != nil {
			t.Fatal(opened.Err)
		}
	}
	program := pool.known().entries["same"].server.Command
	entry := func(name string, args ...string) *config.Server {
		return &config.Server{Name: name, Command: program, Args: args}
	}
	pool.Change(t.Context(), []*config.Server{
		entry("same", "good"), entry("other", "features"), entry("new", "good"), entry("again", "good"),
	}, "again")
	for name, runs := range map[string]bool{"same": true, "other": false, "gone": false, "again": false} {
		if wire.Closed(sessions[name].Done()) == runs {
			t.Errorf("the session of %s: runs is %v, want %v", name, !runs, runs)
		}
	}
	if got := pool.Names(); !slices.Equal(got, []string{"same", "other", "new", "again"}) {
		t.Errorf("the pool has %q", got)
	}
	for _, name := range pool.Names() {
		session, err := pool.Open(t.Context(), name)
		if err != nil || (session == sessions[name]) != (name == "same") {
			t.Errorf("%s: session %p, %v; it was %p", name, session, err, sessions[name])
		}
	}
	for _, tool := range pool.options.Registry.All() {
		if tool.Server == "gone" {
			t.Errorf("there is still %s", tool.Name)
		}
	}
}

// A server that a change of the config has removed is missing, and the others are opened.
func TestOpeningARemovedServer(t *testing.T) {
	t.Parallel()
	pool, _ := fakePool(t, protocol.Answers{}, "good", "kept")
	defer pool.Close(context.Background())
	opened, err := pool.OpenTried(t.Context(), "removed", "kept")
	if err != nil || len(opened) != 1 || opened[0].Server != "kept" || opened[0].Err != nil {
		t.Errorf("%+v, %v", opened, err)
	}
}
