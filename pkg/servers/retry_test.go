package servers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// TestPolicy: the last words of a start that failed decide whether another one can help, or how it ended
// (MCP-6).
func TestPolicy(t *testing.T) {
	traceback := "Traceback (most recent call last):\n  File \"/srv/x.py\", line 3, in <module>\n    main()\n"
	for _, test := range []struct {
		stderr, how string
		want        cause.Policy
	}{
		{"Error: API_KEY is required", "", cause.Permanent},
		{"Error: missing environment variables:\n- HOST_NAME\n- API_KEY", "", cause.Permanent},
		{"Not logged in: run 'x login', or set API_KEY.", "", cause.Permanent},
		{"Error: SET_ALREADY is required", "", cause.Permanent},
		{"Error: Cannot find package 'express' imported from /srv/index.js", "", cause.Permanent},
		{"SyntaxError: Unexpected identifier 'x'", "", cause.Permanent},
		{"Please provide a project id or an OpenAPI Spec file", "", cause.Permanent},
		{"Error: EACCES: permission denied, open '/srv/x'", "", cause.Permanent},
		{"AxiosError: Request failed with status code 401", "", cause.Permanent},
		{"Error: Elasticsearch URL cannot be empty", "", cause.Permanent},
		{"Error: the directory /srv/data does not exist", "", cause.Permanent},
		{"open /srv/data: no such file or directory", "", cause.Permanent},
		{"error: unknown option '--verbos'", "", cause.Permanent},
		{traceback + "KeyError: 'plan'", "", cause.Permanent},
		{"panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()", "exit status 2", cause.Permanent},
		{"thread 'main' panicked at src/main.rs:3:5:\nthe table has no rows", "exit status 101", cause.Permanent},
		{"Error: no rows\n    at load (/srv/index.js:3:9)\n    at main (/srv/index.js:9:1)", "", cause.Permanent},
		{"usage: x COMMAND", "", cause.Permanent},
		{"", "", cause.Permanent},
		{"Starting", "signal: segmentation fault (core dumped)", cause.Permanent},
		{"Starting", "exit status 134", cause.Permanent},
		{"AxiosError: Request failed with status code 503", "", cause.Transient},
		{"Error: listen EADDRINUSE: address already in use :::3000", "", cause.Transient},
		{"API_KEY is not set, going on without\nError: the database is locked", "", cause.Transient},
		{traceback + "ConnectionRefusedError: [Errno 111] Connection refused", "", cause.Transient},
		{traceback + "RuntimeError: the broker is offline", "", cause.Transient},
		{"device is busy", "", cause.Transient},
		{"/dev/ttyUSB0: the port is in use", "", cause.Transient},
		{"another process holds the lock of the store", "", cause.Transient},
		{"Error: the sky is grey", "", cause.Unknown},
		{"Starting", "", cause.Unknown},
		{"Starting", "signal: killed", cause.Permanent},
	} {
		failure := &diagnose.Failure{
			Ending: diagnose.EndingExited, How: cmp.Or(test.how, "exit status 1"),
			StderrTail: strings.Split(test.stderr, "\n"), Environ: []string{"SET_ALREADY=1"}, Lived: 90 * time.Second,
		}
		failure.Stderr = failure.StderrTail
		if got := failure.Policy(); got != test.want {
			t.Errorf("%q, %s: %s: %+v", test.stderr, test.how, got, failure.Cause())
		}
		if c := failure.Cause(); c != nil && !strings.Contains(failure.Error(), failure.CauseText(c)) {
			t.Errorf("%q is not in %q", failure.CauseText(c), failure)
		}
	}
}

// TestRetries: an explicit number of retries is kept whatever the failure, but for a missing program; a failure of an
// unknown kind is retried only where nobody is debugging (MCP-6).
func TestRetries(t *testing.T) {
	unknown := &diagnose.Failure{
		Ending: diagnose.EndingExited, StderrTail: []string{"no luck"}, Stderr: []string{"no luck"},
	}
	configured, given := &config.Server{Name: "x"}, config.AdHoc([]string{"x"}, "", nil)
	for _, test := range []struct {
		failure *diagnose.Failure
		server  *config.Server
		insists bool
		want    bool
	}{
		{unknown, configured, false, true},
		{unknown, given, false, false},
		{unknown, given, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingSilent}, configured, false, false},
		{&diagnose.Failure{Ending: diagnose.EndingSilent}, configured, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingNotStarted}, configured, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingNotFound}, configured, true, false},
		{&diagnose.Failure{Ending: diagnose.EndingHolderSilent, Final: true}, configured, true, false},
		{&diagnose.Failure{Ending: diagnose.EndingExited, Judged: cause.Transient}, given, false, true},
	} {
		d := &dial{Options: Options{Insists: test.insists}, server: test.server}
		if got := d.again(test.failure); got != test.want {
			t.Errorf("%s, insists %t: %t", test.failure.Ending, test.insists, got)
		}
	}
}

// A program that asks a question on the terminal is not waited for to the end, and the failure names the question.
func TestQuestionEndsTheStart(t *testing.T) {
	s := newStage(t, ample, "tty-prompt")
	s.dial.Elsewhere = time.Millisecond
	err := s.open()
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingSilent || failure.Lived >= ample ||
		!strings.Contains(failure.Error(), "it asks a question and waits for the answer: \"Ok to proceed? (y)\"") {
		t.Errorf("open: %v", err)
	}
	if !errors.As(err, &failure) || failure.Policy() != cause.Permanent {
		t.Error("another start would not ask again")
	}
}

// A server that refuses initialize, and then says nothing about the other era, has said why it cannot be used.
func TestRefusalOutlivesSilence(t *testing.T) {
	s := newStage(t, ample, "init-error", "discover-silent")
	enough, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.dial.enough = enough
	s.dial.Bus.Subscribe(func(event exec.Event) {
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
	s := newStage(t, ample, "init-error", "--stderr", said)
	err := s.open()
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingRefused ||
		!slices.Contains(failure.StderrTail, said) {
		t.Errorf("failure is %+v", failure)
	}
}
