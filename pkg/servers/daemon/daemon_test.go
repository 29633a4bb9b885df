package daemon

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// A daemon whose socket has gone ends.
func TestServerEndsWithItsSocket(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	h := &Server{stop: sync.OnceFunc(func() { close(ended) })}
	path := filepath.Join(t.TempDir(), "socket")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go h.endWithSocket(t.Context(), path, time.Millisecond)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(serverstest.Ample):
		t.Error("it goes on")
	}
}

// A daemon whose answer cannot be used is not asked why: it may not understand that question either.
func TestServerIsNotAskedAboutItsOwnAnswer(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	asked := make(chan string, 2)
	go func() {
		_ = newLineConn(far, 1<<20).read(func(m wire.Message) {
			asked <- m.Method
			_, _ = far.Write(response{}.reply(m.ID))
		})
	}()
	client := newClient(near, "", ClientOptions{Server: &config.Server{Name: "s"}})
	defer client.Kill()
	if err := client.Begin(); err != nil {
		t.Fatal(err)
	}
	var failure *diagnose.Failure
	_, err := client.Attach(t.Context())
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingUnusable || failure.Final ||
		!strings.Contains(err.Error(), ErrOtherVersion.Error()) {
		t.Errorf("%+v", err)
	}
	if first := <-asked; first != methodAttach || len(asked) > 0 {
		t.Errorf("the daemon is asked %s, and %d more", first, len(asked))
	}
}

// TestStartCauseIsPassedOn: only the daemon knows how the server was started, and what its code reads.
func TestStartCauseIsPassedOn(t *testing.T) {
	want := &cause.Cause{Kind: cause.Observed, What: "SHOP_API_KEY is not set", Fixes: []string{"add SHOP_API_KEY"}}
	for waiting, explained := range map[string]bool{string(mcp.MethodInitialize): true, "tools/call": false} {
		failed := &diagnose.Failure{
			Ending: diagnose.EndingExited, Waiting: waiting, FromStart: func() *cause.Cause { return want },
		}
		m, _ := wire.Parse(response{Failure: newFailureData(failed)}.notification(methodEnded))
		got, err := readResponse(m.Params)
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Failure.failure().Cause(); explained != reflect.DeepEqual(c, want) {
			t.Errorf("%s unanswered: cause is %+v", waiting, c)
		}
	}
}

// Every event that a daemon can see is passed on, except those that its clients make themselves.
func TestEventsArePassedOn(t *testing.T) {
	t.Parallel()
	for _, event := range []exec.Event{
		wire.ProcessStarted{Head: wire.Head{Server: "s"}, PID: 1},
		wire.ProcessExited{Head: wire.Head{Server: "s"}, How: "exit status 1"},
		wire.PipeInherited{Pipe: "stdout"},
		wire.StdinClosed{Head: wire.Head{Server: "s"}},
		wire.FrameSent{ID: "1", Bytes: []byte("{}")},
		wire.FrameReceived{ID: "1", Bytes: []byte("{}")},
		wire.PollutedLine{Text: []byte("text")},
		wire.OddFrame{Why: "odd"},
		wire.StderrLine{Text: "line"},
		wire.ServerRequest{Method: "ping"},
		wire.HTTPExchange{Verb: "POST", Err: io.EOF},
		exec.Notice{Text: "notice"},
	} {
		m, _ := wire.Parse(eventLine(event))
		got := readEvent(m.Params)
		if fmt.Sprint(got) != fmt.Sprint(event) || reflect.TypeOf(got) != reflect.TypeOf(event) {
			t.Errorf("%#v becomes %#v", event, got)
		}
	}
	reason := &diagnose.Failure{
		Server: "s", Ending: diagnose.EndingExited, How: "exit status 3", Reason: io.EOF, Said: []string{"said"},
	}
	m, _ := wire.Parse(response{Failure: newFailureData(reason)}.notification(methodEnded))
	r, err := readResponse(m.Params)
	if err != nil || r.Failure.failure().Error() != reason.Error() || r.Failure.failure().Said[0] != "said" {
		t.Errorf("the failure becomes %v, %v", r.Failure, err)
	}
}
