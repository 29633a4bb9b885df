package timeline

import (
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/fake"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// asFake makes the test binary the fake server: a real process, without building
// another program.
const asFake = "TOOLX_TEST_AS_FAKE"

func TestMain(m *testing.M) {
	if os.Getenv(asFake) != "" {
		os.Exit(fake.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// callFake starts a fake server in a mode, calls its echo, and gives what happened
// until then.
func callFake(t *testing.T, mode string) []exec.Event {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var events []exec.Event
	bus := &exec.Bus{}
	bus.Subscribe(func(event exec.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, event)
	})
	registry := exec.NewRegistry(bus)
	pool := servers.NewPool([]*config.Server{{
		Name: "fake", Command: program, Args: []string{mode},
		Env: map[string]string{asFake: "1", "GORACE": "atexit_sleep_ms=0"},
	}}, servers.Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: 30 * time.Second},
		Registry: registry, StderrDir: t.TempDir(),
	})
	defer pool.Close(t.Context())
	if _, err := pool.Open(t.Context(), "fake"); err != nil {
		t.Fatal(err)
	}
	executor := &exec.Executor{Registry: registry, Bus: bus}
	result := executor.Call(t.Context(), exec.Call{Tool: "echo", Arguments: json.RawMessage(`{"message":"hello"}`)})
	if !result.Success {
		t.Fatal(result.Err)
	}
	mu.Lock()
	defer mu.Unlock()
	return append([]exec.Event(nil), events...)
}

// On the wire of a real process every request of toolx finds its answer, however odd
// the server's way to give it, and what is no message stands between them.
func TestRealServers(t *testing.T) {
	for mode, want := range map[string][]string{
		"good":          {"▶ initialize #", "of initialize", "▶ tools/call echo", "of tools/call echo"},
		"banner":        {"✗ text", "of tools/call echo"},
		"log-between":   {"✗ text", "of tools/call echo"},
		"inline-prefix": {"✗ glued", "of tools/call echo"},
		"pretty":        {"✗ pretty", "of tools/call echo"},
		"batch":         {"✗ batch", "of tools/call echo"},
		"crlf":          {"• crlf", "of tools/call echo"},
		"id-string":     {"odd: the id returned with another type", "of tools/call echo"},
		"id-float":      {"odd: ", "of tools/call echo"},
		"id-null":       {"odd: a reply with a null id", "▶ tools/call echo"},
		"id-missing":    {"odd: ", "▶ tools/call echo"},
		"id-stray":      {"odd: a reply to a request that was never sent", "of tools/call echo"},
		"server-requests": {
			"◀ roots/list", "of roots/list", "▶ error -32601", "of tools/call echo",
		},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newTimeline(callFake(t, mode)...)
			goTo(t, w, "wire")
			frame := ""
			for _, line := range frameOf(t, w, 160, 100) {
				frame += line + "\n"
			}
			containsAll(t, frame, want)
			if n := len(w.rows.peers[wire.Head{Server: "fake"}].requests[true]); n > 0 {
				t.Errorf("%d requests wait:\n%s", n, frame)
			}
			lines, calls := w.rows.ring(shelf{"fake", streamNotes}).count, w.rows.calls().count
			if lines == 0 || calls != 1 {
				t.Errorf("%d events of the process, %d calls", lines, calls)
			}
		})
	}
}
