package protocol

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// A start that is being fetched, and any start without a limit, outlasts its limit in the same process.
func TestStartOutlastsItsLimit(t *testing.T) {
	for _, test := range []struct {
		launcher, want string
		noLimit        bool
	}{
		{"npx", `server "fake": npx is still downloading it after `, false},
		{"", `server "fake" has not answered after `, true},
	} {
		gate := filepath.Join(t.TempDir(), "gate")
		s := newStage(t, serverstest.Ample, "--gate", gate, "slow-start")
		s.options.StartTimeout, s.options.NoStartLimit = time.Millisecond, test.noLimit
		s.options.fetching = func(int) string { return test.launcher }
		overdue, first := make(chan StartOverdue, 1), make(chan StartOverdue, 1)
		s.options.Bus.Subscribe(func(event exec.Event) {
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
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		started := serverstest.Of[wire.ProcessStarted](s.events)
		if len(started) != 1 || s.session.PID != started[0].PID {
			t.Errorf("%d processes were started, the session has %d", len(started), s.session.PID)
		}
		if got := (<-first).Text(); !strings.HasPrefix(got, test.want) {
			t.Errorf("it says %q", got)
		}
	}
}

// A program that asks a question on the terminal is not waited for to the end, and the failure names the question.
func TestQuestionEndsTheStart(t *testing.T) {
	s := newStage(t, serverstest.Ample, "tty-prompt")
	s.options.NoAnswerTimeout = time.Millisecond
	err := s.open()
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingSilent || failure.Lived >= serverstest.Ample ||
		!strings.Contains(failure.Error(), "it asks a question and waits for the answer: \"Ok to proceed? (y)\"") {
		t.Errorf("open: %v", err)
	}
	if !errors.As(err, &failure) || failure.Policy() != cause.Permanent {
		t.Error("another start would not ask again")
	}
}

// A server that refuses initialize, and then says nothing about the other era, has said why it cannot be used.
func TestRefusalOutlivesSilence(t *testing.T) {
	s := newStage(t, serverstest.Ample, "init-error", "discover-silent")
	enough, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.options.enough = enough
	s.options.Bus.Subscribe(func(event exec.Event) {
		if sent, ok := event.(wire.FrameSent); ok && sent.Method == string(mcp.MethodServerDiscover) {
			cancel()
		}
	})
	err := s.open()
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingRefused || failure.Cause() == nil ||
		failure.Cause().What != "FAKE_API_KEY is not set" {
		t.Errorf("open: %v", err)
	}
}

// TestARefusalHasTheWordsBeforeIt shows that a failure has what the server wrote on stderr before it refused.
func TestARefusalHasTheWordsBeforeIt(t *testing.T) {
	const said = "pass it as FAKE_API_KEY"
	s := newStage(t, serverstest.Ample, "init-error", "--stderr", said)
	err := s.open()
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingRefused ||
		!slices.Contains(failure.StderrTail, said) {
		t.Errorf("failure is %+v", failure)
	}
}
