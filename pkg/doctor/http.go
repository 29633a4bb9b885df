package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
)

// missingHTTP says what a check of servers over HTTP lacks, empty where nothing.
func missingHTTP(e *evidence.Evidence, need check.Need) string {
	switch {
	case e.HTTP == nil:
		return "the server was not asked"
	case need == check.NeedHTTPSession && !e.AgreedRaw():
		return "initialize did not create a session"
	case need == check.NeedHTTPModern && !e.Modern():
		return "the server does not support " + evidence.ModernRevision
	}
	return ""
}

// examineHTTP gathers the evidence about a server that is reached by HTTP: the session
// of any client, and raw exchanges.
func (o Options) examineHTTP(ctx context.Context, e *evidence.Evidence) {
	o.doing(e.Server, "reaching it as a client does")
	e.Clean = o.cleanRun(ctx, e, nil)
	e.HTTP = &evidence.HTTPEvidence{Replies: make(map[string]*evidence.HTTPReply)}
	address, err := url.Parse(e.Launch.URL)
	if err != nil || ctx.Err() != nil {
		return // which the clean run has failed by
	}
	if e.Handshaken() {
		o.makeCalls(ctx, e)
	}
	if !refusedForAuth(e) && !e.Unreached() {
		o.probeHTTP(ctx, e, address)
	}
	o.inspectSurroundings(ctx, e, address)
}

// probeHTTP asks raw questions.
func (o Options) probeHTTP(ctx context.Context, e *evidence.Evidence, address *url.URL) {
	o.doing(e.Server, "probing it by raw requests")
	active := o.newRun("raw")
	raw, err := servers.NewRaw(ctx, e.Server, e.Launch, o.connecting(active, nil))
	if err != nil {
		return // the clean run has failed by the same
	}
	defer raw.Close()
	asker := &httpProber{Options: o, raw: raw, address: address, evidence: e, bus: active.bus, record: active.record}
	asker.probe(ctx)
}

// httpProber asks raw questions. None calls what exists, and each is bounded.
type httpProber struct {
	Options
	raw      http.RoundTripper
	address  *url.URL
	evidence *evidence.Evidence
	bus      *exec.Bus
	record   *evidence.Recorder
	session  string // the id that the server gave, empty where it gave none
	silent   int    // questions in a row without an answer
	// late is from when on the head of the session's stream is one that was held back.
	late time.Time
}

// probe sends all requests. It stops when a server does not answer two in a row.
func (p *httpProber) probe(ctx context.Context) {
	first := p.post(ctx, evidence.AskedInitialize, p.initialize(), nil)
	if p.evidence.AgreedRaw() {
		p.inSession(ctx, first)
	} else if first != nil && first.Status >= 400 && first.Status < 500 {
		p.ask(ctx, evidence.AskedOldStream, http.MethodGet, nil, map[string]string{"Accept": "text/event-stream"})
	}
	if p.evidence.Modern() {
		p.asModern(ctx)
	}
	p.asStranger(ctx)
}

// inSession asks what belongs to a session of the legacy revisions, and ends it.
func (p *httpProber) inSession(ctx context.Context, first *evidence.HTTPReply) {
	p.session = first.Header.Get(evidence.SessionHeader)
	post := func(name, method string, params map[string]any, header, content string) {
		others := make(map[string]string)
		if header != "" {
			others[header] = content
		}
		p.post(ctx, name, request(method, params), p.within(others))
	}
	initialized := map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}
	p.post(ctx, evidence.AskedInitialized, initialized, p.within(nil))
	post(evidence.AskedPing, "ping", nil, "", "")
	post(evidence.AskedList, "tools/list", nil, "", "")
	post(evidence.AskedTool, "tools/call", noSuchCall(), "", "")
	post(evidence.AskedVersion, "ping", nil, evidence.VersionHeader, evidence.InventedRevision)
	for _, accept := range evidence.OtherAccepts() {
		post(evidence.AskedAccept+accept, "ping", nil, "Accept", accept)
	}
	if p.session != "" {
		without := p.within(nil)
		delete(without, evidence.SessionHeader)
		p.post(ctx, evidence.AskedNoSession, request("ping", nil), without)
		post(evidence.AskedOtherID, "ping", nil, evidence.SessionHeader, evidence.InventedSession)
	}
	p.listen(ctx)
}

// noSuchCall returns the params of a call of a tool that no server has.
func noSuchCall() map[string]any {
	return map[string]any{"name": evidence.NoSuchTool, "arguments": map[string]any{}}
}

// listen asks for the stream of the session, and ends the session. The head of a stream
// comes at once. Where none comes, the end of the session shows whether something on the
// way holds streams back until they are over: then it brings the answer to GET.
func (p *httpProber) listen(ctx context.Context) {
	if p.silent == 2 || ctx.Err() != nil {
		return
	}
	limit, headers := p.answerTimeout(), p.within(map[string]string{"Accept": "text/event-stream"})
	p.late = time.Now().Add(limit) // before the clock below begins, and so before it ends
	bounded, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	answer := make(chan *evidence.HTTPReply, 1)
	go func() {
		reply, _ := p.exchange(bounded, http.MethodGet, nil, headers)
		answer <- reply // nil where none came
	}()
	waited := time.NewTimer(limit)
	defer waited.Stop()
	select {
	case reply := <-answer:
		if reply == nil {
			reply = p.refusal(http.MethodGet, nil)
		}
		p.keep(evidence.AskedStream, reply)
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
		p.keep(evidence.AskedStream, reply)
	}
}

// end ends the session, where the server gave it an id.
func (p *httpProber) end(ctx context.Context) {
	if p.session != "" {
		p.ask(ctx, evidence.AskedDelete, http.MethodDelete, nil, p.within(nil))
	}
}

// answerTimeout returns how long to wait for a response.
func (p *httpProber) answerTimeout() time.Duration {
	return cmp.Or(p.Waits.Answer, evidence.AnswerLimit)
}

// within are the headers of a request in the session, and others over them.
func (p *httpProber) within(others map[string]string) map[string]string {
	headers := map[string]string{evidence.VersionHeader: cmp.Or(p.evidence.RevisionRaw(), evidence.CommonRevision)}
	if p.session != "" {
		headers[evidence.SessionHeader] = p.session
	}
	maps.Copy(headers, others)
	return headers
}

// asModern asks what a server without a handshake must refuse.
func (p *httpProber) asModern(ctx context.Context) {
	ask := func(name, method string, params map[string]any, header, content string) {
		headers := map[string]string{evidence.VersionHeader: evidence.ModernRevision, evidence.MethodHeader: method}
		if header != "" {
			headers[header] = content
		}
		p.post(ctx, name, request(method, params), headers)
	}
	const mismatch = evidence.AskedMismatch
	params, older := modernParams(p.Version, evidence.ModernRevision), modernParams(p.Version, evidence.CommonRevision)
	ask(mismatch+evidence.MethodHeader, "server/discover", params, evidence.MethodHeader, "prompts/list")
	ask(mismatch+evidence.VersionHeader, "server/discover", older, "", "")
	if tools, _ := p.evidence.Capability("tools"); tools != nil {
		call := withMeta(p.Version, noSuchCall())
		ask(mismatch+evidence.NameHeader, "tools/call", call, evidence.NameHeader, evidence.NoSuchTool+"_either")
	}
	ask(evidence.AskedUnknown, evidence.NoSuchMethod, params, "", "")
}

// asStranger asks as a web page from elsewhere would, in the server's own way.
func (p *httpProber) asStranger(ctx context.Context) {
	_, old := p.evidence.EndpointEvent()
	if !p.evidence.AgreedRaw() && !p.evidence.Modern() && !old {
		return
	}
	p.strange(ctx, evidence.AskedOrigin, "Origin", evidence.ForeignOrigin)
	if evidence.IsLoopback(p.address.Hostname()) {
		p.strange(ctx, evidence.AskedHost, "Host", strings.TrimSuffix(evidence.ForeignHost+":"+p.address.Port(), ":"))
	}
}

// strange begins as any client does, but for a header.
func (p *httpProber) strange(ctx context.Context, name, header, content string) {
	headers := map[string]string{header: content}
	switch {
	case p.evidence.AgreedRaw():
		p.forget(ctx, p.post(ctx, name, p.initialize(), headers))
	case p.evidence.Modern():
		headers[evidence.VersionHeader], headers[evidence.MethodHeader] = evidence.ModernRevision, "server/discover"
		p.post(ctx, name, request("server/discover", modernParams(p.Version, evidence.ModernRevision)), headers)
	default:
		headers["Accept"] = "text/event-stream"
		p.ask(ctx, name, http.MethodGet, nil, headers)
	}
}

// forget ends the session that an answer has begun, if any: nothing is left behind.
func (p *httpProber) forget(ctx context.Context, reply *evidence.HTTPReply) {
	if reply == nil || reply.Header.Get(evidence.SessionHeader) == "" {
		return
	}
	p.session = reply.Header.Get(evidence.SessionHeader)
	p.ask(ctx, "", http.MethodDelete, nil, p.within(nil))
}

// request is a request of JSON-RPC; nil params are left out.
func request(method string, params map[string]any) map[string]any {
	message := map[string]any{"jsonrpc": "2.0", "id": evidence.RawID, "method": method}
	if params != nil {
		message["params"] = params
	}
	return message
}

func (p *httpProber) initialize() map[string]any {
	return request("initialize", map[string]any{
		"protocolVersion": evidence.CommonRevision,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "toolx", "version": p.Version},
	})
}

// post posts a message and keeps the answer under a name.
func (p *httpProber) post(
	ctx context.Context, name string, message map[string]any, headers map[string]string,
) *evidence.HTTPReply {
	body, err := json.Marshal(message)
	if err != nil {
		return nil
	}
	all := map[string]string{"Accept": evidence.BothTypes, "Content-Type": "application/json"}
	maps.Copy(all, headers)
	return p.ask(ctx, name, http.MethodPost, body, all)
}

// ask makes one exchange and keeps what came of it under a name, unless that is empty.
// It returns nil where no answer came.
func (p *httpProber) ask(
	ctx context.Context, name, verb string, body []byte, headers map[string]string,
) *evidence.HTTPReply {
	if p.silent == 2 || ctx.Err() != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, p.answerTimeout())
	defer cancel()
	if body != nil {
		p.bus.Emit(wire.NewFrameSent(time.Now(), p.evidence.Server.Name, body))
	}
	reply, err := p.exchange(bounded, verb, body, headers)
	if err != nil {
		// What gets access tokens makes an error of a refusal, whose head was seen.
		reply = p.refusal(verb, body)
	}
	return p.keep(name, reply)
}

// keep keeps an answer under a name, unless that is empty; a reply of nil is none.
func (p *httpProber) keep(name string, reply *evidence.HTTPReply) *evidence.HTTPReply {
	if reply == nil {
		p.silent++
		return nil
	}
	p.silent = 0
	if message := reply.Message(); message != nil {
		p.bus.Emit(wire.NewFrameReceived(time.Now(), p.evidence.Server.Name, 0, message))
	}
	if name != "" {
		p.evidence.HTTP.Replies[name] = reply
	}
	return reply
}

// refusal is the answer 401 or 403 that the last exchange had, nil where it had another.
func (p *httpProber) refusal(verb string, sent []byte) *evidence.HTTPReply {
	p.record.Mu.Lock()
	defer p.record.Mu.Unlock()
	if len(p.record.Events) == 0 {
		return nil
	}
	last, ok := p.record.Events[len(p.record.Events)-1].(wire.HTTPExchange)
	if !ok || last.Verb != verb || last.Status != http.StatusUnauthorized && last.Status != http.StatusForbidden {
		return nil
	}
	return &evidence.HTTPReply{Verb: verb, URL: p.address, Status: last.Status, Header: last.Received, Sent: sent}
}
