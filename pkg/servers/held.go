package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// heldPatience is how long a client waits for what a holder answers at once.
const heldPatience = time.Second

// holderSilence is how long a client waits for a server to be ready before it asks whether the holder lives, and then
// for the answer: a process that is stopped accepts connections as ever.
const holderSilence = 3 * time.Second

// failurePatience is how long a client waits while a holder that answers looks for the reason of a failure.
const failurePatience = 10 * time.Second

// held is the link to a server that another process holds. The holder passes on what it sees while a request of this
// client runs, so that the same events are emitted as if the server were this process's own.
type held struct {
	*wire.Peer
	conn heldConn
	key  string // of the session; empty where it is of no interest
	// safe reports whether a request may be sent twice.
	safe func(method string, params json.RawMessage) bool

	welcome *welcome // set once attached
	last    atomic.Pointer[SessionInfo]
	// startedPID is the process of the server that the holder is starting, zero if it has told of none.
	startedPID atomic.Int64
	once       sync.Once

	askedMu sync.Mutex // guards what follows
	lastID  int64
	asked   map[int64]chan reported // requests to the holder, by id
}

// reported is the answer of a holder to a request; err says that it cannot be read.
type reported struct {
	report report
	err    error
}

// newHeld makes the link over a connection with the holder; begin starts it.
func newHeld(server string, conn net.Conn, bus *exec.Bus) *held {
	h := &held{
		Peer: wire.NewPeer(server, bus), conn: newHeldConn(conn, math.MaxInt),
		safe: func(string, json.RawMessage) bool { return false }, asked: make(map[int64]chan reported),
	}
	h.Post = func(f wire.Frame) bool {
		h.conn.put(asLine(f.Bytes))
		return true
	}
	return h
}

// Begin implements link.
func (h *held) Begin() error {
	go func() { h.lost(h.conn.read(h.take)) }()
	return nil
}

// take takes what the holder says.
func (h *held) take(m wire.Message) {
	switch m.Kind() {
	case wire.KindReply:
		r, err := readReport(m.Result)
		if r.Received != nil {
			r.Received.Bytes = r.message
			h.Bus.Emit(*r.Received)
		}
		id, _, _ := wire.RequestID(m.ID)
		h.askedMu.Lock()
		waiting := h.asked[id]
		delete(h.asked, id)
		h.askedMu.Unlock()
		if waiting != nil {
			waiting <- reported{r, err}
		}
	case wire.KindRequest:
		h.AnswerRequest(m)
	case wire.KindNotification:
		h.told(m.Method, m.Params)
	}
}

// told takes a notification of the holder.
func (h *held) told(method string, params json.RawMessage) {
	switch method {
	case methodEvent:
		event := readEvent(params)
		if started, ok := event.(wire.ProcessStarted); ok {
			h.startedPID.Store(int64(started.PID))
		}
		if event != nil {
			h.Bus.Emit(event)
		}
	case methodNotification:
		h.OnNotification(rawjson.GetText(params, "method"), rawjson.Get(params, "params"))
	case methodLast:
		if r, err := readReport(params); err == nil {
			h.last.Store(r.Info)
		}
	case methodEnded:
		if r, err := readReport(params); err == nil && r.Failure != nil {
			h.Fail(r.Failure.failure())
		}
	}
}

// lost ends the link when the holder says no more.
func (h *held) lost(err error) {
	if wire.Closed(h.Closing) {
		h.Fail(h.localFailure(diagnose.EndingClosed))
		return
	}
	failure := h.localFailure(diagnose.EndingHolderGone)
	switch {
	case h.last.Load() != nil:
		failure.Reason = errors.New("its session was ended")
	case !errors.Is(err, io.EOF):
		failure.Reason = err
	}
	h.Fail(failure)
}

// localFailure returns a Failure with what is known without the holder.
func (h *held) localFailure(ending diagnose.Ending) *diagnose.Failure {
	failure := &diagnose.Failure{Server: h.Server, Ending: ending}
	if h.welcome != nil {
		failure.Command, failure.Cwd, failure.URL = h.welcome.Command, h.welcome.Cwd, h.welcome.URL
		failure.StderrPath = h.welcome.StderrPath
	}
	return failure
}

// ask sends the holder a request and returns what it reports. The error is ctx's, or a *Failure where the holder has
// ended.
func (h *held) ask(ctx context.Context, method string, params json.RawMessage) (report, error) {
	h.askedMu.Lock()
	h.lastID++
	id, answered := h.lastID, make(chan reported, 1)
	h.asked[id] = answered
	h.askedMu.Unlock()
	defer h.forget(id)
	line, err := wire.EncodeRequest(id, method, params)
	if err != nil {
		return report{}, err
	}
	h.conn.put(asLine(line))
	select {
	case r := <-answered:
		return r.report, r.err
	case <-h.Done:
		return h.after(answered)
	case <-ctx.Done():
	}
	if method != methodRequest && method != methodAttach {
		return report{}, ctx.Err()
	}
	// The holder cancels the request, and says what is known of why there was no answer.
	h.Cancel(ctx, id)
	select {
	case r := <-answered:
		return r.report, r.err
	case <-h.Done:
		return h.after(answered)
	case <-time.After(heldPatience):
		return report{}, &diagnose.Abandoned{Err: ctx.Err(), Why: "the process that holds the server does not answer"}
	}
}

func (h *held) forget(id int64) {
	h.askedMu.Lock()
	defer h.askedMu.Unlock()
	delete(h.asked, id)
}

// after returns the answer to a request that came with the end of the link, else the reason of that end.
func (h *held) after(answered <-chan reported) (report, error) {
	select {
	case r := <-answered:
		return r.report, r.err
	default:
		return report{}, diagnose.Of(h.Peer, "")
	}
}

// attach makes the server ready, and tells what it is. The error is a *Failure, ctx's, or the holder's.
func (h *held) attach(ctx context.Context, watch bool) (*welcome, error) {
	bounded, stop := h.whileAnswering(ctx)
	defer stop()
	r, err := h.ask(bounded, methodAttach, rawjson.Build("watch", watch))
	switch {
	case bounded.Err() != nil && ctx.Err() == nil && !wire.Closed(h.Done):
		return nil, h.silent()
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.Failure != nil:
		return nil, r.Failure.failure()
	case r.Err != nil:
		return nil, r.Err.err()
	case r.Welcome == nil:
		return nil, errOtherToolx
	}
	h.welcome = r.Welcome
	return h.welcome, nil
}

// whileAnswering returns a context that also ends when the holder turns out to answer nothing.
func (h *held) whileAnswering(ctx context.Context) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(holderSilence, func() {
		if !h.answers(bounded) {
			cancel()
		}
	})
	return bounded, func() {
		timer.Stop()
		cancel()
	}
}

// answers reports whether the holder answers anything.
func (h *held) answers(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, holderSilence)
	defer cancel()
	_, err := h.info(bounded, methodInfo)
	return err == nil || bounded.Err() == nil
}

// silent returns the Failure of a server whose holder does not answer. Another attempt would ask the same process.
func (h *held) silent() *diagnose.Failure {
	failure := h.localFailure(diagnose.EndingHolderSilent)
	failure.Final = true
	return failure
}

func (h *held) RoundTrip(
	ctx context.Context, method string, params json.RawMessage, header http.Header,
) (wire.Message, error) {
	r, err := h.ask(ctx, methodRequest, rawjson.Build("method", method, "safe", h.safe(method, params),
		"header", json.RawMessage(asJSON(header)), "params", params))
	var ended *diagnose.Failure
	switch {
	case errors.As(err, &ended):
		ended.Waiting = method
		return wire.Message{}, ended
	case err != nil:
		return wire.Message{}, err
	case r.Failure != nil:
		failure := r.Failure.failure()
		if failure.Ends() {
			h.Fail(failure) // before the holder says so
		}
		return wire.Message{}, failure
	case r.Err != nil && r.Err.Abandoned:
		return wire.Message{}, &diagnose.Abandoned{
			Err: cmp.Or(ctx.Err(), context.Canceled), Why: r.Err.Text, Printed: r.Err.Facts,
		}
	case r.Err != nil && ctx.Err() != nil:
		return wire.Message{}, ctx.Err()
	case r.Err != nil:
		return wire.Message{}, r.Err.err()
	}
	return wire.Read(r.message), nil // the holder has checked it
}

func (h *held) Send(_ context.Context, f wire.Frame) error {
	notification, err := wire.NewNotification(methodSend, map[string][]byte{"frame": f.Bytes})
	if err != nil {
		return err
	}
	h.Post(notification)
	return nil
}

// Close leaves the server to its holder.
func (h *held) Close(context.Context) {
	h.once.Do(func() { close(h.Closing) })
	h.conn.cut()
}

func (h *held) Kill() { _ = h.conn.Close() }

// NewFailure gathers what the holder knows of the server now.
func (h *held) NewFailure(ending diagnose.Ending) *diagnose.Failure {
	limited, cancel := context.WithTimeout(context.Background(), failurePatience)
	defer cancel()
	ctx, stop := h.whileAnswering(limited)
	defer stop()
	r, err := h.ask(ctx, methodFailure, rawjson.Build("ending", string(ending)))
	switch {
	case ctx.Err() != nil:
		return h.silent()
	case err != nil || r.Failure == nil:
		return h.localFailure(ending)
	}
	return r.Failure.failure()
}

// info asks the holder something whose answer is a description of the session.
func (h *held) info(ctx context.Context, method string) (*SessionInfo, error) {
	r, err := h.ask(ctx, method, nil)
	if err == nil && r.Info == nil {
		err = errOtherToolx
	}
	return r.Info, err
}

// Held says how a session uses a server that stays.
type Held struct {
	// Reused reports that the server ran before, Age for how long, in the moment the session was opened.
	Reused bool
	Age    time.Duration
}

// ProcessID implements link: while the holder starts the server, it tells of its process.
func (h *held) ProcessID() int { return int(h.startedPID.Load()) }

func (h *held) SessionKey() string { return h.key }

// join performs the part of the handshake that is left where a holder has performed it.
func (h *handshake) join(ctx context.Context, over sharedServer) error {
	w, err := over.attach(ctx, h.dial.Watches)
	var failure *diagnose.Failure
	switch {
	case errors.As(err, &failure) || err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		failure = over.localFailure(diagnose.EndingUnusable)
		failure.Reason = fmt.Errorf("server '%s': %w", h.Name, err)
		return failure
	}
	h.Protocol, h.PID, h.overHTTP = w.Protocol, w.PID, w.URL != ""
	h.introduce(w.Info, w.Capabilities, w.Instructions)
	h.Held = &Held{w.Reused, w.Age}
	h.tellHeld(w)
	return nil
}

// tellHeld says that the server ran before, and what of it differs from one that was started now.
func (h *handshake) tellHeld(w *welcome) {
	if w.Reused {
		h.notice(slog.LevelInfo, fmt.Sprintf("server %q runs for %s already: its session is used", h.Name,
			diagnose.Rounded(w.Age)))
	}
	for _, file := range w.Files {
		if w.Reused && file.changed() {
			h.notice(slog.LevelWarn, fmt.Sprintf("%s has changed since the session of server %q was started; "+
				"--fresh restarts it", file.Path, h.Name))
		}
	}
	restart := "; toolx session restart " + exec.ShellLine(h.Name) + " restarts it"
	if w.Identity != "" && w.Identity != h.dial.server.Identity() {
		h.notice(slog.LevelWarn, fmt.Sprintf("the entry of server %q has changed since its session was started%s",
			h.Name, restart))
	}
	if w.Toolx != h.clientInfo.Version {
		h.notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started by toolx %s, and this is %s%s",
			h.Name, w.Toolx, h.clientInfo.Version, restart))
	}
	if wanted := h.clientCapabilities; !h.Session.modern() &&
		(wanted.Sampling != nil && w.Offered.Sampling == nil || wanted.Roots != nil && w.Offered.Roots == nil) {
		h.notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started without sampling or roots, "+
			"so the server does not ask for them; --no-session starts another server", h.Name))
	}
}

func (h *held) Stderr(n int) (lines []string, total int, path string) {
	failure := h.NewFailure(diagnose.EndingClosed)
	lines = diagnose.LastOf(failure.StderrTail, n)
	return lines, failure.StderrLines, failure.StderrPath
}
