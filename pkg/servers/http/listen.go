package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/sse"
)

// StandsLong is how long a stream must have been open for its end to be normal where nothing came on it: proxies cut
// off idle streams.
const StandsLong = 5 * time.Second

// standingStream is the standing stream of one session, on which a server sends messages that belong to no request (MCP
// up to 2025-11-25, streamable HTTP, "Listening for Messages from the Server"). It is opened again whenever it ends,
// for as long as the session lasts.
type standingStream struct {
	*Transport
	session   string
	attempted chan struct{} // closed by answered, when the first attempt has an answer
	answered  func()
	lastID    string
	opened    bool          // once at least
	failures  int           // attempts in a row that did not open it
	delay     time.Duration // before the next attempt
}

// Listen opens the standing stream of a legacy session. Servers need not have one.
func (t *Transport) Listen() {
	if t.modern() || t.oldStream() != nil {
		return
	}
	s := &standingStream{Transport: t, session: t.SessionID(), attempted: make(chan struct{})}
	s.answered = sync.OnceFunc(func() { close(s.attempted) })
	if !t.standing.CompareAndSwap(nil, s) {
		return
	}
	t.start(func() {
		for s.receive() && wire.Waited(t.life, s.delay) && t.SessionID() == s.session {
		}
	})
}

// streamWait is how long a request waits for the standing stream. Servers open it at once; a proxy that delays its
// headers must not delay calls.
const streamWait = time.Second

// awaitStream waits for the standing stream before a request during which the server may ask something: many servers
// ask on that stream, and what they ask before it is open is lost.
func (t *Transport) awaitStream(ctx context.Context, method string) {
	s := t.standing.Load()
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
	default:
		return
	}
	if s == nil || !t.asked {
		return
	}
	bounded, stop := exec.WithLimit(ctx, streamWait)
	defer stop()
	select {
	case <-s.attempted:
	case <-bounded.Done():
	}
}

// receive opens the stream, takes the messages on it until it ends, and reports whether to open it again.
func (s *standingStream) receive() (again bool) {
	response, err := s.get(s.life, s.lastID)
	s.answered()
	switch {
	case s.life.Err() != nil:
		if response != nil {
			_ = response.Body.Close()
		}
		return false
	case err != nil:
		return s.refused(err)
	}
	events := sse.NewReader(response.Body, s.max)
	events.LastID = s.lastID
	began := time.Now()
	why := s.pump(events)
	_ = response.Body.Close()
	s.lastID, s.opened, s.failures = events.LastID, true, 0
	// A server that ends every stream at once is asked ever more rarely.
	if events.Taken > 0 || time.Since(began) >= StandsLong {
		s.delay = 0
	}
	s.slowDown(pauseBefore(s.RetryPolicy, events))
	if s.life.Err() != nil || wire.Closed(s.Closing) {
		return false
	}
	how := "ended the standing stream"
	if !errors.Is(why, io.EOF) {
		how = "broke the standing stream: " + networkWords(why, s.address)
	}
	s.tell(slog.LevelInfo, "%s; toolx opens it again in %s", how, diagnose.Rounded(s.delay))
	return true
}

// slowDown makes the next delay longer.
func (s *standingStream) slowDown(least time.Duration) { s.delay = Longer(s.delay, least) }

// Longer returns twice a delay, but at least least and at most resumeMost.
func Longer(delay, least time.Duration) time.Duration { return min(max(2*delay, least), resumeMost) }

// refused handles an attempt that failed, and reports whether to try again. A server that gives no stream is pinged to
// see whether it is still there.
func (s *standingStream) refused(err error) (again bool) {
	if s.failures++; s.failures == 1 {
		s.delay = 0 // from here on it is as that of connecting
	}
	no := refusesListening(err)
	switch {
	case no && !s.opened:
		s.giveUpStream(err)
		return false
	case !no && (s.failures < s.Attempts || s.Busy()):
		s.slowDown(s.RetryPolicy.Delay)
		s.tell(slog.LevelInfo, "does not open the standing stream: %v; toolx tries again in %s", err,
			diagnose.Rounded(s.delay))
		return true
	case !s.answersPing():
		return false
	case no || !s.opened:
		s.giveUpStream(err)
		return false
	}
	s.slowDown(s.RetryPolicy.Delay)
	s.tell(slog.LevelInfo, "is reachable, but does not open the standing stream: %v; toolx tries again in %s", err,
		diagnose.Rounded(s.delay))
	return true
}

// refusesListening reports whether an answer to the request for a stream will stay the same: the server has none, or no
// longer for this session.
func refusesListening(err error) bool {
	var failed *Error
	if !errors.As(err, &failed) || failed.Status >= http.StatusInternalServerError {
		return false
	}
	switch failed.Status {
	case 0, http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly,
		http.StatusTooManyRequests:
		return false
	}
	return true
}

// answersPing pings the server, and reports whether the stream may be opened again. A server that does not answer has
// ended the session. A server that has forgotten the session gets a new one, with a standing stream of its own, which
// ends this one.
func (s *standingStream) answersPing() bool {
	ctx, stop := exec.WithLimit(s.life, s.Longest)
	defer stop()
	err := s.Ping(ctx)
	if s.life.Err() != nil {
		return false
	}
	var failure *diagnose.Failure
	switch {
	case ctx.Err() != nil:
		failure = s.NewFailure(diagnose.EndingUnanswered)
		failure.Reason = fmt.Errorf("no response from %s within %s", s.address.Host, diagnose.Rounded(s.Longest))
		err = failure
	case !errors.As(err, &failure):
		return s.SessionID() == s.session
	}
	if errors.As(AsGone(err), &failure) {
		s.Fail(failure)
	}
	return false
}

// giveUpStream reports that the server has no standing stream, or no longer has one, and so no way to send messages
// that belong to no request.
func (s *standingStream) giveUpStream(err error) {
	if s.opened {
		s.tell(slog.LevelWarn, "no longer offers the standing stream, so it sends nothing between requests: %v", err)
		return
	}
	s.tell(slog.LevelInfo, "has no standing stream, so it sends nothing between requests: %v", err)
	s.markNoStream()
}

// IsCutOff reports whether a response was cut off: a stream before the reply that it was opened for, or a body before
// its end.
func IsCutOff(err error) bool {
	var failed *Error
	return errors.As(err, new(*cutOffError)) || errors.As(err, &failed) && failed.Err != nil && failed.Status != 0
}

// IsUnreachable reports whether the error comes from the network, or from a gateway before the server.
func IsUnreachable(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) &&
		(failure.Ending == diagnose.EndingUnavailable || failure.Ending == diagnose.EndingUnanswered)
}

// AsGone turns the error of an unreachable server into one of a server that was reachable before.
func AsGone(err error) error {
	var failure *diagnose.Failure
	if !IsUnreachable(err) || !errors.As(err, &failure) {
		return err
	}
	told := *failure
	told.Ending, told.Waiting = diagnose.EndingGone, ""
	return &told
}
