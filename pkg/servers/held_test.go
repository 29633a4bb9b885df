package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/wire"
)

// heldWorld is a holder in this process, so that the race detector sees both sides, and the place of its session.
type heldWorld struct {
	t        *testing.T
	sessions *Sessions
	server   *config.Server
	ended    chan error
	stop     context.CancelFunc
}

// holds holds a fake server in the given modes.
func holds(t *testing.T, limit int64, modes ...string) *heldWorld {
	t.Helper()
	folder, err := os.MkdirTemp(shortFolder(), "tx") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	w := &heldWorld{
		t: t, sessions: &Sessions{Folder: folder, Version: "test"}, server: &config.Server{Name: "fake"},
		ended: make(chan error, 1),
	}
	launch := fakeLaunch(t, modes...)
	launch.Cwd = t.TempDir()
	spec := HoldSpec{
		Record:  Record{Key: NamedKey(w.server, false), Name: "fake", Named: true, Entry: w.server.Identity()},
		Options: Options{Sessions: w.sessions, MaxMessage: limit, StartTimeout: ample},
		Launch:  *launch,
		Offered: willing().capabilities(),
	}
	text := bytes.NewReader(spec.encode())
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	said, ready := io.Pipe()
	go func() {
		err := Hold(ctx, text, ready, mcphttp.ClientOptions{})
		_ = ready.CloseWithError(err) // where it never listened
		w.ended <- err
	}()
	line, err := io.ReadAll(said)
	if err != nil || strings.TrimSpace(string(line)) != holderReady {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(folder)
	})
	return w
}

func shortFolder() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	return "/tmp"
}

// client opens the session as another process would.
func (w *heldWorld) client(answers Answers) (*Session, *events) {
	w.t.Helper()
	seen, bus := &events{}, &exec.Bus{}
	bus.Subscribe(seen.take)
	pool := NewPool([]*config.Server{w.server}, Options{
		Bus: bus, Registry: exec.NewRegistry(bus), StartTimeout: ample, Answers: answers, Sessions: w.sessions,
		Version: "test",
	})
	session, err := pool.Open(context.Background(), "fake")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { pool.Close(context.Background()) })
	if session.Held == nil {
		w.t.Fatal("the session is not the one that is held")
	}
	return session, seen
}

func echoed(session *Session, text string) error {
	result, err := session.CallTool(context.Background(), exec.Request{
		Name: "echo", Arguments: json.RawMessage(fmt.Sprintf(`{"message":%q}`, text)), Progress: func(exec.Progress) {},
	})
	if err == nil && !strings.Contains(string(result), `"`+text+`"`) {
		err = fmt.Errorf("%q is answered by %s", text, result)
	}
	return err
}

// Fifty clients call at once: each gets its own answers, and the frames of its own requests alone.
func TestHeldByMany(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "good")
	const clients, calls = 50, 20
	var wait sync.WaitGroup
	for i := range clients {
		session, seen := w.client(Answers{})
		wait.Go(func() {
			for j := range calls {
				if err := echoed(session, fmt.Sprintf("client %d call %d", i, j)); err != nil {
					t.Error(err)
				}
			}
			for _, frame := range of[wire.FrameSent](seen) {
				own := strings.Contains(string(frame.Bytes), fmt.Sprintf("client %d call", i))
				if frame.Method == "tools/call" && !own {
					t.Errorf("client %d sees %s", i, frame.Bytes)
				}
			}
			answers := 0
			for _, frame := range of[wire.FrameReceived](seen) {
				if strings.Contains(string(frame.Bytes), fmt.Sprintf("client %d call", i)) {
					answers++
				}
			}
			if answers != calls {
				t.Errorf("client %d sees %d answers, want %d", i, answers, calls)
			}
		})
	}
	wait.Wait()
}

// Two clients whose progress tokens are the same each hear of their own progress.
func TestHeldProgress(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "good")
	var wait sync.WaitGroup
	for _, steps := range []int{3, 5} {
		session, _ := w.client(Answers{})
		wait.Go(func() {
			var heard []string
			var mu sync.Mutex
			_, err := session.CallTool(context.Background(), exec.Request{
				Name: "slow", Arguments: json.RawMessage(fmt.Sprintf(`{"ms":200,"steps":%d}`, steps)),
				Progress: func(p exec.Progress) {
					mu.Lock()
					defer mu.Unlock()
					heard = append(heard, fmt.Sprintf("%g of %g", p.Progress, p.Total))
				},
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(heard) != steps || heard[0] != fmt.Sprintf("1 of %d", steps) {
				t.Errorf("%v: heard %q, want %d steps", err, heard, steps)
			}
		})
	}
	wait.Wait()
}

// A question of the server goes to the client whose call it is about.
func TestHeldElicitation(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "elicit")
	asked := func(name string, times *int) Answers {
		answers := willing()
		elicit := answers.Elicit
		answers.Elicit = func(ctx context.Context, about *Elicitation) (*Elicited, error) {
			*times++
			return elicit(ctx, about)
		}
		return answers
	}
	var idle, calling int
	w.client(asked("idle", &idle))
	session, _ := w.client(asked("calling", &calling))
	if err := echoed(session, "hi"); err != nil && !strings.Contains(err.Error(), "answered by") {
		t.Error(err)
	}
	if idle != 0 || calling != 1 {
		t.Errorf("the client that calls was asked %d times, the other one %d times", calling, idle)
	}
}

// A client that does not read is cut off, and nobody waits for it.
func TestHeldSlowReader(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "good")
	conn, err := w.sessions.connect(t.Context(), NamedKey(w.server, false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"toolx/attach"}`); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := wire.Parse(line); m.Kind() == wire.KindReply {
			break
		}
	}
	const much = 24 // more than may wait, in messages of 900 kB
	for seq := range int64(much) {
		request, err := wire.EncodeRequest(seq+2, methodRequest,
			rawjson.Build("method", "tools/call", "params", CallParams("big", []byte(`{"bytes":900000}`))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(conn, string(request)); err != nil {
			break // it is cut off already
		}
	}
	session, _ := w.client(Answers{})
	for i := range 20 {
		if err := echoed(session, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.sessions.ask(t.Context(), NamedKey(w.server, false), methodInfo)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(ample); info.Clients != 1; { // until all answers have come
		if err := echoed(session, "more"); err != nil {
			t.Fatal(err)
		}
		if info, err = w.sessions.ask(t.Context(), NamedKey(w.server, false), methodInfo); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the client is not cut off")
		}
	}
}

// A holder says how it is, and takes clients, while its server writes to stderr without end.
func TestHeldWhileStderrFloods(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "--on", "tools/call", "--count", "3000", "stderr-flood")
	session, _ := w.client(Answers{})
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	defer cancel()
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for !wire.Closed(over) {
			if _, err := w.sessions.ask(ctx, NamedKey(w.server, false), methodInfo); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 10 {
		if err := echoed(session, fmt.Sprint(i)); err != nil {
			t.Error(err)
		}
	}
	close(over)
	wait.Wait()
}

// A holder that can be reached no more ends.
func TestHolderEndsWithItsSocket(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	h := &holder{stop: sync.OnceFunc(func() { close(ended) })}
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
	case <-time.After(ample):
		t.Error("it goes on")
	}
}

// A client and a holder of different versions find that out at once, and a session of the other version can be ended.
func TestHeldByAnotherVersion(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "good")
	key := NamedKey(w.server, false)
	conn, err := w.sessions.connect(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte{35, 255, 129, 3, 1, 1}); err != nil { // without an end of a line
		t.Fatal(err)
	}
	if said, err := io.ReadAll(conn); err != nil || len(said) > 0 {
		t.Errorf("a client with another protocol is told %q, %v", said, err)
	}

	record, err := w.sessions.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	record.Speaks = 0
	if err := os.WriteFile(w.sessions.path(key, ".json"), asJSON(record), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := NewPool([]*config.Server{w.server}, Options{Registry: exec.NewRegistry(nil), Sessions: w.sessions})
	defer pool.Close(context.Background())
	if _, err := pool.Open(t.Context(), "fake"); err == nil ||
		!strings.Contains(fault.HintOf(err), "toolx session restart fake") {
		t.Errorf("a holder of another version: %v (%s)", err, fault.HintOf(err))
	}
	for _, info := range w.sessions.List(t.Context(), ample) {
		if !strings.Contains(info.Ended, "toolx session restart fake") {
			t.Errorf("its state is %s, %s", info.State, info.Ended)
		}
	}
}

// The session of another toolx is used, with a warning.
func TestHeldByAnotherToolx(t *testing.T) {
	t.Parallel()
	w := holds(t, 1<<20, "good")
	seen, bus := &events{}, &exec.Bus{}
	bus.Subscribe(seen.take)
	pool := NewPool([]*config.Server{w.server}, Options{
		Bus: bus, Registry: exec.NewRegistry(bus), StartTimeout: ample, Sessions: w.sessions, Version: "newer",
	})
	defer pool.Close(context.Background())
	session, err := pool.Open(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	if err := echoed(session, "hi"); err != nil {
		t.Error(err)
	}
	said := ""
	for _, notice := range of[exec.Notice](seen) {
		said += notice.Text + "\n"
	}
	if !strings.Contains(said, "was started by toolx test, and this is newer") {
		t.Errorf("it says %s", said)
	}
}

// A holder whose answer cannot be used is not asked why: it may not understand that question either.
func TestHolderIsNotAskedAboutItsOwnAnswer(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	asked := make(chan string, 2)
	go func() {
		_ = newHeldConn(far, 1<<20).read(func(m wire.Message) {
			asked <- m.Method
			_, _ = far.Write(report{}.reply(m.ID))
		})
	}()
	link := newHeld("s", near, nil)
	defer link.Kill()
	if err := link.Begin(); err != nil {
		t.Fatal(err)
	}
	h := &handshake{Session: &Session{requester: requester{Name: "s", link: link}}}
	var failure *diagnose.Failure
	err := h.join(t.Context(), link)
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingUnusable || failure.Final ||
		!strings.Contains(err.Error(), errOtherToolx.Error()) {
		t.Errorf("%+v", err)
	}
	if first := <-asked; first != methodAttach || len(asked) > 0 {
		t.Errorf("the holder is asked %s, and %d more", first, len(asked))
	}
}

// TestStartCauseIsCarried: only the holder knows how the server was started, and what its code reads.
func TestStartCauseIsCarried(t *testing.T) {
	want := &cause.Cause{Kind: cause.Observed, What: "SHOP_API_KEY is not set", Fixes: []string{"add SHOP_API_KEY"}}
	for waiting, explained := range map[string]bool{string(mcp.MethodInitialize): true, "tools/call": false} {
		failed := &diagnose.Failure{
			Ending: diagnose.EndingExited, Waiting: waiting, FromStart: func() *cause.Cause { return want },
		}
		m, _ := wire.Parse(report{Failure: newFailureData(failed)}.notification(methodEnded))
		got, err := readReport(m.Params)
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Failure.failure().Cause(); explained != reflect.DeepEqual(c, want) {
			t.Errorf("%s unanswered: cause is %+v", waiting, c)
		}
	}
}

// Every event that a holder can see is carried, but for those that its clients make themselves.
func TestEventsAreCarried(t *testing.T) {
	t.Parallel()
	for _, event := range []exec.Event{
		wire.ProcessStarted{Head: wire.Head{Server: "s"}, PID: 1},
		wire.ProcessExited{Head: wire.Head{Server: "s"}, How: "exit status 1"},
		wire.PipeHeld{Pipe: "stdout"},
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
	m, _ := wire.Parse(report{Failure: newFailureData(reason)}.notification(methodEnded))
	r, err := readReport(m.Params)
	if err != nil || r.Failure.failure().Error() != reason.Error() || r.Failure.failure().Said[0] != "said" {
		t.Errorf("the failure becomes %v, %v", r.Failure, err)
	}
}
