package servers

import (
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
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
	*peer
	conn net.Conn
	key  string // of the session; empty where it is of no interest
	// safe reports whether a request may be sent twice.
	safe func(method string, params json.RawMessage) bool

	writing sync.Mutex // guards out
	out     *gob.Encoder

	welcome *welcome // set once attached
	last    atomic.Pointer[SessionInfo]
	// startedPID is the process of the server that the holder is starting, zero if it has told of none.
	startedPID atomic.Int64

	waitMu  sync.Mutex // guards what follows
	lastSeq int64
	waiting map[int64]chan report
	once    sync.Once
}

// newHeld makes the link over a connection with the holder, and reads what the holder says from then on.
func newHeld(server string, conn net.Conn, bus *exec.Bus) *held {
	registerEvents()
	h := &held{
		peer: newPeer(server, bus), conn: conn, out: gob.NewEncoder(conn),
		safe:    func(string, json.RawMessage) bool { return false },
		waiting: make(map[int64]chan report),
	}
	h.post = func(f frame) bool {
		go func() { _ = h.write(demand{Kind: demandAnswer, Message: f.bytes}) }() // its reader tells of a broken link
		return true
	}
	return h
}

func (h *held) write(d demand) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	return h.out.Encode(d)
}

// read takes what the holder says, to its end.
func (h *held) read() {
	in := gob.NewDecoder(h.conn)
	for {
		var r report
		if err := in.Decode(&r); err != nil {
			h.lost(err)
			return
		}
		h.take(r)
	}
}

// take takes one report.
func (h *held) take(r report) {
	switch r.Kind {
	case reportDone:
		if r.Received != nil {
			r.Received.Bytes = r.Message
			h.bus.Emit(*r.Received)
		}
		h.waitMu.Lock()
		waiting := h.waiting[r.Seq]
		delete(h.waiting, r.Seq)
		h.waitMu.Unlock()
		if waiting != nil {
			waiting <- r
		}
	case reportEvent:
		if started, ok := r.Event.(ProcessStarted); ok {
			h.startedPID.Store(int64(started.PID))
		}
		h.bus.Emit(restored(r.Event))
	case reportNotification:
		if m, ok := parseMessage(r.Message); ok {
			h.onNotification(m.method, m.params)
		}
	case reportRequest:
		if m, ok := parseMessage(r.Message); ok {
			h.answerRequest(m)
		}
	case reportLast:
		h.last.Store(r.Info)
	case reportEnded:
		h.fail(r.Failure.failure())
	}
}

// lost ends the link when the holder says no more.
func (h *held) lost(err error) {
	if closed(h.closing) {
		h.fail(h.localFailure(EndingClosed))
		return
	}
	failure := h.localFailure(EndingHolderGone)
	switch {
	case h.last.Load() != nil:
		failure.Reason = errors.New("its session was ended")
	case !errors.Is(err, io.EOF):
		failure.Reason = err
	}
	h.fail(failure)
}

// localFailure returns a Failure with what is known without the holder.
func (h *held) localFailure(ending Ending) *Failure {
	failure := &Failure{Server: h.server, Ending: ending}
	if h.welcome != nil {
		failure.Command, failure.Cwd, failure.URL = h.welcome.Command, h.welcome.Cwd, h.welcome.URL
		failure.StderrPath = h.welcome.StderrPath
	}
	return failure
}

// demand asks the holder something. The error is ctx's or a *Failure where the holder has ended.
func (h *held) demand(ctx context.Context, d demand) (report, error) {
	answer := make(chan report, 1)
	h.waitMu.Lock()
	h.lastSeq++
	d.Seq = h.lastSeq
	h.waiting[d.Seq] = answer
	h.waitMu.Unlock()
	// A holder that is stopped does not read.
	go func() { _ = h.write(d) }()
	select {
	case r := <-answer:
		return r, nil
	case <-h.done:
		return h.after(d, answer)
	case <-ctx.Done():
	}
	if d.Kind != demandRequest && d.Kind != demandAttach {
		return report{}, ctx.Err()
	}
	// The holder cancels the request, and says what is known of why there was no answer.
	go func() { _ = h.write(demand{Kind: demandCancel, Seq: d.Seq, Reason: context.Cause(ctx).Error()}) }()
	select {
	case r := <-answer:
		return r, nil
	case <-h.done:
		return h.after(d, answer)
	case <-time.After(heldPatience):
		return report{}, &abandonedError{err: ctx.Err(), detail: "the process that holds the server does not answer"}
	}
}

// after returns the answer to a demand that came with the end of the link, else the reason of that end.
func (h *held) after(d demand, answer chan report) (report, error) {
	select {
	case r := <-answer:
		return r, nil
	default:
		return report{}, h.failed(d.Method)
	}
}

// attach makes the server ready, and tells what it is. The error is a *Failure, ctx's, or the holder's.
func (h *held) attach(ctx context.Context, watch bool) error {
	bounded, stop := h.whileAnswering(ctx)
	defer stop()
	r, err := h.demand(bounded, demand{Kind: demandAttach, Version: heldVersion, Watch: watch})
	switch {
	case bounded.Err() != nil && ctx.Err() == nil && !closed(h.done):
		return h.silent()
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Version != heldVersion:
		return fmt.Errorf("it is held by another version of toolx; toolx session restart %s", h.server)
	case r.Failure != nil:
		return r.Failure.failure()
	case r.Err != nil:
		return r.Err.err()
	}
	h.welcome = r.Welcome
	return nil
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
	_, err := h.info(bounded, demandInfo)
	return err == nil || bounded.Err() == nil
}

// silent returns the Failure of a server whose holder does not answer. Another attempt would ask the same process.
func (h *held) silent() *Failure {
	failure := h.localFailure(EndingHolderSilent)
	failure.final = true
	return failure
}

func (h *held) roundTrip(
	ctx context.Context, method string, params json.RawMessage, header http.Header,
) (message, error) {
	return h.request(ctx, demand{
		Kind: demandRequest, Method: method, Message: params, Header: header, Safe: h.safe(method, params),
	})
}

// request sends a request of MCP and returns its answer.
func (h *held) request(ctx context.Context, d demand) (message, error) {
	r, err := h.demand(ctx, d)
	switch {
	case err != nil:
		return message{}, err
	case r.Failure != nil:
		failure := r.Failure.failure()
		if failure.ends() {
			h.fail(failure) // before the holder says so
		}
		return message{}, failure
	case r.Err != nil && r.Err.Abandoned:
		return message{}, &abandonedError{cmp.Or(ctx.Err(), context.Canceled), r.Err.Text, r.Err.Facts}
	case r.Err != nil && ctx.Err() != nil:
		return message{}, ctx.Err()
	case r.Err != nil:
		return message{}, r.Err.err()
	}
	m, ok := parseMessage(r.Message)
	if !ok {
		return message{}, &exec.MalformedError{
			What:   "the answer of the process that holds the server",
			Reason: errors.New("not JSON"),
		}
	}
	return m, nil
}

func (h *held) send(_ context.Context, f frame) error {
	if err := h.write(demand{Kind: demandSend, Message: f.bytes}); err != nil {
		return h.localFailure(EndingHolderGone)
	}
	return nil
}

// shutdown leaves the server to its holder.
func (h *held) shutdown(context.Context) {
	h.once.Do(func() {
		close(h.closing)
		_ = h.conn.Close()
	})
}

func (h *held) kill() { _ = h.conn.Close() }

// newFailure gathers what the holder knows of the server now.
func (h *held) newFailure(ending Ending) *Failure {
	limited, cancel := context.WithTimeout(context.Background(), failurePatience)
	defer cancel()
	ctx, stop := h.whileAnswering(limited)
	defer stop()
	r, err := h.demand(ctx, demand{Kind: demandFailure, Ending: ending})
	switch {
	case ctx.Err() != nil:
		return h.silent()
	case err != nil || r.Failure == nil:
		return h.localFailure(ending)
	}
	return r.Failure.failure()
}

// info asks the holder something whose answer is a description of the session.
func (h *held) info(ctx context.Context, kind demandKind) (*SessionInfo, error) {
	r, err := h.demand(ctx, demand{Kind: kind, Version: heldVersion})
	if err == nil && r.Info == nil {
		err = errors.New("another version of toolx holds it")
	}
	return r.Info, err
}

// Held says how a session uses a server that stays.
type Held struct {
	// Reused reports that the server ran before, Age for how long, in the moment the session was opened.
	Reused bool
	Age    time.Duration
}

// begin implements link.
func (h *held) begin() error {
	go h.read()
	return nil
}

// processID implements link: while the holder starts the server, it tells of its process.
func (h *held) processID() int { return int(h.startedPID.Load()) }

func (h *held) heldKey() string { return h.key }

// agree implements link: it performs the part of the handshake that is left where a holder has performed it.
func (h *held) agree(ctx context.Context, with *handshake) error {
	if err := h.attach(ctx, with.dial.watches); err != nil {
		var failure *Failure
		if errors.As(err, &failure) || ctx.Err() != nil {
			return err
		}
		failure = h.localFailure(EndingUnusable)
		failure.Reason = fmt.Errorf("server '%s': %w", h.server, err)
		return failure
	}
	w := h.welcome
	var info mcp.Implementation
	var capabilities mcp.ServerCapabilities
	// They were decoded by the holder before.
	_, _ = json.Unmarshal(w.Info, &info), json.Unmarshal(w.Capabilities, &capabilities)
	with.Protocol, with.PID, with.overHTTP = w.Protocol, w.PID, w.URL != ""
	with.introduce(info, capabilities, w.Instructions)
	with.Held = &Held{w.Reused, w.Age}
	with.tellHeld(w)
	return nil
}

// tellHeld says that the server ran before, and what of it differs from one that was started now.
func (h *handshake) tellHeld(w *welcome) {
	if w.Reused {
		h.notice(slog.LevelInfo, fmt.Sprintf("server %q runs for %s already: its session is used", h.Name,
			rounded(w.Age)))
	}
	for _, file := range w.Files {
		if w.Reused && file.changed() {
			h.notice(slog.LevelWarn, fmt.Sprintf("%s has changed since the session of server %q was started; "+
				"--fresh restarts it", file.Path, h.Name))
		}
	}
	restart := "; toolx session restart " + exec.ShellLine(h.Name) + " starts it anew"
	if w.Identity != "" && w.Identity != h.dial.server.Identity() {
		h.notice(slog.LevelWarn, fmt.Sprintf("the entry of server %q has changed since its session was started%s",
			h.Name, restart))
	}
	if w.Toolx != h.clientInfo.Version {
		h.notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started by toolx %s, and this is %s%s",
			h.Name, w.Toolx, h.clientInfo.Version, restart))
	}
	var offered mcp.ClientCapabilities
	_ = json.Unmarshal(w.Offered, &offered) // this program wrote it
	if wanted := h.clientCapabilities; !h.Session.modern() &&
		(wanted.Sampling != nil && offered.Sampling == nil || wanted.Roots != nil && offered.Roots == nil) {
		h.notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started without sampling or roots, "+
			"so the server does not ask for them; --no-session starts another server", h.Name))
	}
}

func (h *held) stderr(n int) (lines []string, total int, path string) {
	failure := h.newFailure(EndingClosed)
	lines = lastOf(failure.StderrTail, n)
	return lines, failure.StderrLines, failure.StderrPath
}
