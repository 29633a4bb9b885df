package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/daemon"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// daemonWorld is a daemon in this process, so that the race detector sees both sides, and the place of its session.
type daemonWorld struct {
	t        *testing.T
	sessions *daemon.Sessions
	server   *config.Server
	ended    chan error
	stop     context.CancelFunc
}

// startDaemon runs a daemon of a fake server in the given modes.
func startDaemon(t *testing.T, limit int64, modes ...string) *daemonWorld {
	t.Helper()
	folder, err := os.MkdirTemp(shortFolder(), "tx") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	w := &daemonWorld{
		t: t, sessions: &daemon.Sessions{Folder: folder, Version: "test"}, server: &config.Server{Name: "fake"},
		ended: make(chan error, 1),
	}
	launch := serverstest.Launch(t, modes...)
	launch.Cwd = t.TempDir()
	options := Options{
		Options: protocol.Options{MaxMessage: limit, StartTimeout: serverstest.Ample, Answers: allAnswers()},
	}
	spec := options.dial(w.server, launch).spec(daemon.Record{Key: daemon.NamedKey(w.server, false), Named: true})
	text := bytes.NewReader(spec.Encode(w.sessions))
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	said, ready := io.Pipe()
	go func() {
		err := Serve(ctx, text, ready, mcphttp.ClientOptions{})
		_ = ready.CloseWithError(err) // where it never listened
		w.ended <- err
	}()
	line, err := io.ReadAll(said)
	if err != nil || strings.TrimSpace(string(line)) != "ready" {
		t.Fatalf("the daemon says %q, %v", line, err)
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

// info describes the session, as its daemon does.
func (w *daemonWorld) info(ctx context.Context) (*daemon.Info, error) {
	info := w.sessions.List(ctx, serverstest.Ample)[0]
	if info.State == daemon.StateDead || info.State == daemon.StateSilent {
		return nil, fmt.Errorf("the session is %s: %s", info.State, info.Ended)
	}
	return info, nil
}

func shortFolder() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	return "/tmp"
}

// client opens the session as another process would.
func (w *daemonWorld) client(answers protocol.Answers) (*protocol.Session, *serverstest.Events) {
	w.t.Helper()
	seen, bus := &serverstest.Events{}, &exec.Bus{}
	bus.Subscribe(seen.Take)
	pool := NewPool([]*config.Server{w.server}, Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: serverstest.Ample, Answers: answers, Version: "test"},
		Registry: exec.NewRegistry(bus), Sessions: w.sessions,
	})
	session, err := pool.Open(context.Background(), "fake")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { pool.Close(context.Background()) })
	if session.Attached == nil {
		w.t.Fatal("the session is not the one of the daemon")
	}
	return session, seen
}

func echoed(session *protocol.Session, text string) error {
	result, err := session.CallTool(context.Background(), exec.Request{
		Name: "echo", Arguments: json.RawMessage(fmt.Sprintf(`{"message":%q}`, text)), Progress: func(exec.Progress) {},
	})
	if err == nil && !strings.Contains(string(result), `"`+text+`"`) {
		err = fmt.Errorf("%q is answered by %s", text, result)
	}
	return err
}

// Fifty clients call at once: each gets its own answers, and the frames of its own requests alone.
func TestDaemonOfManyClients(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "good")
	const clients, calls = 50, 20
	var wait sync.WaitGroup
	for i := range clients {
		session, seen := w.client(protocol.Answers{})
		wait.Go(func() {
			for j := range calls {
				if err := echoed(session, fmt.Sprintf("client %d call %d", i, j)); err != nil {
					t.Error(err)
				}
			}
			for _, frame := range serverstest.Of[wire.FrameSent](seen) {
				own := strings.Contains(string(frame.Bytes), fmt.Sprintf("client %d call", i))
				if frame.Method == "tools/call" && !own {
					t.Errorf("client %d sees %s", i, frame.Bytes)
				}
			}
			answers := 0
			for _, frame := range serverstest.Of[wire.FrameReceived](seen) {
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
func TestDaemonPassesProgress(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "good")
	var wait sync.WaitGroup
	for _, steps := range []int{3, 5} {
		session, _ := w.client(protocol.Answers{})
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
func TestDaemonPassesElicitation(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "elicit")
	asked := func(name string, times *int) protocol.Answers {
		answers := allAnswers()
		elicit := answers.Elicit
		answers.Elicit = func(ctx context.Context, about *protocol.Elicitation) (*protocol.Elicited, error) {
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

// A client that does not read is cut off, and delays no other.
func TestDaemonWithSlowReader(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "good")
	conn, err := net.Dial("unix", filepath.Join(w.sessions.Folder, daemon.NamedKey(w.server, false)+".sock"))
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
		request, err := rpc.EncodeRequest(seq+2, "toolx/request",
			rawjson.Build("method", "tools/call", "params", protocol.CallParams("big", []byte(`{"bytes":900000}`))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(conn, string(request)); err != nil {
			break // it is cut off already
		}
	}
	session, _ := w.client(protocol.Answers{})
	for i := range 20 {
		if err := echoed(session, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(serverstest.Ample); info.Clients != 1; { // until all answers have come
		if err := echoed(session, "more"); err != nil {
			t.Fatal(err)
		}
		if info, err = w.info(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the client is not cut off")
		}
	}
}

// A daemon says how it is, and takes clients, while its server writes to stderr without end.
func TestDaemonWhileStderrFloods(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "--on", "tools/call", "--count", "3000", "stderr-flood")
	session, _ := w.client(protocol.Answers{})
	ctx, cancel := context.WithTimeout(t.Context(), serverstest.Ample)
	defer cancel()
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for !wire.Closed(over) {
			if _, err := w.info(ctx); err != nil {
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

// A client and a daemon of different versions find that out at once, and a session of the other version can be ended.
func TestDaemonOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "good")
	key := daemon.NamedKey(w.server, false)
	conn, err := net.Dial("unix", filepath.Join(w.sessions.Folder, key+".sock"))
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
	text, _ := json.Marshal(record)
	if err := os.WriteFile(filepath.Join(w.sessions.Folder, key+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := NewPool([]*config.Server{w.server}, Options{Registry: exec.NewRegistry(nil), Sessions: w.sessions})
	defer pool.Close(context.Background())
	if _, err := pool.Open(t.Context(), "fake"); err == nil ||
		!strings.Contains(fault.HintOf(err), "toolx session restart fake") {
		t.Errorf("a daemon of another version: %v (%s)", err, fault.HintOf(err))
	}
	for _, info := range w.sessions.List(t.Context(), serverstest.Ample) {
		if !strings.Contains(info.Ended, "toolx session restart fake") {
			t.Errorf("its state is %s, %s", info.State, info.Ended)
		}
	}
}

// The session of another toolx is used, with a warning.
func TestDaemonOfAnotherToolx(t *testing.T) {
	t.Parallel()
	w := startDaemon(t, 1<<20, "good")
	seen, bus := &serverstest.Events{}, &exec.Bus{}
	bus.Subscribe(seen.Take)
	pool := NewPool([]*config.Server{w.server}, Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: serverstest.Ample, Version: "newer"},
		Registry: exec.NewRegistry(bus), Sessions: w.sessions,
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
	for _, notice := range serverstest.Of[exec.Notice](seen) {
		said += notice.Text + "\n"
	}
	if !strings.Contains(said, "was started by toolx test, and this is newer") {
		t.Errorf("it says %s", said)
	}
}

// A session that ends while it is asked, and cannot be started again as it was, is an error at once: it is not retried.
// Several may end in a row, as where other processes use a server that cannot start.
func TestSessionEndsWhileItIsAsked(t *testing.T) {
	t.Parallel()
	for times, attempts := range map[int]int{1: 3, 3: 1} {
		endsWhileItIsAsked(t, times, attempts)
	}
}

func endsWhileItIsAsked(t *testing.T, times, attempts int) {
	t.Helper()
	w := startDaemon(t, 1<<20, "good")
	key := daemon.NamedKey(w.server, false)
	record, err := w.sessions.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	record.Dressed = true
	text, _ := json.Marshal(record)
	folder, err := os.MkdirTemp(shortFolder(), "tx")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.WriteFile(filepath.Join(folder, key+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, key+".sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false) // as a process that is killed leaves it
	ended := make(chan error, 1)
	go func() {
		var err error
		for left := times; left > 0 && err == nil; left-- {
			var conn net.Conn
			if conn, err = listener.Accept(); left == 1 {
				_ = listener.Close()
			}
			if err == nil {
				err = conn.Close()
			}
		}
		ended <- err
	}()
	seen, bus := &serverstest.Events{}, &exec.Bus{}
	bus.Subscribe(seen.Take)
	pool := NewPool([]*config.Server{w.server}, Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: serverstest.Ample, Version: "test"},
		Registry: exec.NewRegistry(bus), BaseDelay: time.Millisecond, Attempts: attempts,
		Sessions: &daemon.Sessions{Folder: folder, Version: "test"},
	})
	defer pool.Close(context.Background())
	const lost = "has ended, and its --env"
	if _, err := pool.Open(t.Context(), "fake"); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("open, after %d ends: %v", times, err)
	}
	_ = listener.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, retry := range serverstest.Of[Retry](seen) {
		if strings.Contains(retry.Err.Error(), lost) {
			t.Errorf("it is retried: %v", retry.Err)
		}
	}
}
