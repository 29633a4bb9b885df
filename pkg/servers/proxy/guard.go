package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/guard"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// Guard keeps a client from tools that it may not use: it takes them out of lists, and answers calls of them itself.
// What it does not change stays byte for byte.
type Guard struct {
	server *config.Server
	max    int64                // of a message of the client, in bytes
	answer func(message []byte) // to the client
	tell   func(text string)

	mu     sync.Mutex
	listed map[string]error // the tools that the server has listed, and why they may not be called; nil if they may
	page   map[string]bool  // those on the pages of a list so far
	told   map[string]bool  // the warnings about lists
}

// NewGuard returns the Guard of a server's entry, for a client whose messages have at most limit bytes. answer writes a
// message to the client, and warn says why.
func NewGuard(server *config.Server, limit int64, answer func(message []byte), warn func(text string)) *Guard {
	return &Guard{server: server, max: limit, answer: answer, tell: warn}
}

// maxListed is how many of a server's tools a Guard remembers.
const maxListed = 100_000

// Filter returns a message of the server without the tools that may not be used. It looks at every result, since
// clients differ in which of several they read.
func (g *Guard) Filter(message json.RawMessage) json.RawMessage {
	message, _ = edited(message, "result", func(result json.RawMessage) (json.RawMessage, bool) {
		rest, fewer := edited(result, "tools", g.filterTools)
		if next := rawjson.Get(result, "nextCursor"); next == nil || string(next) == "null" {
			g.endList()
		}
		return rest, fewer
	})
	return message
}

// edited returns an object with the members of a name changed, and whether any was. Names differ in case for some
// readers, and for others not.
func edited(
	object json.RawMessage, name string, edit func(json.RawMessage) (json.RawMessage, bool),
) (json.RawMessage, bool) {
	members, _ := rawjson.Members(object)
	changed := false
	for i, m := range members {
		if strings.EqualFold(m.Name, name) {
			if value, is := edit(m.Value); is {
				members[i], changed = rawjson.NewMember(m.Name, value), true
			}
		}
	}
	if !changed {
		return object, false
	}
	return rawjson.Object(members), true
}

// filterTools returns a list of tools without those that may not be used, and whether there were any.
func (g *Guard) filterTools(list json.RawMessage) (json.RawMessage, bool) {
	all, ok := rawjson.Elements(list)
	if !ok {
		return list, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.page == nil {
		g.page = make(map[string]bool)
		for _, warning := range g.server.Guards.Reread(g.server.Name) {
			g.tellOnce(warning)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(definition json.RawMessage) bool {
		tool, err := protocol.DescribeTool(g.server, definition)
		if err != nil {
			return g.server.Guards.Pinned() // some client may be able to read it
		}
		g.note(tool)
		return tool.Denied() != nil
	})
	if len(kept) == len(all) {
		return list, false
	}
	return rawjson.Array(kept), true
}

// note remembers a tool that the server lists. The caller holds the lock.
func (g *Guard) note(tool *exec.Tool) {
	if g.listed == nil {
		g.listed = make(map[string]error)
	}
	if _, known := g.listed[tool.Plain]; !known && len(g.listed) >= maxListed {
		return
	}
	g.page[tool.Plain] = true
	denied := tool.Denied()
	if denied == nil {
		g.listed[tool.Plain] = unconfirmed(tool, true)
		return
	}
	g.listed[tool.Plain] = denied.RefusedError // without the definition
	if len(denied.Changes) > 0 {
		g.tellOnce(fmt.Sprintf("%v: %s (%s)", denied, strings.Join(denied.Changes, "; "), denied.Hint()))
	}
}

// endList reports pinned tools that a list lacks. Without a list, it does nothing.
func (g *Guard) endList() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.page == nil {
		return
	}
	for _, text := range g.server.Guards.Removed(g.server.Name, g.page) {
		g.tellOnce(text)
	}
	g.page = nil
}

// tellOnce reports a text unless it was reported before. The caller holds the lock.
func (g *Guard) tellOnce(text string) {
	const most = 100
	if g.told == nil {
		g.told = make(map[string]bool)
	}
	if !g.told[text] && len(g.told) < most {
		g.told[text] = true
		g.tell(text)
	}
}

// refuse returns why a tool may not be called through the proxy, nil if it may.
func (g *Guard) refuse(name string) error {
	g.mu.Lock()
	err, known := g.listed[name]
	g.mu.Unlock()
	if known {
		return err
	}
	tool := &exec.Tool{Server: g.server.Name, Plain: name, Guards: g.server.Guards}
	denied := tool.Denied()
	if denied == nil {
		return unconfirmed(tool, false)
	}
	if denied.Key == "readOnly" || denied.Key == "pin" {
		denied.Why = "the server has not listed it yet, and " + denied.Key + " is set"
	}
	return denied
}

// unconfirmed returns why a tool may not be called without confirmation, nil if it may. listed reports whether the
// server has listed it.
func unconfirmed(tool *exec.Tool, listed bool) error {
	ask := tool.Asks(guard.Never)
	if ask == nil {
		return nil
	}
	ask.Because = "toolx proxy cannot ask"
	if !listed && ask.Confirm != guard.Always {
		ask.Because = "the server has not listed it yet, and " + ask.Because
	}
	return ask
}

// callsOf returns the names of the tools that a message of the client calls. A member that is given twice counts twice,
// because readers differ in which they take.
func callsOf(object []byte) (names []string, id json.RawMessage) {
	calls := false
	for m := range rawjson.Each(object) {
		switch {
		case strings.EqualFold(m.Name, "method"):
			calls = calls || rawjson.Unquote(m.Value) == string(mcp.MethodToolsCall)
		case strings.EqualFold(m.Name, "id"):
			id = m.Value
		case strings.EqualFold(m.Name, "params"):
			for param := range rawjson.Each(m.Value) {
				if strings.EqualFold(param.Name, "name") && rawjson.IsString(param.Value) {
					names = append(names, rawjson.Unquote(param.Value))
				}
			}
		}
	}
	if !calls {
		return nil, id
	}
	return names, id
}

// refuseCalls returns why a message of the client must not reach the server, nil if it may.
func (g *Guard) refuseCalls(object []byte) (id json.RawMessage, refused error) {
	names, id := callsOf(object)
	for _, name := range names {
		if refused := g.refuse(name); refused != nil {
			return id, refused
		}
	}
	return id, nil
}

// passes reports whether a line of the client goes on to the server. It answers what does not.
func (g *Guard) passes(line []byte) bool {
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0:
		return true
	case !json.Valid(text):
		g.tell("a line of the client is not JSON, so that what it calls is unknown, and was dropped")
		return false
	}
	batch, is := rawjson.Elements(text)
	if !is {
		id, refused := g.refuseCalls(text)
		if refused != nil {
			g.tell(refused.Error())
			if id != nil {
				g.answer(refusalOf(id, refused))
			}
		}
		return refused == nil
	}
	// A batch passes as a whole, or not at all.
	answers := make([]json.RawMessage, 0, len(batch))
	var first error
	for _, one := range batch {
		id, refused := g.refuseCalls(one)
		if refused != nil && first == nil {
			first = refused
			g.tell(refused.Error())
		}
		if id != nil {
			answers = append(answers, id)
		}
	}
	if first == nil {
		return true
	}
	for i, id := range answers {
		answers[i] = refusalOf(id, first)
	}
	if len(answers) > 0 {
		g.answer(rawjson.Array(answers))
	}
	return false
}

// refusalOf returns the answer to a call that did not reach the server.
func refusalOf(id json.RawMessage, refused error) json.RawMessage {
	return rawjson.Build("jsonrpc", "2.0", "id", id, "error",
		rawjson.Build("code", mcp.INVALID_PARAMS, "message", refused.Error()))
}

// guardedInput reads what a client says, line by line, without what must not reach the server.
type guardedInput struct {
	in    io.Reader
	guard *Guard
	lines wire.Framer
	ready []byte // lines that go on
	ended error
}

// Input returns what a client sends, without what must not reach the server.
func (g *Guard) Input(in io.Reader) io.Reader {
	r := &guardedInput{in: in, guard: g}
	r.lines = wire.Framer{Max: g.max, Emit: r.take}
	return r
}

// Read implements io.Reader.
func (r *guardedInput) Read(b []byte) (int, error) {
	chunk := make([]byte, 64<<10)
	for len(r.ready) == 0 && r.ended == nil {
		n, err := r.in.Read(chunk)
		r.lines.Feed(chunk[:n])
		if r.ended = err; err != nil {
			r.lines.Flush(wire.EndEOF)
		}
	}
	if len(r.ready) == 0 {
		return 0, r.ended
	}
	n := copy(b, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// take adds a line of the client, if it may go on.
func (r *guardedInput) take(l wire.Line) {
	switch {
	case l.End == wire.EndTooLong:
		r.guard.tell("a message of the client is over the limit of " + exec.Bytes(r.guard.max) +
			", so that what it calls is unknown, and was dropped")
	case r.guard.passes(l.Bytes):
		r.ready = append(r.ready, l.Bytes...)
		if l.End == wire.EndNewline {
			r.ready = append(r.ready, '\n')
		}
	}
}
