package servers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
)

// A start that must fail as the one before is told by its last words, whatever time, process
// or address they hold; one that waits for something else is worth another attempt.
func TestRepeats(t *testing.T) {
	died := func(words string) *Failure {
		return &Failure{Ending: EndingExited, How: "exit status 1", StderrTail: []string{words}}
	}
	for _, test := range []struct {
		before, words string
		want          bool
	}{
		{"Error: bad config", "Error: bad config", true},
		{"12:00:01 ERROR: bad config", "12:00:03 ERROR: bad config", true},
		{"2026-11-22T12:00:01.123Z [411] bad config at 0x7ffe12", "2026-11-22T12:00:03Z [97] bad config at 0x55aa01", true},
		{"I1122 run 3f2a-99 failed", "I1123 run 77b0-1c failed", true},
		{"Error: bad config", "Error: bad key", false},
		{"12:00:01 broker not reachable (start 1)", "12:00:03 broker not reachable (start 2)", false},
		{"connect ECONNREFUSED 127.0.0.1:1883", "connect ECONNREFUSED 127.0.0.1:1883", false},
		{"device is busy", "device is busy", false},
	} {
		if got := died(test.words).repeats(died(test.before)); got != test.want {
			t.Errorf("%q after %q: %t", test.words, test.before, got)
		}
	}
}

// A variable that is missing is so at the next attempt too: the words that say what the start
// failed of count, not an earlier remark.
func TestLasting(t *testing.T) {
	for _, test := range []struct {
		stderr string
		want   bool
	}{
		{"Error: API_KEY is required", true},
		{"Error: missing environment variables:\n- HOST_NAME\n- API_KEY", true},
		{"Not logged in: run 'x login', or set API_KEY.", true},
		{"Error: SET_ALREADY is required", true},
		{"Error: Cannot find package 'express' imported from /srv/index.js", true},
		{"SyntaxError: Unexpected identifier 'x'", true},
		{"Error: the sky is down", false},
		{"Please provide a project id or an OpenAPI Spec file", true},
		{"Error: EACCES: permission denied, open '/srv/x'", true},
		{"Starting", false},
		{"AxiosError: Request failed with status code 503", false},
		{"AxiosError: Request failed with status code 401", true},
		{"Error: listen EADDRINUSE: address already in use :::3000", false},
		{"Error: Elasticsearch URL cannot be empty", true},
		{"API_KEY is not set, going on without\nError: the database is locked", false},
		{"Error: API_KEY is required: connect ECONNREFUSED 127.0.0.1:1883", false},
	} {
		failure := &Failure{
			Ending: EndingExited, How: "exit status 1", StderrTail: strings.Split(test.stderr, "\n"),
			environ: []string{"SET_ALREADY=1"},
		}
		if got := failure.lasting(); got != test.want {
			t.Errorf("%q: %t", test.stderr, got)
		}
		if c := failure.Cause(); !strings.Contains(failure.Error(), failure.causeText(c)) {
			t.Errorf("%q is not in %q", failure.causeText(c), failure)
		}
	}
}

// A program that asks a question on the terminal is not waited for to the end, and the failure names the question.
func TestQuestionEndsTheStart(t *testing.T) {
	s := newStage(t, ample, "tty-prompt")
	s.dial.elsewhere = time.Millisecond
	err := s.open()
	var failure *Failure
	if !errors.As(err, &failure) || failure.Ending != EndingSilent || failure.Lived >= ample ||
		!strings.Contains(failure.Error(), "it asks a question and waits for the answer: \"Ok to proceed? (y)\"") {
		t.Errorf("open: %v", err)
	}
	if !errors.As(err, &failure) || !failure.lasting() {
		t.Error("another start would not ask again")
	}
}

// A server that refuses initialize, and then says nothing about the other era, has said why it cannot be used.
func TestRefusalOutlivesSilence(t *testing.T) {
	s := newStage(t, ample, "init-error", "discover-silent")
	enough, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.dial.enough = enough
	s.dial.bus.Subscribe(func(event exec.Event) {
		if sent, ok := event.(FrameSent); ok && sent.Method == string(mcp.MethodServerDiscover) {
			cancel()
		}
	})
	err := s.open()
	var failure *Failure
	if !errors.As(err, &failure) || failure.Ending != EndingRefused || failure.Cause() == nil ||
		failure.Cause().What != "FAKE_API_KEY is not set" {
		t.Errorf("open: %v", err)
	}
}

// TestARefusalHasTheWordsBeforeIt shows that a failure has what the server wrote on stderr before it refused.
func TestARefusalHasTheWordsBeforeIt(t *testing.T) {
	const said = "pass it as FAKE_API_KEY"
	s := newStage(t, ample, "init-error", "--stderr", said)
	err := s.open()
	var failure *Failure
	if !errors.As(err, &failure) || failure.Ending != EndingRefused || !slices.Contains(failure.StderrTail, said) {
		t.Errorf("failure is %+v", failure)
	}
}
