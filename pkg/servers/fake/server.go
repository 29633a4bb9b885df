package fake

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// server is one running fake. It is a correct MCP server whose hooks are empty; modes fill them.
type server struct {
	*options
	*process
	scope string // of the mode that is being applied

	tools        func() []tool // made when first asked for: ten thousand take time
	page         pager
	era          era
	capabilities string                     // raw JSON
	client       map[string]json.RawMessage // what the client of a handshake can do
	identity     string                     // raw JSON of serverInfo
	poison       string                     // text laid into what people read
	asks         []ask                      // what the client is asked before it gets an answer
	askOn        string                     // method whose answer waits for that
	sameID       bool                       // those requests use the id of the client's own
	inputRounds  int                        // how often a call is answered with input_required first

	// features answers further methods; known is false for those that it does not know.
	features func(ctx context.Context, m *message) (result []byte, known bool, err error)

	starts     []func()
	intercepts []func(*message) bool // true: dealt with, no reply follows
	tampers    []func(*reply)
	befores    []func(*reply)
	encoders   []func(method string, line []byte) []byte
	afters     []func(*reply)
	ends       []func()

	in     *bufio.Reader
	sendMu sync.Mutex // one reply at a time, with all that modes put around it
	record *os.File

	mu      sync.Mutex
	running map[string]context.CancelFunc // calls, by raw id
	answers map[string]chan *message      // to our requests, by raw id
	calls   sync.WaitGroup
}

// message is anything that the client sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// A notification has no id and wants no reply.
func (m *message) isNotification() bool { return m.Method != "" && len(m.ID) == 0 }
func (m *message) isAnswer() bool       { return m.Method == "" && len(m.ID) > 0 }

func newServer(opts *options) (*server, error) {
	s := &server{
		options:      opts,
		process:      &process{exit: make(chan int, 1)},
		capabilities: `{"tools":{"listChanged":true},"logging":{}}`,
		identity:     `{"name":` + quote(opts.name) + `,"version":"1.0.0"}`,
		in:           bufio.NewReaderSize(os.Stdin, 64<<10),
		running:      map[string]context.CancelFunc{},
		answers:      map[string]chan *message{},
	}
	s.page = s.onePage
	s.tools = s.goodTools
	if opts.defs != "" {
		given, err := givenTools(opts.defs)
		if err != nil {
			return nil, fmt.Errorf("--tools: %w", err)
		}
		s.tools = func() []tool { return given }
	}
	for _, m := range opts.modes {
		s.scope = m.on
		if opts.on != "" {
			s.scope = opts.on
		}
		m.apply(s)
	}
	return s, s.openFiles()
}

func (s *server) openFiles() error {
	if s.recordTo != "" {
		file, err := os.OpenFile(s.recordTo, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		s.record = file
	}
	return s.notePID(os.Getpid())
}

// serve reads stdin to its end, one message a line (basic/transports, stdio).
func (s *server) serve() {
	if s.stderr != "" {
		s.say(s.stderr)
	}
	for _, start := range s.starts {
		start()
	}
	for {
		line, err := s.in.ReadBytes('\n')
		if s.record != nil {
			// A lost record shows as a failed test.
			_, _ = s.record.Write(line)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.receive(line)
		}
		if err != nil {
			break
		}
	}
	s.cancelCalls()
	s.calls.Wait()
	for _, end := range s.ends {
		end()
	}
	s.finish(0)
}

func (s *server) receive(line []byte) {
	m := &message{}
	if err := json.Unmarshal(line, m); err != nil {
		s.send(&reply{version: version2, id: "null", failure: rpcError{code: codeParse, message: "Parse error"}.json()})
		return
	}
	for _, intercept := range s.intercepts {
		if intercept(m) {
			return
		}
	}
	switch {
	case m.isAnswer():
		s.acceptAnswer(m, line)
	case m.isNotification():
		s.notice(m)
	default:
		s.request(m)
	}
}

// request answers m: at once, or on a goroutine of its own where the answer takes
// time or needs the client, since reading must go on meanwhile.
func (s *server) request(m *message) {
	asking := len(s.asks) > 0 && m.Method == s.askOn
	if !asking && !s.isSlow(m) {
		s.reply(context.Background(), m)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.running[string(m.ID)] = cancel
	s.mu.Unlock()
	s.calls.Add(1)
	go func() {
		defer s.calls.Done()
		defer cancel()
		if asking && !s.askAll(ctx, m) {
			return
		}
		s.reply(ctx, m)
		s.mu.Lock()
		delete(s.running, string(m.ID))
		s.mu.Unlock()
	}()
}

func (s *server) reply(ctx context.Context, m *message) {
	r := &reply{method: m.Method, params: m.Params, version: version2, id: string(m.ID)}
	result, err := s.answer(ctx, m)
	var failure rpcError
	switch {
	case errors.Is(err, context.Canceled):
		return // a cancelled request gets no reply (utilities/cancellation)
	case errors.As(err, &failure):
		r.failure = failure.json()
	case err != nil:
		r.failure = rpcError{code: codeInternal, message: err.Error()}.json()
	default:
		r.result = result
	}
	s.send(r)
}

// send writes a reply as the modes would have it.
func (s *server) send(r *reply) {
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	for _, tamper := range s.tampers {
		tamper(r)
	}
	for _, before := range s.befores {
		before(r)
	}
	line := r.frame()
	for _, encode := range s.encoders {
		line = encode(r.method, line)
	}
	s.write(line)
	for _, after := range s.afters {
		after(r)
	}
}

func (s *server) notice(m *message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params)
	s.say("cancelled " + string(params.RequestID))
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[string(params.RequestID)]; cancel != nil {
		cancel()
	}
}

func (s *server) cancelCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.running {
		cancel()
	}
}
