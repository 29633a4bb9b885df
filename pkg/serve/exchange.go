package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// exchange handles requests over HTTP, like stdioClient on standard input. The SDK's transport handles all revisions;
// exchange adds limits and checks that it lacks.
type exchange struct {
	sdk      http.Handler
	tools    []*exec.Tool
	sessions *httpSessions
	limit    int64 // of a message, in bytes
	bodies   bodies
	room     chan struct{} // one value for each open call
	streams  chan struct{} // one value for each open stream of a session
	warn     func(text string)
}

// ServeHTTP implements http.Handler.
func (x *exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	revision := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case r.Method == http.MethodPost:
		x.post(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "MCP has no "+words.Clip(r.Method, 20), http.StatusMethodNotAllowed)
	case !supports(revision):
		writeAnswer(w, http.StatusBadRequest, revisionError(nil, revision))
	case mcp.IsModernProtocol(revision):
		x.sdk.ServeHTTP(w, r) // which rejects it
	default:
		x.stream(w, r)
	}
}

// stream serves a session's stream, or ends a session.
func (x *exchange) stream(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		select {
		case x.streams <- struct{}{}:
			defer func() { <-x.streams }()
		default:
			text := fmt.Sprintf("%d streams are open", cap(x.streams))
			writeError(w, http.StatusServiceUnavailable, nil, mcp.INTERNAL_ERROR, text)
			return
		}
	}
	r, leave, ok := x.session(w, r, nil, r.Method == http.MethodGet)
	if !ok {
		return
	}
	defer leave()
	x.sdk.ServeHTTP(w, r)
}

// session marks the session of a request as used until leave is called, or reserves a place for a new one. Otherwise it
// rejects the request, and ok is false.
func (x *exchange) session(
	w http.ResponseWriter, r *http.Request, id json.RawMessage, begins bool,
) (placed *http.Request, leave func(), ok bool) {
	session := r.Header.Get(mcp.HeaderSessionID)
	switch {
	case session != "":
		leave, ok = x.sessions.enter(session)
		if !ok {
			// The client must start a new session (2025-11-25 basic/transports, "Session Management").
			const text = "unknown or expired session: send initialize"
			writeError(w, http.StatusNotFound, id, mcp.INVALID_REQUEST, text)
		}
		return r, leave, ok
	case !begins:
		return r, func() {}, true
	}
	ctx, leave, ok := x.sessions.begin(r.Context())
	if !ok {
		text := fmt.Sprintf("%d sessions are in use", x.sessions.most)
		writeError(w, http.StatusServiceUnavailable, id, mcp.INTERNAL_ERROR, text)
		return nil, nil, false
	}
	return r.WithContext(ctx), leave, true
}

// post answers one message.
func (x *exchange) post(w http.ResponseWriter, r *http.Request) {
	body, done, err := x.bodies.read(w, r, x.limit)
	if err != nil {
		x.refuseBody(w, err)
		return
	}
	defer done()
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		// Only 2025-03-26 has batches, and requires servers to accept them.
		const text = "batches are not supported: send each message separately"
		writeError(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, text)
		return
	}
	if id, excess := excessOf(body); excess != "" {
		writeError(w, http.StatusBadRequest, id, mcp.INVALID_REQUEST, excess)
		return
	}
	head := readHead(body)
	answer := &httpAnswer{ResponseWriter: w, id: head.ID, tools: x.tools}
	defer x.recovered(answer)
	revision, unknown := revisionOf(r, head)
	switch {
	case unknown:
		writeAnswer(w, http.StatusBadRequest, revisionError(head.ID, revision))
		return
	case head.Method == string(mcp.MethodNotificationCancelled) && r.Header.Get(mcp.HeaderSessionID) == "":
		// Without a session, another client could use the same id.
		w.WriteHeader(http.StatusAccepted)
		return
	case head.isToolCall():
		select {
		case x.room <- struct{}{}:
			defer func() { <-x.room }()
		default:
			writeAnswer(w, http.StatusServiceUnavailable, crowdedError(head.ID))
			return
		}
	case head.Method == string(mcp.MethodSubscriptionsListen):
		r = r.WithContext(context.WithValue(r.Context(), noticeKey{}, answer.flushed()))
	}
	if !mcp.IsModernProtocol(revision) {
		placed, leave, ok := x.inSession(w, r, head)
		if !ok {
			return
		}
		defer leave()
		r = placed
	}
	r.Body = io.NopCloser(&onceReader{bytes.NewReader(body)})
	x.sdk.ServeHTTP(answer, r)
}

// revisionOf returns the revision in a message or its header, and reports whether toolx serve does not support it. If
// the two differ and one is the stateless revision, the SDK reports that (2026-07-28 basic/transports, "Server
// Validation").
func revisionOf(r *http.Request, head requestHead) (revision string, unknown bool) {
	inside, outside := head.Params.Meta.Revision, r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case inside == "" || inside == outside:
		return outside, !supports(outside)
	case outside == "":
		return inside, !supports(inside)
	case mcp.IsModernProtocol(inside) || mcp.IsModernProtocol(outside):
		return mcp.ProtocolVersion20260728, false
	case !supports(inside):
		return inside, true
	}
	return outside, !supports(outside)
}

// inSession calls session for a message. A message that begins a session is not part of another.
func (x *exchange) inSession(
	w http.ResponseWriter, r *http.Request, head requestHead,
) (placed *http.Request, leave func(), ok bool) {
	begins := head.Method == string(mcp.MethodInitialize)
	if begins && r.Header.Get(mcp.HeaderSessionID) != "" {
		r = r.Clone(r.Context())
		r.Header.Del(mcp.HeaderSessionID)
	}
	return x.session(w, r, head.ID, begins)
}

// refuseBody responds to a message that could not be read.
func (x *exchange) refuseBody(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, errNoSlot):
		w.Header().Set("Retry-After", "10")
		writeError(w, http.StatusServiceUnavailable, nil, mcp.INTERNAL_ERROR, err.Error())
		return
	case !errors.As(err, &tooLarge):
		writeError(w, http.StatusBadRequest, nil, mcp.PARSE_ERROR, "the message is incomplete: "+err.Error())
		return
	}
	limit := exec.Bytes(x.limit)
	x.warn("a client sent a message over the limit of " + limit + ", which was ignored " + raiseLimit)
	text := "a message is larger than the limit of " + limit
	writeError(w, http.StatusRequestEntityTooLarge, nil, mcp.INVALID_REQUEST, text)
}

// recovered responds to a request whose handler panicked.
func (x *exchange) recovered(answer *httpAnswer) {
	cause := recover()
	if cause == nil {
		return
	}
	x.warn(fmt.Sprintf("cannot handle a message from a client: %v", cause))
	if !answer.begun {
		w := answer.ResponseWriter
		writeError(w, http.StatusInternalServerError, answer.id, mcp.INTERNAL_ERROR, errInside)
	}
}

// httpAnswer writes the SDK's JSON-RPC messages in the same form as on standard output: the id as the client wrote it,
// short errors, and no null id.
type httpAnswer struct {
	http.ResponseWriter
	id    json.RawMessage
	tools []*exec.Tool
	begun bool
	flush chan struct{} // closed at the first Flush; may be nil
	once  sync.Once
}

// noticeKey is the key of a channel that is closed when a notice has been sent.
type noticeKey struct{}

// awaitNotice waits in the SDK's hook after subscriptions/listen until its notice has been sent. Otherwise the SDK's
// HTTP transport sometimes loses the notice once the response is ready.
func awaitNotice(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
	if sent, is := ctx.Value(noticeKey{}).(<-chan struct{}); is {
		select {
		case <-sent:
		case <-ctx.Done():
		}
	}
}

// flushed returns a channel that is closed when something has been sent.
func (a *httpAnswer) flushed() <-chan struct{} {
	a.flush = make(chan struct{})
	return a.flush
}

// WriteHeader implements http.ResponseWriter.
func (a *httpAnswer) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. The SDK writes a message whole.
func (a *httpAnswer) Write(p []byte) (int, error) {
	a.begun = true
	written := p
	if a.Header().Get("Content-Type") == "application/json" {
		written = restoreID(p, a.id, a.tools)
	}
	if _, err := a.ResponseWriter.Write(written); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements http.Flusher, by which the SDK sees that it can stream.
func (a *httpAnswer) Flush() {
	_ = http.NewResponseController(a.ResponseWriter).Flush()
	if a.flush != nil {
		a.once.Do(func() { close(a.flush) })
	}
}

// restoreID restores the id in the SDK's response as the client wrote it: the SDK reads numbers as floats and loses
// digits.
func restoreID(message []byte, id json.RawMessage, tools []*exec.Tool) []byte {
	const head, tail = `{"jsonrpc":"2.0",`, `"id":`
	rest, is := bytes.CutPrefix(message, []byte(head+tail))
	if !is {
		return message
	}
	var written json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(rest))
	if decoder.Decode(&written) != nil {
		return message
	}
	rest = rest[decoder.InputOffset():]
	none := string(written) == "null"
	if bytes.HasPrefix(rest, []byte(`,"error":`)) {
		var answer mcp.JSONRPCError
		if json.Unmarshal(message, &answer) != nil {
			return message
		}
		if !none {
			answer.ID = mcp.NewRequestId(id)
		}
		answer.Error.Message = errorText(answer.Error.Message, tools)
		return encodeAnswer(answer)
	}
	if none {
		return message
	}
	return bytes.Join([][]byte{[]byte(head + tail), id, rest}, nil)
}

// onceReader releases a message once it has been read: the SDK copies it, and keeps the request.
type onceReader struct{ *bytes.Reader }

// Read implements io.Reader.
func (r *onceReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.Reset(nil)
	}
	return n, err
}

// bodies limits the memory for open messages. Each message waits for a slot of its size class before it is read, so
// that large messages do not delay small ones.
type bodies []*bodyLane

// bodyLane has the slots for messages up to a size.
type bodyLane struct {
	size  int64
	slots chan struct{}
	time  time.Duration // that receiving a message may take
	held  bool          // until the response, not only until it is read
}

// slotTime is how long a message waits for a slot.
const slotTime = 30 * time.Second

// errNoSlot reports that no slot became free in time.
var errNoSlot = errors.New("too many large messages are open: try again later")

// newBodies returns the lanes for messages up to limit, in bytes: 96 MiB in total for a limit of 64 MiB, since the SDK
// and the tool copy them. A call's arguments stay in memory while it runs; small ones are limited by the number of
// calls.
func newBodies(limit int64) bodies {
	lane := func(size int64, slots int, d time.Duration, held bool) *bodyLane {
		return &bodyLane{size: size, slots: make(chan struct{}, slots), time: d, held: held}
	}
	return bodies{
		lane(64<<10, 256, 30*time.Second, false),
		lane(1<<20, 16, time.Minute, true),
		lane(limit, 1, bodyTime, true),
	}
}

// laneOf returns the lane for a message of size bytes; a negative size is unknown.
func (b bodies) laneOf(size int64) *bodyLane {
	for _, lane := range b {
		if size >= 0 && size <= lane.size {
			return lane
		}
	}
	return b[len(b)-1]
}

// read reads a request's body of at most limit bytes, once there is a slot for it. done must be called after the
// response.
func (b bodies) read(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, done func(), err error) {
	if r.ContentLength > limit {
		return nil, nil, &http.MaxBytesError{Limit: limit}
	}
	lane := b.laneOf(r.ContentLength)
	wait := time.NewTimer(slotTime)
	defer wait.Stop()
	select {
	case lane.slots <- struct{}{}:
	case <-wait.C:
		return nil, nil, errNoSlot
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	free := func() { <-lane.slots }
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(lane.time)) // a recorder in tests has none
	var read bytes.Buffer
	read.Grow(int(max(0, r.ContentLength)) + bytes.MinRead)
	_, err = read.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	_ = connection.SetReadDeadline(time.Time{})
	if err != nil || !lane.held {
		free()
		free = func() {}
	}
	return read.Bytes(), free, err
}
