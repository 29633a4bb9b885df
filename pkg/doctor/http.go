package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// HTTPEvidence is what raw exchanges over HTTP have shown of a server.
type HTTPEvidence struct {
	// Replies are the answers to the doctor's questions, by the names of them below; a
	// question that was not asked has none.
	Replies map[string]*HTTPReply
	// TLS is what the server offers below HTTP, nil where there is no TLS to look at.
	TLS *TLSLook
	// Exposed says by which address other machines can reach a server whose url is of
	// this one; empty where they cannot, or where that is not known.
	Exposed string
	// Login is what is wrong with the documents by which clients log in.
	Login []auth.Fault

	reach servers.HTTPOptions // how it was reached
}

// The names of the raw questions.
const (
	askedInitialize  = "initialize"  // as a client of the legacy revisions asks it
	askedInitialized = "initialized" // the notification behind it
	askedPing        = "ping"        // as a client asks it
	askedList        = "tools/list"  // the same
	askedTool        = "tools/call"  // of a tool that no server has
	askedVersion     = "version"     // ping, naming a revision that never was
	askedNoSession   = "no session"  // ping, without the session's id
	askedOtherID     = "other id"    // ping, with the id of a session that never was
	askedStream      = "GET"         // the stream of the session
	askedDelete      = "DELETE"      // the end of the session
	askedOrigin      = "origin"      // initialize, as of a web page from elsewhere
	askedHost        = "host"        // initialize, to another host's name
	askedMismatch    = "mismatch "   // and a header: modern, and the header says another thing than the body
	askedUnknown     = "unknown"     // modern: a method that no server has
	askedOldStream   = "old-stream"  // GET, of a server that may speak the older HTTP with SSE
	askedAccept      = "accept "     // and what: ping with another Accept
	askedBare        = "bare"        // initialize, without what the entry has to get in
)

// What raw requests say in headers.
const (
	foreignOrigin = "http://evil.example" // of a web page from elsewhere
	foreignHost   = "evil.example"        // a name that such a page makes lead to this machine

	inventedSession = "00000000-0000-4000-8000-000000000000" // an id that no server gives
	bothTypes       = "application/json, text/event-stream"
	sessionHeader   = "Mcp-Session-Id"
	versionHeader   = "Mcp-Protocol-Version"
	methodHeader    = "Mcp-Method"
	nameHeader      = "Mcp-Name"
)

// otherAccepts are what clients send as Accept that do not know better.
func otherAccepts() []string { return []string{"application/json", "text/event-stream", "*/*", ""} }

// overHTTP says whether the server is reached by HTTP.
func (e *Evidence) overHTTP() bool {
	return e.Launch != nil && e.Launch.URL != "" || e.Launch == nil && e.Server.URL != ""
}

// reply is the answer to a raw question, nil where there is none.
func (e *Evidence) reply(name string) *HTTPReply {
	if e.HTTP == nil {
		return nil
	}
	return e.HTTP.Replies[name]
}

// agreedRaw says whether the raw handshake came to a session.
func (e *Evidence) agreedRaw() bool { return e.reply(askedInitialize).result() != nil }

// refusalBefore says whether a message over HTTP came before any revision was agreed on,
// as the answer of a legacy server to server/discover does. What such a server says to
// what has no session is of no revision.
func (e *Evidence) refusalBefore(m received) bool {
	first := m.run.Exchange("initialize", 0)
	return e.overHTTP() && first != nil && m.event.At.Before(first.At)
}

// revisionRaw is the revision that the raw handshake agreed on, empty where none.
func (e *Evidence) revisionRaw() string {
	return rawjson.Unquote(memberAt(e.reply(askedInitialize).result(), "protocolVersion"))
}

// missingHTTP says what a check of servers over HTTP lacks, empty where nothing.
func missingHTTP(e *Evidence, need Need) string {
	switch {
	case e.HTTP == nil:
		return "the server was not asked"
	case need == NeedHTTPSession && !e.agreedRaw():
		return "initialize came to no session"
	case need == NeedHTTPModern && !e.modern():
		return "the server does not speak " + modernRevision
	}
	return ""
}

// examineHTTP gathers the evidence about a server that is reached by HTTP: the session
// of any client, and raw exchanges.
func (o Options) examineHTTP(ctx context.Context, e *Evidence) {
	o.doing(e.Server, "reaching it as a client does")
	e.Clean = o.cleanRun(ctx, e)
	e.HTTP = &HTTPEvidence{Replies: make(map[string]*HTTPReply), reach: o.HTTP}
	address, err := url.Parse(e.Launch.URL)
	if err != nil || ctx.Err() != nil {
		return // which the clean run has failed by
	}
	if e.Handshaken() {
		o.makeCalls(ctx, e)
	}
	if !refusedForAuth(e) && !e.unreached() {
		o.probeHTTP(ctx, e, address)
		e.Starts = o.repeat(ctx, e)
	}
	o.lookAround(ctx, e, address)
}

// probeHTTP asks raw questions.
func (o Options) probeHTTP(ctx context.Context, e *Evidence, address *url.URL) {
	o.doing(e.Server, "probing it by raw requests")
	life := o.newLife("raw")
	raw, err := servers.NewRaw(ctx, e.Server, e.Launch, o.connecting(life))
	if err != nil {
		return // the clean run has failed by the same
	}
	defer raw.Close()
	asker := &httpProber{Options: o, raw: raw, address: address, evidence: e, bus: life.bus, record: life.record}
	asker.probe(ctx)
}

// unreached says whether there was no answer by HTTP at all.
func (e *Evidence) unreached() bool {
	return !slices.ContainsFunc(EventsOf[servers.HTTPExchange](e.Clean), func(x servers.HTTPExchange) bool { return x.Status != 0 })
}

// httpProber asks raw questions. None calls what exists, and each is bounded.
type httpProber struct {
	Options
	raw      http.RoundTripper
	address  *url.URL
	evidence *Evidence
	bus      *exec.Bus
	record   *recorder
	session  string // the id that the server gave, empty where it gave none
	silent   int    // questions in a row without an answer
	// late is from when on the head of the session's stream is one that was held back.
	late time.Time
}

// probe asks all questions. A server that leaves two in a row unanswered is asked no
// more.
func (p *httpProber) probe(ctx context.Context) {
	first := p.post(ctx, askedInitialize, p.initialize(), nil)
	if p.evidence.agreedRaw() {
		p.inSession(ctx, first)
	} else if first != nil && first.Status >= 400 && first.Status < 500 {
		p.ask(ctx, askedOldStream, http.MethodGet, nil, map[string]string{"Accept": "text/event-stream"})
	}
	if p.evidence.modern() {
		p.asModern(ctx)
	}
	p.asStranger(ctx)
}

// inSession asks what belongs to a session of the legacy revisions, and ends it.
func (p *httpProber) inSession(ctx context.Context, first *HTTPReply) {
	p.session = first.Header.Get(sessionHeader)
	p.post(ctx, askedInitialized, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, p.within(nil))
	p.post(ctx, askedPing, request("ping", nil), p.within(nil))
	p.post(ctx, askedList, request("tools/list", nil), p.within(nil))
	p.post(ctx, askedTool, request("tools/call", map[string]any{"name": noSuchTool, "arguments": map[string]any{}}), p.within(nil))
	p.post(ctx, askedVersion, request("ping", nil), p.within(map[string]string{versionHeader: inventedRevision}))
	for _, accept := range otherAccepts() {
		p.post(ctx, askedAccept+accept, request("ping", nil), p.within(map[string]string{"Accept": accept}))
	}
	if p.session != "" {
		without := p.within(nil)
		delete(without, sessionHeader)
		p.post(ctx, askedNoSession, request("ping", nil), without)
		p.post(ctx, askedOtherID, request("ping", nil), p.within(map[string]string{sessionHeader: inventedSession}))
	}
	p.listen(ctx)
}

// listen asks for the stream of the session, and ends the session. The head of a stream
// comes at once. Where none comes, the end of the session shows whether something on the
// way holds streams back until they are over: then it brings the answer to GET.
func (p *httpProber) listen(ctx context.Context) {
	if p.silent == 2 || ctx.Err() != nil {
		return
	}
	limit, headers := p.patience(), p.within(map[string]string{"Accept": "text/event-stream"})
	p.late = time.Now().Add(limit) // before the clock below begins, and so before it ends
	bounded, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	answer := make(chan *HTTPReply, 1)
	go func() {
		reply, _ := p.exchange(bounded, http.MethodGet, nil, headers)
		answer <- reply // nil where none came
	}()
	waited := time.NewTimer(limit)
	defer waited.Stop()
	select {
	case reply := <-answer:
		if reply == nil {
			reply = p.refusal(http.MethodGet, rawQuestion{headers: headers})
		}
		p.keep(askedStream, reply)
		p.end(ctx)
	case <-waited.C:
		if p.session == "" {
			cancel() // nothing ends the stream
		}
		p.end(ctx)
		reply := <-answer
		if reply != nil {
			reply.Held = true
		}
		p.keep(askedStream, reply)
	}
}

// end ends the session, where the server gave it an id.
func (p *httpProber) end(ctx context.Context) {
	if p.session != "" {
		p.ask(ctx, askedDelete, http.MethodDelete, nil, p.within(nil))
	}
}

// patience is how long an answer is waited for.
func (p *httpProber) patience() time.Duration { return cmp.Or(p.answer, answerLimit) }

// within are the headers of a request in the session, and others over them.
func (p *httpProber) within(others map[string]string) map[string]string {
	headers := map[string]string{versionHeader: cmp.Or(p.evidence.revisionRaw(), commonRevision)}
	if p.session != "" {
		headers[sessionHeader] = p.session
	}
	maps.Copy(headers, others)
	return headers
}

// asModern asks what a server without a handshake must refuse.
func (p *httpProber) asModern(ctx context.Context) {
	ask := func(name, method string, params map[string]any, others map[string]string) {
		headers := map[string]string{versionHeader: modernRevision, methodHeader: method}
		maps.Copy(headers, others)
		p.post(ctx, name, request(method, params), headers)
	}
	params := modernParams(p.Version, modernRevision)
	ask(askedMismatch+methodHeader, "server/discover", params, map[string]string{methodHeader: "prompts/list"})
	ask(askedMismatch+versionHeader, "server/discover", modernParams(p.Version, commonRevision), nil)
	if tools, _ := p.evidence.capability("tools"); tools != nil {
		call := withMeta(p.Version, map[string]any{"name": noSuchTool, "arguments": map[string]any{}})
		ask(askedMismatch+nameHeader, "tools/call", call, map[string]string{nameHeader: noSuchTool + "_either"})
	}
	ask(askedUnknown, noSuchMethod, params, nil)
}

// asStranger asks as a web page from elsewhere would, in the server's own way.
func (p *httpProber) asStranger(ctx context.Context) {
	_, old := p.evidence.endpointEvent()
	if !p.evidence.agreedRaw() && !p.evidence.modern() && !old {
		return
	}
	p.strange(ctx, askedOrigin, "Origin", foreignOrigin)
	if isLoopback(p.address.Hostname()) {
		p.strange(ctx, askedHost, "Host", strings.TrimSuffix(foreignHost+":"+p.address.Port(), ":"))
	}
}

// strange begins as any client does, but for a header.
func (p *httpProber) strange(ctx context.Context, name, header, content string) {
	headers := map[string]string{header: content}
	switch {
	case p.evidence.agreedRaw():
		p.forget(ctx, p.post(ctx, name, p.initialize(), headers))
	case p.evidence.modern():
		headers[versionHeader], headers[methodHeader] = modernRevision, "server/discover"
		p.post(ctx, name, request("server/discover", modernParams(p.Version, modernRevision)), headers)
	default:
		headers["Accept"] = "text/event-stream"
		p.ask(ctx, name, http.MethodGet, nil, headers)
	}
}

// forget ends the session that an answer has begun, if any: nothing is left behind.
func (p *httpProber) forget(ctx context.Context, reply *HTTPReply) {
	if reply == nil || reply.Header.Get(sessionHeader) == "" {
		return
	}
	p.session = reply.Header.Get(sessionHeader)
	p.ask(ctx, "", http.MethodDelete, nil, p.within(nil))
}

// rawID is the id of every raw request: each is alone in its exchange.
const rawID = 1

// request is a request of JSON-RPC; nil params are left out.
func request(method string, params map[string]any) map[string]any {
	message := map[string]any{"jsonrpc": "2.0", "id": rawID, "method": method}
	if params != nil {
		message["params"] = params
	}
	return message
}

func (p *httpProber) initialize() map[string]any {
	return request("initialize", map[string]any{
		"protocolVersion": commonRevision,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "toolx", "version": p.Version},
	})
}

// post posts a message and keeps the answer under a name.
func (p *httpProber) post(ctx context.Context, name string, message map[string]any, headers map[string]string) *HTTPReply {
	body, err := json.Marshal(message)
	if err != nil {
		return nil
	}
	all := map[string]string{"Accept": bothTypes, "Content-Type": "application/json"}
	maps.Copy(all, headers)
	return p.ask(ctx, name, http.MethodPost, body, all)
}

// ask makes one exchange and keeps what came of it under a name, unless that is empty.
// It returns nil where no answer came.
func (p *httpProber) ask(ctx context.Context, name, verb string, body []byte, headers map[string]string) *HTTPReply {
	if p.silent == 2 || ctx.Err() != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	if body != nil {
		p.bus.Emit(servers.NewFrameSent(time.Now(), p.evidence.Server.Name, body))
	}
	reply, err := p.exchange(bounded, verb, body, headers)
	if err != nil {
		// What gets access tokens makes an error of a refusal, whose head was seen.
		reply = p.refusal(verb, rawQuestion{headers: headers, body: body})
	}
	return p.keep(name, reply)
}

// keep keeps an answer under a name, unless that is empty; a reply of nil is none.
func (p *httpProber) keep(name string, reply *HTTPReply) *HTTPReply {
	if reply == nil {
		p.silent++
		return nil
	}
	p.silent = 0
	if message := reply.message(); message != nil {
		p.bus.Emit(servers.NewFrameReceived(time.Now(), p.evidence.Server.Name, 0, message))
	}
	if name != "" {
		p.evidence.HTTP.Replies[name] = reply
	}
	return reply
}

// refusal is the answer 401 or 403 that the last exchange had, nil where it had another.
func (p *httpProber) refusal(verb string, sent rawQuestion) *HTTPReply {
	p.record.mu.Lock()
	defer p.record.mu.Unlock()
	if len(p.record.events) == 0 {
		return nil
	}
	last, ok := p.record.events[len(p.record.events)-1].(servers.HTTPExchange)
	if !ok || last.Verb != verb || last.Status != http.StatusUnauthorized && last.Status != http.StatusForbidden {
		return nil
	}
	return &HTTPReply{Verb: verb, URL: p.address, Status: last.Status, Header: last.Received, sent: sent}
}
