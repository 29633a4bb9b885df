package servers

import (
	"os"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
)

// A start that is being fetched, and any start without a limit, outlasts its limit in the same process.
func TestStartOutlastsItsLimit(t *testing.T) {
	for _, test := range []struct {
		launcher, want string
		noLimit        bool
	}{
		{"npx", `server "slow": npx is still downloading it after `, false},
		{"", `server "slow" has not answered after `, true},
	} {
		pool, gate, started := slowPool(t)
		pool.options.StartTimeout, pool.options.NoStartLimit = time.Millisecond, test.noLimit
		pool.options.fetching = func(int) string { return test.launcher }
		overdue, first := make(chan StartOverdue, 1), make(chan StartOverdue, 1)
		pool.options.Bus.Subscribe(func(event exec.Event) {
			if e, ok := event.(StartOverdue); ok {
				select {
				case overdue <- e:
				default:
				}
			}
		})
		go func() {
			first <- <-overdue
			_ = os.WriteFile(gate, nil, 0o600) // without it, the test does not end
		}()
		session, err := pool.Open(t.Context(), "slow")
		if err != nil {
			t.Fatal(err)
		}
		if process := <-started; session.PID != process.PID {
			t.Errorf("process %d was ended for %d", process.PID, session.PID)
		}
		if got := (<-first).Text(); !strings.HasPrefix(got, test.want) {
			t.Errorf("it says %q", got)
		}
		pool.Close(t.Context())
	}
}

// What npx fetches is not silent for a lack of arguments.
func TestHintOfFetchingCommand(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/npx": "/usr/bin/npx may still be fetching the server",
		"uvx":          "uvx may still be fetching the server",
		"node":         "it may need an argument that makes it speak MCP on stdio",
	} {
		err := &ConnectError{Last: &diagnose.Failure{
			Ending: diagnose.EndingSilent, Waiting: "initialize", Command: []string{program},
		}}
		if got := err.Hint(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", program, got)
		}
	}
}
