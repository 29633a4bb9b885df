// Package serverstest is what tests of the packages around sessions share: a fake server to start, and the events that
// were emitted.
package serverstest

import (
	"flag"
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

// Time limits of tests.
const (
	Ample = time.Minute            // for what must not run out
	Brief = 300 * time.Millisecond // for what must
)

// Main runs the tests of a package, looks for goroutines that are left, and returns the exit code.
func Main(m *testing.M) (code int) {
	flag.Parse()
	// Mostly these tests wait. -test.parallel 1 is for an emulator, with which they would miss time limits.
	if flag.Lookup("test.parallel").Value.String() != "1" {
		if err := flag.Set("test.parallel", "12"); err != nil {
			panic(err)
		}
	}
	code = m.Run()
	fake.Remove()
	regexp2.StopTimeoutClock() // it ends a second after the last match
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// Program returns the path of the fake server.
func Program(t testing.TB) string {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// Launch returns the command line of a fake server in the given modes.
func Launch(t testing.TB, args ...string) *config.Resolved {
	t.Helper()
	return &config.Resolved{Command: Program(t), Args: args, Env: os.Environ()}
}

// Events keeps what was emitted.
type Events struct {
	mu    sync.Mutex
	all   []exec.Event
	taken chan struct{} // closed by the next event, where Await waits for it
}

// Take keeps an event; it subscribes to a Bus.
func (e *Events) Take(event exec.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
	if e.taken != nil {
		close(e.taken)
		e.taken = nil
	}
}

// Await returns when cond holds, which is asked again after each event.
func (e *Events) Await(cond func() bool) {
	for limit := time.After(Ample); ; {
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

// List returns the events so far.
func (e *Events) List() []exec.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]exec.Event(nil), e.all...)
}

// Of returns the events of one type.
func Of[T exec.Event](e *Events) []T {
	var found []T
	for _, event := range e.List() {
		if one, ok := event.(T); ok {
			found = append(found, one)
		}
	}
	return found
}
