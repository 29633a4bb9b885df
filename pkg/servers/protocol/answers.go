package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// Answers say how sessions answer the requests of their servers. A nil field is not advertised, and its requests are
// refused with -32601; the zero value answers only ping. Each function is called on a goroutine of its own and must
// obey ctx, which ends when the server no longer waits. No time limit of a call runs meanwhile.
type Answers struct {
	// Elicit asks the user what a server wants to know (elicitation/create). The server gets an error as a JSON-RPC
	// error.
	Elicit func(ctx context.Context, asked *Elicitation) (*Elicited, error)
	// Sample lets a model, or a person in its place, answer sampling/createMessage: params are the request's, the
	// result is a CreateMessageResult. An error declines the request, with its text.
	Sample func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error)
	// Roots are where servers may work (roots/list). Nil is not advertised; an empty list means that there are no
	// roots.
	Roots []Root
}

// Root is a place that a server may work in.
type Root struct {
	URI  string `json:"uri"` // file://…
	Name string `json:"name,omitempty"`
}

// Any reports whether a server may ask for anything.
func (a Answers) Any() bool { return a.Elicit != nil || a.Sample != nil || a.Roots != nil }

// Capabilities returns what a client with these answers advertises.
func (a Answers) Capabilities() mcp.ClientCapabilities {
	var c mcp.ClientCapabilities
	if a.Elicit != nil {
		c.Elicitation = AskingCapability()
	}
	if a.Sample != nil {
		c.Sampling = &mcp.SamplingCapability{}
	}
	if a.Roots != nil {
		c.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{ListChanged: true}
	}
	return c
}

// AskingCapability returns the capability of a client that asks the user.
func AskingCapability() *mcp.ElicitationCapability {
	return &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
}

// codeDeclined is the code of a sampling request that was declined (MCP, client/sampling, error handling).
const codeDeclined = -1

// inbox answers the requests of one server.
type inbox struct {
	server  string
	bus     *exec.Bus
	answers Answers
	client  *wire.Client // that answers everything; nil for none
	// onRoots is told when the server has asked for its roots, and whether there are some.
	onRoots func(some bool)

	mu      sync.Mutex
	roots   []Root
	asked   map[string]context.CancelFunc // requests of a legacy server, by raw id
	active  map[int64]*active
	next    int64
	waiting int // how many requests are with the user
	elicits int // how many came since a request of ours began while no other was under way
	open    openRequests
}

// The bounds on what a server may ask while its earlier requests wait for their answers.
const (
	maxOpen      = 100      // requests
	maxOpenBytes = 16 << 20 // of all of them; one alone may be larger
)

// maxElicits is how many questions to the user a server may ask during one call.
const maxElicits = 100

// openRequests counts the requests of a server that wait for their answers.
type openRequests struct{ count, bytes int }

// take adds a request of so many bytes, and reports whether there is room.
func (o *openRequests) take(bytes int) bool {
	if o.count >= maxOpen || o.count > 0 && o.bytes+bytes > maxOpenBytes {
		return false
	}
	o.count, o.bytes = o.count+1, o.bytes+bytes
	return true
}

func (o *openRequests) done(bytes int) { o.count, o.bytes = o.count-1, o.bytes-bytes }

// active is a request of ours that is under way.
type active struct {
	ctx    context.Context //nolint:containedctx // its clocks are stopped by it
	resume func()          // nil while its clocks run
}

func newInbox(server string, bus *exec.Bus, answers Answers) *inbox {
	return &inbox{
		server: server, bus: bus, answers: answers, roots: answers.Roots, onRoots: func(bool) {},
		asked: make(map[string]context.CancelFunc), active: make(map[int64]*active),
	}
}

// handler answers a request of one method, given its params.
type handler func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// handler returns the handler of a method, or nil where the method was not advertised.
func (b *inbox) handler(method string) handler {
	switch {
	case b.client != nil:
		return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
			return b.client.Answer(ctx, method, params)
		}
	case method == string(mcp.MethodElicitationCreate) && b.answers.Elicit != nil:
		return b.elicit
	case method == string(mcp.MethodSamplingCreateMessage) && b.answers.Sample != nil:
		return b.sample
	case method == string(mcp.MethodListRoots) && b.answers.Roots != nil:
		return b.listRoots
	}
	return nil
}

// take answers a request of a legacy server on a goroutine of its own, and reports whether it does: nothing that takes
// time may run on the goroutine that reads.
func (b *inbox) take(p *rpc.Peer, m wire.Message) bool {
	answer := b.handler(m.Method)
	if answer == nil {
		if m.Method == string(mcp.MethodListRoots) {
			b.onRoots(false)
		}
		return false
	}
	if wire.Closed(p.Closing) {
		return true // the answer is not needed
	}
	id := string(m.ID)
	ctx, cancel := context.WithCancel(context.Background())
	b.mu.Lock()
	taken := b.open.take(len(m.Raw))
	if taken {
		b.asked[id] = cancel
	}
	b.mu.Unlock()
	b.bus.Emit(wire.ServerRequest{Head: wire.Now(b.server), Method: m.Method, Answered: taken, Busy: !taken})
	if !taken {
		cancel()
		p.Respond(m, nil, &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: fmt.Sprintf(
			"too many requests wait for an answer: at most %d, of %s together", maxOpen, exec.Bytes(maxOpenBytes),
		)})
		return true
	}
	go func() {
		defer p.EndWith(cancel)()
		defer cancel()
		result, err := answer(ctx, m.Params)
		b.mu.Lock()
		delete(b.asked, id)
		b.open.done(len(m.Raw))
		b.mu.Unlock()
		if ctx.Err() == nil { // else it is not needed any more
			p.Respond(m, result, err)
		}
	}()
	return true
}

// cancelled ends a request that the server has cancelled.
func (b *inbox) cancelled(params json.RawMessage) {
	for member := range rawjson.Each(params) {
		if member.Name != "requestId" {
			continue
		}
		b.mu.Lock()
		if cancel := b.asked[string(member.Value)]; cancel != nil {
			cancel()
		}
		b.mu.Unlock()
	}
}

func (b *inbox) elicit(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	asked, err := readElicitation(b.server, params)
	if err != nil {
		return nil, &rpc.Error{Code: mcp.INVALID_PARAMS, Message: err.Error()}
	}
	if err := b.countElicit(); err != nil {
		return nil, err
	}
	defer b.stopClocks()()
	given, err := b.answers.Elicit(ctx, asked)
	if err != nil {
		return nil, err
	}
	return given.result(asked)
}

// countElicit returns an error for a question over the limit, and reports the first of these.
func (b *inbox) countElicit() error {
	b.mu.Lock()
	b.elicits++
	over := b.elicits - maxElicits
	b.mu.Unlock()
	if over <= 0 {
		return nil
	}
	if over == 1 {
		b.bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Server: b.server, Text: fmt.Sprintf(
			"server %q asked the user %d questions during one call; more are refused", b.server, maxElicits)})
	}
	return &rpc.Error{
		Code:    mcp.INTERNAL_ERROR,
		Message: fmt.Sprintf("too many questions during one call: at most %d", maxElicits),
	}
}

func (b *inbox) sample(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	if wantsTools(params) { // MCP 2025-11-25, client/sampling: this MUST be an error
		return nil, &rpc.Error{
			Code: mcp.INVALID_PARAMS, Message: "tools in sampling were not offered (sampling.tools)",
		}
	}
	defer b.stopClocks()()
	result, err := b.answers.Sample(ctx, b.server, params)
	if err != nil {
		return nil, &rpc.Error{Code: codeDeclined, Message: err.Error()}
	}
	return result, nil
}

func (b *inbox) listRoots(context.Context, json.RawMessage) (json.RawMessage, error) {
	b.mu.Lock()
	roots := b.roots
	b.mu.Unlock()
	b.onRoots(len(roots) > 0)
	return rawjson.Marshal(map[string]any{"roots": roots})
}

// setRoots replaces the roots and reports whether the server may be notified of it.
func (b *inbox) setRoots(roots []Root) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answers.Roots == nil {
		return false
	}
	b.roots = append([]Root{}, roots...)
	return true
}

// enter notes a request of ours that is under way, until leave is called: its clocks stop while the user is asked.
// Which of the open requests a server asks for cannot be known.
func (b *inbox) enter(ctx context.Context) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.active) == 0 {
		b.elicits = 0
	}
	b.next++
	id, one := b.next, &active{ctx: ctx}
	if b.waiting > 0 {
		one.resume = exec.Pause(ctx)
	}
	b.active[id] = one
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.active, id)
		if one.resume != nil {
			one.resume()
		}
	}
}

// stopClocks stops the clocks of all that is under way until the user has answered.
func (b *inbox) stopClocks() (start func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting++; b.waiting == 1 {
		for _, one := range b.active {
			one.resume = exec.Pause(one.ctx)
		}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.waiting--; b.waiting > 0 {
			return
		}
		for _, one := range b.active {
			one.resume()
			one.resume = nil
		}
	}
}

// SetRoots replaces the roots of a session that advertised some, and notifies the server
// (notifications/roots/list_changed) where its revision knows that.
func (s *Session) SetRoots(ctx context.Context, roots []Root) error {
	if !s.inbox.setRoots(roots) || s.modern() {
		return nil
	}
	return s.notify(ctx, mcp.MethodNotificationRootsListChanged)
}
