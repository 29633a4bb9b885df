package servers

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
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// HoldSpec says which server a holder holds, and how it is started. It has secrets, and goes from the process that
// starts a holder to the holder through a pipe.
type HoldSpec struct {
	Record
	Options
	Launch    config.Resolved
	Transport string // of the entry
	CACert    string
	Insecure  bool
	// Offered are the capabilities to offer to the server.
	Offered mcp.ClientCapabilities
	// Line and Environ are the command line and the environment of Launch, which need not be text of UTF-8.
	Line, Environ [][]byte
}

// encode returns the specification as JSON.
func (s HoldSpec) encode() []byte {
	for _, word := range append([]string{s.Launch.Cwd, s.Launch.Command}, s.Launch.Args...) {
		s.Line = append(s.Line, []byte(word))
	}
	for _, variable := range s.Launch.Env {
		s.Environ = append(s.Environ, []byte(variable))
	}
	s.Launch.Args, s.Launch.Env = nil, nil
	return asJSON(s)
}

// readHoldSpec reads what encode has written.
func readHoldSpec(from io.Reader) (s HoldSpec, err error) {
	if err := json.NewDecoder(from).Decode(&s); err != nil {
		return s, err
	}
	text := func(b []byte) string { return string(b) }
	line := words.Texts(s.Line, text)
	s.Launch.Cwd, s.Launch.Command, s.Launch.Args = line[0], line[1], line[2:]
	s.Launch.Env = words.Texts(s.Environ, text)
	return s, nil
}

// holder keeps one server for any number of clients, which are other processes of toolx on the same machine and of the
// same user. It numbers their requests anew, passes what the server sends to the client that it concerns, and keeps a
// bounded part of what concerns none of them for the next one.
type holder struct {
	spec   HoldSpec
	pool   *Pool // of the one server
	bus    *exec.Bus
	stop   func() // ends the holder
	served sync.WaitGroup

	// mu guards what follows. Events are taken with it while a peer, or the log of stderr, is locked: nothing of a
	// session that locks one of them may be called while it is held.
	mu       sync.Mutex
	clients  map[*client]bool
	users    int      // clients that use the server, or watch it
	large    bool     // a large message has come since memory was last given back
	session  *Session // that clients have attached to last
	openedAt time.Time
	files    []programFile     // that the server was started from
	ended    *diagnose.Failure // how the server ended that was held last; nil if none has
	requests map[string]*heldRequest
	tokens   map[string]*heldRequest // by the progress token that the server knows
	asked    map[string]*client      // requests of the server, by their raw id
	tokened  int64
	kept     [][]byte
	keptSize int
	dropped  int // of what was to be kept
	calls    int
	used     time.Time // when the last answer was given
	idle     *time.Timer
	leaving  bool
}

// heldRequest is a request of a client that is under way.
type heldRequest struct {
	client *client
	safe   bool
	id     string          // with which it was sent; guarded by holder.mu
	token  json.RawMessage // its progress token, as the client wrote it
	// received is where its answer came; guarded by holder.mu.
	received *wire.FrameReceived
}

type heldRequestKey struct{}

// The bounds on what is kept for the next client.
const (
	maxKept     = 200
	maxKeptSize = 256 << 10
)

// Hold keeps a server until it has not been used for a while, it is told to stop, or ctx ends. It says on ready that it
// listens, or why it does not. http says how servers with an address are reached; what spec says of that is laid over.
func Hold(ctx context.Context, from io.Reader, ready io.WriteCloser, http mcphttp.ClientOptions) error {
	spec, err := readHoldSpec(from)
	if err != nil {
		return fmt.Errorf("what is to be held cannot be read: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := newHolder(spec, http, cancel)
	listener, release, err := spec.Sessions.listen(ctx, &h.spec.Record)
	if err != nil {
		fmt.Fprintln(ready, err)
		return err
	}
	defer release()
	defer h.close()
	defer func() { _ = listener.Close() }()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	fmt.Fprintln(ready, holderReady)
	ready.Close()
	h.mu.Lock()
	h.resetIdle()
	h.mu.Unlock()
	go h.endWithSocket(ctx, spec.Sessions.path(spec.Key, ".sock"), socketPause)
	for {
		conn, err := listener.Accept()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil, checkPeer(conn) != nil:
			_ = conn.Close()
		default:
			h.accept(ctx, conn)
		}
	}
}

// socketPause is how often a holder looks whether it can still be reached.
const socketPause = time.Minute

// endWithSocket ends the holder when its socket has gone, as when the system removes the folder of a login session that
// is over.
func (h *holder) endWithSocket(ctx context.Context, path string, pause time.Duration) {
	for wire.Waited(ctx, pause) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			h.stop()
			return
		}
	}
}

func newHolder(spec HoldSpec, http mcphttp.ClientOptions, stop func()) *holder {
	spec.Holder, spec.Started, spec.Toolx = os.Getpid(), time.Now(), spec.Sessions.Version
	spec.Limit, spec.Speaks = cmp.Or(spec.Limit, DefaultIdle), heldVersion
	h := &holder{
		spec: spec, bus: &exec.Bus{}, used: time.Now(), stop: stop,
		clients: make(map[*client]bool), requests: make(map[string]*heldRequest),
		tokens: make(map[string]*heldRequest), asked: make(map[string]*client),
	}
	h.bus.Subscribe(h.takeEvent)
	http.CACert, http.Insecure = spec.CACert, spec.Insecure
	options := spec.Options
	options.Bus, options.Registry, options.Sessions = h.bus, exec.NewRegistry(nil), nil
	options.HTTP = http
	options.holder, options.launch = h, &h.spec.Launch
	h.pool = NewPool([]*config.Server{spec.Launch.Entry(spec.Name, spec.Transport)}, options)
	return h
}

// accept serves a client.
func (h *holder) accept(ctx context.Context, conn net.Conn) {
	c := &client{
		heldConn: newHeldConn(conn, maxQueued+2*int(cmp.Or(h.spec.MaxMessage, wire.DefaultMaxMessage))), holder: h,
		cancels: make(map[string]context.CancelCauseFunc),
	}
	h.mu.Lock()
	h.clients[c] = true
	h.mu.Unlock()
	h.served.Go(func() {
		c.serve(ctx)
		h.left(c)
	})
}

// left forgets a client that has gone: its requests were cancelled, and what the server asked it is refused.
func (h *holder) left(c *client) {
	h.mu.Lock()
	delete(h.clients, c)
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
		session.link.RPC().Respond(wire.Message{ID: json.RawMessage(id)}, nil,
			&wire.Error{Code: mcp.INTERNAL_ERROR, Message: "the client that was asked has gone"})
	}
	h.endUnused()
}

// endUnused ends a holder whose server could not be started, once nobody is left who could want it.
func (h *holder) endUnused() {
	server := h.pool.known().entries[h.spec.Name]
	if opening := server.last(); opening != nil {
		<-opening.done // all who waited for it may have left
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := server.last(); len(h.clients) == 0 && last != nil && wire.Closed(last.done) && last.err != nil {
		h.leaving = true
		h.stop()
	}
}

// resetIdle starts the time after which the holder ends, unless somebody uses it; h.mu is held.
func (h *holder) resetIdle() {
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

// releasePause is how long a holder of which nobody wants anything keeps the memory that large messages took.
const releasePause = time.Second

// use notes that a client uses the server; h.mu is held.
func (h *holder) use(c *client) {
	if !c.uses {
		c.uses = true
		h.users++
		h.resetIdle()
	}
}

// expirePause is how long the end of a session is put off for a client that has connected and not yet said why.
const expirePause = 100 * time.Millisecond

// expire ends the holder when nobody has used it for long enough.
func (h *holder) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.users > 0:
	case len(h.clients) > 0:
		h.idle.Reset(expirePause)
	default:
		h.leaving = true
		h.stop()
	}
}

// close ends the server and cuts off the clients.
func (h *holder) close() {
	h.mu.Lock()
	h.leaving = true
	if h.idle != nil {
		h.idle.Stop()
	}
	clients := slices.Collect(maps.Keys(h.clients))
	h.mu.Unlock()
	h.pool.Close(context.Background())
	last := report{Info: h.info()}.notification(methodLast)
	for _, c := range clients {
		c.put(last)
		h.served.Go(c.cut)
	}
	h.served.Wait()
}

// watch tells the clients when the server ends.
func (h *holder) watch(session *Session) {
	<-session.Done()
	failure := diagnose.Of(session.link.RPC(), "")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended = failure; h.leaving {
		return
	}
	h.asked = make(map[string]*client)
	ended := report{Failure: newFailureData(failure)}.notification(methodEnded)
	for c := range h.clients {
		if c.attached {
			c.put(ended)
		}
	}
}

// sending notes with which id a request goes out.
func (h *holder) sending(ctx context.Context, id int64) {
	request, ok := ctx.Value(heldRequestKey{}).(*heldRequest)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	request.id = strconv.FormatInt(id, 10)
	h.requests[request.id] = request
}

// mayRepeat reports whether the client allows that its request is sent twice.
func (h *holder) mayRepeat(ctx context.Context) bool {
	request, ok := ctx.Value(heldRequestKey{}).(*heldRequest)
	return ok && request.safe
}

// notified passes a notification of the server to the clients that it concerns.
func (h *holder) notified(method string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if method == "notifications/progress" {
		// It may come back as a string.
		token := strings.Trim(string(rawjson.Get(params, "progressToken")), `"`)
		if request := h.tokens[token]; request != nil {
			request.client.put(notificationLine(method, replaced(params, "progressToken", request.token)))
			return
		}
	}
	told := notificationLine(method, params)
	if method == "notifications/message" || method == "notifications/progress" {
		h.tell(told)
		return
	}
	for c := range h.clients { // what has changed concerns all, and a client that comes asks anew
		if c.attached || c.running > 0 {
			c.put(told)
		}
	}
}

// notificationLine returns a notification of the server in the form in which it is passed on.
func notificationLine(method string, params json.RawMessage) []byte {
	return asLine(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", methodNotification,
		"params", rawjson.Build("method", method, "params", params)))
}

// replaced returns an object with another value of a member.
func replaced(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	members, _ := rawjson.Members(object)
	for i := range members {
		if members[i].Name == name {
			members[i].Value = value
		}
	}
	return rawjson.Object(members)
}

// requested passes a request of the server to the client whose request most likely caused it, and
// reports whether there is one. That is the one whose request began first among those that run.
func (h *holder) requested(_ *wire.Peer, m wire.Message) bool {
	if m.Method == string(mcp.MethodPing) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var chosen *client
	for c := range h.clients {
		if c.running > 0 && (chosen == nil || c.since.Before(chosen.since)) {
			chosen = c
		}
	}
	for c := range h.clients { // servers ask for roots when they want, and anybody has some
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

// takeEvent takes the events of the server.
func (h *holder) takeEvent(event exec.Event) {
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
		if request := h.requests[e.ID]; request != nil && e.Method != "" {
			request.client.put(line)
			return
		}
		h.tellNow(line)
	case wire.FrameReceived:
		h.tellNow(line)
	default:
		h.tell(line)
	}
}

// keepReceived keeps when and where an answer to a client's request has come, and reports whether it is one.
func (h *holder) keepReceived(e wire.FrameReceived) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	request := h.requests[e.ID]
	if request == nil || e.Method != "" {
		return false
	}
	e.Bytes = nil // the answer has them
	request.received = &e
	return true
}

// tellNow tells the clients whose requests run, and those that watch; it reports whether there is one. h.mu is held.
func (h *holder) tellNow(line []byte) (told bool) {
	for c := range h.clients {
		if c.running > 0 || c.watches {
			c.put(line)
			told = true
		}
	}
	return told
}

// tell tells the clients whose requests run, and those that watch; if there is none, the next one. h.mu is held.
func (h *holder) tell(line []byte) {
	if h.tellNow(line) || h.leaving {
		return
	}
	if len(h.kept) >= maxKept || h.keptSize+len(line) > maxKeptSize {
		h.dropped++
		return
	}
	h.kept, h.keptSize = append(h.kept, line), h.keptSize+len(line)
}

// tellKept tells a client what has happened while there was none. h.mu is held.
func (h *holder) tellKept(c *client) {
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

// tellLoss tells a client that the server is another one than before. h.mu is held.
func (h *holder) tellLoss(c *client) {
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

// welcome describes the server to a client that has attached; log is the file with its stderr. h.mu is held.
func (h *holder) welcome(s *Session, reused bool, log string) *welcome {
	w := &welcome{
		Protocol: s.Protocol, Info: s.Info, Capabilities: s.Capabilities,
		Instructions: s.Instructions, PID: s.PID, Cwd: h.spec.Launch.Cwd, URL: h.spec.Launch.URL,
		Reused: reused, Offered: h.spec.Offered, Identity: h.spec.Entry, Toolx: h.spec.Toolx, StderrPath: log,
		Files: h.files,
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
func (h *holder) info() *SessionInfo {
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

func (h *holder) describe() *SessionInfo {
	state, _, reason := h.pool.Status(h.spec.Name)
	h.mu.Lock()
	defer h.mu.Unlock()
	info := &SessionInfo{Record: h.spec.Record, Calls: h.calls, Clients: h.users, State: state, Ended: reason}
	if h.users == 0 {
		info.Idle = time.Since(h.used)
	}
	if state != "ready" || h.session == nil {
		return info
	}
	info.PID, info.Age = h.session.PID, time.Since(h.openedAt)
	for c := range h.clients {
		if c.running > 0 {
			info.State = "busy"
		}
	}
	return info
}

// token gives a request a progress token of the holder's own, since those of several clients are the same, and returns
// the params with it. h.mu is held.
func (h *holder) token(request *heldRequest, params json.RawMessage) (own string, changed json.RawMessage) {
	meta := rawjson.Get(params, "_meta")
	if request.token = rawjson.Get(meta, "progressToken"); request.token == nil {
		return "", params
	}
	h.tokened++
	own = strconv.FormatInt(h.tokened, 10)
	h.tokens[own] = request
	return own, replaced(params, "_meta", replaced(meta, "progressToken", json.RawMessage(own)))
}
