package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Spec says which server a daemon keeps, and how it is started. It has secrets, and goes from the process that starts a
// daemon to the daemon through a pipe.
type Spec struct {
	Record
	Sessions Sessions
	Launch   config.Resolved
	// Offered are the capabilities to offer to the server.
	Offered    mcp.ClientCapabilities
	MaxMessage int64
	// Backend is what the Backend has to know besides.
	Backend json.RawMessage
	// Line and Environ are the command line and the environment of Launch, which need not be text of UTF-8.
	Line, Environ [][]byte
}

// Encode returns the specification as JSON.
func (s Spec) Encode(sessions *Sessions) []byte {
	s.Sessions = *sessions
	for _, word := range append([]string{s.Launch.Cwd, s.Launch.Command}, s.Launch.Args...) {
		s.Line = append(s.Line, []byte(word))
	}
	for _, variable := range s.Launch.Env {
		s.Environ = append(s.Environ, []byte(variable))
	}
	s.Launch.Args, s.Launch.Env = nil, nil
	return asJSON(s)
}

// ReadSpec reads the specification that the process which starts a daemon has written.
func ReadSpec(from io.Reader) (s Spec, err error) {
	if err := json.NewDecoder(from).Decode(&s); err != nil {
		return s, fmt.Errorf("the specification of the session cannot be read: %w", err)
	}
	text := func(b []byte) string { return string(b) }
	line := words.Texts(s.Line, text)
	s.Launch.Cwd, s.Launch.Command, s.Launch.Args = line[0], line[1], line[2:]
	s.Launch.Env = words.Texts(s.Environ, text)
	return s, nil
}

// Backend runs the one server of a daemon.
type Backend interface {
	// Open returns the session with the server, which it starts if it does not run.
	Open(ctx context.Context) (*protocol.Session, error)
	// Wait waits until the last start has ended. Failed reports whether that was a failure; it locks nothing that is
	// locked while an event is emitted.
	Wait()
	Failed() bool
	// Status returns the state as Info has it, and how the server ended.
	Status() (state, reason string)
	// Close ends the server.
	Close(ctx context.Context)
}

// Server is a daemon: it keeps one server for any number of clients, which are other processes of toolx on the same
// machine and of the same user. It gives their requests ids of its own, passes what the server sends to the client that
// it concerns, and keeps a bounded part of what concerns none of them for the next one.
type Server struct {
	Bus     *exec.Bus
	spec    Spec
	backend Backend
	stop    func() // ends the daemon
	served  sync.WaitGroup

	// mu guards what follows. Events are taken with it while a peer, or the log of stderr, is locked: nothing of a
	// session that locks one of them may be called while mu is locked.
	mu       sync.Mutex
	conns    map[*conn]bool
	users    int               // clients that use the server, or watch it
	large    bool              // a large message has come since memory was last given back
	session  *protocol.Session // that clients have attached to last
	openedAt time.Time
	files    []programFile     // that the server was started from
	ended    *diagnose.Failure // how the last server ended; nil if none has
	requests map[string]*request
	tokens   map[string]*request // by the progress token that the server knows
	asked    map[string]*conn    // requests of the server, by their raw id
	tokened  int64
	kept     [][]byte
	keptSize int
	dropped  int // of what was to be kept
	calls    int
	used     time.Time // when the last answer was given
	idle     *time.Timer
	leaving  bool
}

// request is a request of a client that is under way.
type request struct {
	conn  *conn
	safe  bool
	id    string          // with which it was sent; guarded by Server.mu
	token json.RawMessage // its progress token, as the client wrote it
	// received is where its answer came; guarded by Server.mu.
	received *wire.FrameReceived
}

type requestKey struct{}

// The bounds on what is kept for the next client.
const (
	maxKept     = 200
	maxKeptSize = 256 << 10
)

// NewServer returns the daemon of a session. Events of its server have to be emitted on Bus, and it is the Relay of the
// server's sessions.
func NewServer(spec Spec) *Server {
	spec.Daemon, spec.Started, spec.Toolx = os.Getpid(), time.Now(), spec.Sessions.Version
	spec.Limit, spec.Speaks = cmp.Or(spec.Limit, DefaultIdle), protocolVersion
	h := &Server{
		Bus: &exec.Bus{}, spec: spec, used: time.Now(), conns: make(map[*conn]bool),
		requests: make(map[string]*request), tokens: make(map[string]*request), asked: make(map[string]*conn),
	}
	h.Bus.Subscribe(h.handleEvent)
	return h
}

// Serve keeps the server until it has not been used for a while, a client stops it, or ctx ends. It prints on ready
// that it listens, or why it does not.
func (h *Server) Serve(ctx context.Context, backend Backend, ready io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.backend, h.stop = backend, cancel
	listener, release, err := h.spec.Sessions.listen(ctx, &h.spec.Record)
	if err != nil {
		fmt.Fprintln(ready, err)
		return err
	}
	defer release()
	defer h.close()
	defer func() { _ = listener.Close() }()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	fmt.Fprintln(ready, readyLine)
	ready.Close()
	h.mu.Lock()
	h.resetIdle()
	h.mu.Unlock()
	go h.endWithSocket(ctx, h.spec.Sessions.path(h.spec.Key, ".sock"), socketPause)
	for {
		with, err := listener.Accept()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil, checkPeer(with) != nil:
			_ = with.Close()
		default:
			h.accept(ctx, with)
		}
	}
}

// socketPause is how often a daemon looks whether it can still be reached.
const socketPause = time.Minute

// endWithSocket ends the daemon when its socket has gone, as when the system removes the folder of a login session that
// is over.
func (h *Server) endWithSocket(ctx context.Context, path string, pause time.Duration) {
	for wire.Waited(ctx, pause) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			h.stop()
			return
		}
	}
}

// accept serves a client.
func (h *Server) accept(ctx context.Context, with net.Conn) {
	c := &conn{
		lineConn: newLineConn(with, maxQueued+2*int(cmp.Or(h.spec.MaxMessage, wire.DefaultMaxMessage))), server: h,
		cancels: make(map[string]context.CancelCauseFunc),
	}
	h.mu.Lock()
	h.conns[c] = true
	h.mu.Unlock()
	h.served.Go(func() {
		c.serve(ctx)
		h.left(c)
	})
}

// left forgets a client that has gone: its requests were cancelled, and what the server asked it is refused.
func (h *Server) left(c *conn) {
	h.mu.Lock()
	delete(h.conns, c)
	var refused []string
	for id, asked := range h.asked {
		if asked == c {
			refused = append(refused, id)
			delete(h.asked, id)
		}
	}
	session := h.session
	if c.uses {
		h.users--
		h.resetIdle()
	}
	h.mu.Unlock()
	for _, id := range refused {
		session.Transport().RPC().Respond(wire.Message{ID: json.RawMessage(id)}, nil,
			&rpc.Error{Code: mcp.INTERNAL_ERROR, Message: "the client that was asked has gone"})
	}
	h.endUnused()
}

// endUnused ends a daemon whose server could not be started, once no client is left that could want it.
func (h *Server) endUnused() {
	h.backend.Wait() // all that waited for it may have left
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.conns) == 0 && h.backend.Failed() {
		h.leaving = true
		h.stop()
	}
}

// resetIdle starts the time after which the daemon ends, unless a client uses it; h.mu is locked.
func (h *Server) resetIdle() {
	if h.idle == nil {
		h.idle = time.AfterFunc(h.spec.Limit, h.expire)
	}
	h.idle.Stop()
	if h.users == 0 {
		h.used = time.Now()
		h.idle.Reset(h.spec.Limit)
		if h.large {
			h.large = false
			time.AfterFunc(releasePause, debug.FreeOSMemory)
		}
	}
}

// releasePause is how long a daemon that no client uses keeps the memory that large messages took.
const releasePause = time.Second

// use notes that a client uses the server; h.mu is locked.
func (h *Server) use(c *conn) {
	if !c.uses {
		c.uses = true
		h.users++
		h.resetIdle()
	}
}

// expirePause is how long the end of a session is put off for a client that has connected and not yet said why.
const expirePause = 100 * time.Millisecond

// expire ends the daemon when it has not been used for long enough.
func (h *Server) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.users > 0:
	case len(h.conns) > 0:
		h.idle.Reset(expirePause)
	default:
		h.leaving = true
		h.stop()
	}
}

// close ends the server and cuts off the clients.
func (h *Server) close() {
	h.mu.Lock()
	h.leaving = true
	if h.idle != nil {
		h.idle.Stop()
	}
	clients := slices.Collect(maps.Keys(h.conns))
	h.mu.Unlock()
	h.backend.Close(context.Background())
	last := response{Info: h.info()}.notification(methodLast)
	for _, c := range clients {
		c.put(last)
		h.served.Go(c.cut)
	}
	h.served.Wait()
}

// watch reports the end of the server to the clients.
func (h *Server) watch(session *protocol.Session) {
	<-session.Done()
	failure := session.Failure()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended = failure; h.leaving {
		return
	}
	h.asked = make(map[string]*conn)
	ended := response{Failure: newFailureData(failure)}.notification(methodEnded)
	for c := range h.conns {
		if c.attached {
			c.put(ended)
		}
	}
}

// Sending notes with which id a request goes out.
func (h *Server) Sending(ctx context.Context, id int64) {
	sent, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sent.id = strconv.FormatInt(id, 10)
	h.requests[sent.id] = sent
}

// Repeatable reports whether the client allows that its request is sent twice.
func (h *Server) Repeatable(ctx context.Context) bool {
	sent, ok := ctx.Value(requestKey{}).(*request)
	return ok && sent.safe
}

// Notified passes a notification of the server to the clients that it concerns.
func (h *Server) Notified(m wire.Message) {
	method, params := m.Method, m.Params
	h.mu.Lock()
	defer h.mu.Unlock()
	if method == "notifications/progress" {
		// It may come back as a string.
		token := strings.Trim(string(rawjson.Get(params, "progressToken")), `"`)
		if of := h.tokens[token]; of != nil {
			of.conn.put(notificationLine(method, rawjson.With(params, "progressToken", of.token)))
			return
		}
	}
	line := notificationLine(method, params)
	if method == "notifications/message" || method == "notifications/progress" {
		h.report(line)
		return
	}
	for c := range h.conns { // what has changed concerns all, and a new client asks again
		if c.attached || c.running > 0 {
			c.put(line)
		}
	}
}

// notificationLine returns a notification of the server in the form in which it is passed on.
func notificationLine(method string, params json.RawMessage) []byte {
	return asLine(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", methodNotification,
		"params", rawjson.Build("method", method, "params", params)))
}

// Requested passes a request of the server to the client whose request most likely caused it, and
// reports whether there is one. That is the one whose request began first among those that run.
func (h *Server) Requested(_ *rpc.Peer, m wire.Message) bool {
	if m.Method == string(mcp.MethodPing) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var chosen *conn
	for c := range h.conns {
		if c.running > 0 && (chosen == nil || c.since.Before(chosen.since)) {
			chosen = c
		}
	}
	for c := range h.conns { // servers ask for roots at any time, and every client has some
		if m.Method == string(mcp.MethodListRoots) && chosen == nil && c.attached {
			chosen = c
		}
	}
	if chosen == nil {
		return false
	}
	h.asked[string(m.ID)] = chosen
	chosen.put(asLine(m.Raw))
	return true
}

// handleEvent passes on the events of the server.
func (h *Server) handleEvent(event exec.Event) {
	if e, ok := event.(wire.FrameReceived); ok && h.keepReceived(e) {
		return
	}
	line := eventLine(event)
	if line == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := event.(type) {
	case wire.FrameSent:
		if sent := h.requests[e.ID]; sent != nil && e.Method != "" {
			sent.conn.put(line)
			return
		}
		h.reportNow(line)
	case wire.FrameReceived:
		h.reportNow(line)
	default:
		h.report(line)
	}
}

// keepReceived keeps when and where an answer to a client's request has come, and reports whether it is one.
func (h *Server) keepReceived(e wire.FrameReceived) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	sent := h.requests[e.ID]
	if sent == nil || e.Method != "" {
		return false
	}
	e.Bytes = nil // the answer has them
	sent.received = &e
	return true
}

// reportNow sends a line to the clients whose requests run, and to those that watch; it reports whether there is one.
// h.mu is locked.
func (h *Server) reportNow(line []byte) (reported bool) {
	for c := range h.conns {
		if c.running > 0 || c.watches {
			c.put(line)
			reported = true
		}
	}
	return reported
}

// report sends a line to the clients whose requests run, and to those that watch; if there is none, to the next one.
// h.mu is locked.
func (h *Server) report(line []byte) {
	if h.reportNow(line) || h.leaving {
		return
	}
	if len(h.kept) >= maxKept || h.keptSize+len(line) > maxKeptSize {
		h.dropped++
		return
	}
	h.kept, h.keptSize = append(h.kept, line), h.keptSize+len(line)
}

// reportKept sends a client what has happened while there was none. h.mu is locked.
func (h *Server) reportKept(c *conn) {
	kept, dropped := h.kept, h.dropped
	h.kept, h.keptSize, h.dropped = nil, 0, 0
	note := func(level slog.Level, text string) {
		c.put(eventLine(exec.Notice{
			Time: exec.Now(), Level: level, Text: fmt.Sprintf("server %q %s", h.spec.Name, text), Server: h.spec.Name,
		}))
	}
	if len(kept) > 0 {
		note(slog.LevelInfo, "did what follows since it was last used")
	}
	for _, line := range kept {
		c.put(line)
	}
	if dropped > 0 {
		note(slog.LevelWarn,
			fmt.Sprintf("did more than is kept since it was last used: %d events are left out", dropped))
	}
}

// reportLoss tells a client that the server is another one than before. h.mu is locked.
func (h *Server) reportLoss(c *conn) {
	if h.ended == nil {
		return
	}
	how := cmp.Or(h.ended.How, string(h.ended.Ending))
	h.ended = nil
	c.put(eventLine(exec.Notice{
		Time: exec.Now(), Level: slog.LevelWarn, Server: h.spec.Name, Text: fmt.Sprintf(
			"server %q had ended (%s) and was restarted: what it kept in memory is lost", h.spec.Name, how),
	}))
}

// hello describes the server to a client that has attached; log is the file with its stderr. h.mu is locked.
func (h *Server) hello(s *protocol.Session, reused bool, log string) *hello {
	w := &hello{
		Attached: wire.Attached{
			Protocol: s.Protocol, Info: s.Info, Capabilities: s.Capabilities, Instructions: s.Instructions, PID: s.PID,
			Reused: reused,
		},
		Cwd: h.spec.Launch.Cwd, URL: h.spec.Launch.URL, Offered: h.spec.Offered, Identity: h.spec.Entry,
		Toolx: h.spec.Toolx, StderrPath: log, Files: h.files,
	}
	if reused {
		w.Age = time.Since(h.openedAt)
	}
	if w.URL == "" {
		w.Command = stdio.CommandOf(&h.spec.Launch)
	}
	return w
}

// info describes the session.
func (h *Server) info() *Info {
	log := ""
	if session := h.current(); session != nil {
		_, _, log = session.Stderr(0)
	}
	info := h.describe()
	info.StderrPath = log
	if info.PID != 0 {
		info.Memory = procs.Memory(info.PID)
	}
	return info
}

func (h *Server) describe() *Info {
	state, reason := h.backend.Status()
	h.mu.Lock()
	defer h.mu.Unlock()
	info := &Info{Record: h.spec.Record, Calls: h.calls, Clients: h.users, State: state, Ended: reason}
	if h.users == 0 {
		info.Idle = time.Since(h.used)
	}
	if state != "ready" || h.session == nil {
		return info
	}
	info.PID, info.Age = h.session.PID, time.Since(h.openedAt)
	for c := range h.conns {
		if c.running > 0 {
			info.State = "busy"
		}
	}
	return info
}

// token gives a request a progress token of the daemon's own, since those of several clients are the same, and returns
// the params with it. h.mu is locked.
func (h *Server) token(from *request, params json.RawMessage) (own string, changed json.RawMessage) {
	meta := rawjson.Get(params, "_meta")
	if from.token = rawjson.Get(meta, "progressToken"); from.token == nil {
		return "", params
	}
	h.tokened++
	own = strconv.FormatInt(h.tokened, 10)
	h.tokens[own] = from
	return own, rawjson.With(params, "_meta", rawjson.With(meta, "progressToken", json.RawMessage(own)))
}

// Offered returns what the clients can do for the server.
func (h *Server) Offered() mcp.ClientCapabilities { return h.spec.Offered }
