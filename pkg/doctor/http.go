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

// missingHTTP returns what evidence an HTTP check lacks, or nothing.
func missingHTTP(e *evidence.Evidence, need check.Need) string {
	switch {
	case e.HTTP == nil:
		return "the server was not asked"
	case need == check.NeedHTTPSession && !e.RawSession():
		return "initialize did not create a session"
	case need == check.NeedHTTPModern && !e.Modern():
		return "the server does not support " + evidence.ModernRevision
	}
	return ""
}

// examineHTTP gathers the evidence about an HTTP server with a normal session and raw requests.
func (o Options) examineHTTP(ctx context.Context, e *evidence.Evidence) {
	o.doing(e.Server, "reaching it as a client does")
	e.Clean = o.cleanRun(ctx, e, nil)
	e.HTTP = &evidence.HTTPEvidence{Replies: make(map[string]*evidence.HTTPReply)}
	address, err := url.Parse(e.Launch.URL)
	if err != nil || ctx.Err() != nil {
		return // the clean run failed because of it
	}
	if e.Handshaken() {
		o.makeCalls(ctx, e)
	}
	if !refusedForAuth(e) && !e.Unreached() {
		o.probeHTTP(ctx, e, address)
	}
	o.inspectSurroundings(ctx, e, address)
}

// probeHTTP sends raw requests.
func (o Options) probeHTTP(ctx context.Context, e *evidence.Evidence, address *url.URL) {
	o.doing(e.Server, "probing it by raw requests")
	active := o.newRun("raw")
	raw, err := servers.NewRaw(ctx, e.Server, e.Launch, o.connecting(active, nil))
	if err != nil {
		return // the clean run failed for the same reason
	}
	defer raw.Close()
	asker := &httpProber{Options: o, raw: raw, address: address, evidence: e, bus: active.bus, record: active.record}
	asker.probe(ctx)
}

// httpProber sends raw requests with time limits. None of them calls an existing tool.
type httpProber struct {
	Options
	raw      http.RoundTripper
	address  *url.URL
	evidence *evidence.Evidence
	bus      *exec.Bus
	record   *evidence.Recorder
	session  string // the id from the server, or empty
	silent   int    // requests in a row without a response
	// late is the time after which the header of the session's stream counts as delayed.
	late time.Time
}

// probe sends all requests. It stops after two in a row without a response.
func (p *httpProber) probe(ctx context.Context) {
	first := p.post(ctx, evidence.AskedInitialize, p.initialize(), nil)
	if p.evidence.RawSession() {
		p.probeSession(ctx, first)
	} else if first != nil && first.Status >= 400 && first.Status < 500 {
		p.ask(ctx, evidence.AskedOldStream, http.MethodGet, nil, map[string]string{"Accept": "text/event-stream"})
	}
	if p.evidence.Modern() {
		p.probeModern(ctx)
	}
	p.probeForeign(ctx)
}

// probeSession sends the requests of a legacy session, and ends it.
func (p *httpProber) probeSession(ctx context.Context, first *evidence.HTTPReply) {
	p.session = first.Header.Get(evidence.SessionHeader)
	post := func(name, method string, params map[string]any, header, content string) {
		others := make(map[string]string)
		if header != "" {
			others[header] = content
		}
		p.post(ctx, name, request(method, params), p.sessionHeaders(others))
	}
	initialized := map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}
	p.post(ctx, evidence.AskedInitialized, initialized, p.sessionHeaders(nil))
	post(evidence.AskedPing, "ping", nil, "", "")
	post(evidence.AskedList, "tools/list", nil, "", "")
	post(evidence.AskedTool, "tools/call", noSuchCall(), "", "")
	post(evidence.AskedVersion, "ping", nil, evidence.VersionHeader, evidence.InventedRevision)
	for _, accept := range evidence.OtherAccepts() {
		post(evidence.AskedAccept+accept, "ping", nil, "Accept", accept)
	}
	if p.session != "" {
		without := p.sessionHeaders(nil)
		delete(without, evidence.SessionHeader)
		p.post(ctx, evidence.AskedNoSession, request("ping", nil), without)
		post(evidence.AskedOtherID, "ping", nil, evidence.SessionHeader, evidence.InventedSession)
	}
	p.listen(ctx)
}

// noSuchCall returns the params of a call of NoSuchTool.
func noSuchCall() map[string]any {
	return map[string]any{"name": evidence.NoSuchTool, "arguments": map[string]any{}}
}

// listen requests the session's stream and ends the session. The header of the stream should arrive at once. If it
// arrives only after the session ended, a proxy buffers streams.
func (p *httpProber) listen(ctx context.Context) {
	if p.silent == 2 || ctx.Err() != nil {
		return
	}
	limit, headers := p.answerTimeout(), p.sessionHeaders(map[string]string{"Accept": "text/event-stream"})
	p.late = time.Now().Add(limit) // set before the timer below starts
	bounded, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	answer := make(chan *evidence.HTTPReply, 1)
	go func() {
		reply, _ := p.exchange(bounded, http.MethodGet, nil, headers)
		answer <- reply // nil if none arrived
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

// end ends the session if it has an id.
func (p *httpProber) end(ctx context.Context) {
	if p.session != "" {
		p.ask(ctx, evidence.AskedDelete, http.MethodDelete, nil, p.sessionHeaders(nil))
	}
}

// answerTimeout returns how long to wait for a response.
func (p *httpProber) answerTimeout() time.Duration {
	return cmp.Or(p.Waits.Answer, evidence.AnswerLimit)
}

// sessionHeaders returns the headers of a request in the session, overridden by others.
func (p *httpProber) sessionHeaders(others map[string]string) map[string]string {
	headers := map[string]string{evidence.VersionHeader: cmp.Or(p.evidence.RawRevision(), evidence.CommonRevision)}
	if p.session != "" {
		headers[evidence.SessionHeader] = p.session
	}
	maps.Copy(headers, others)
	return headers
}

// probeModern sends requests that a server of a modern revision must reject.
func (p *httpProber) probeModern(ctx context.Context) {
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

// probeForeign sends a request as an unrelated web page would, in a protocol that the server supports.
func (p *httpProber) probeForeign(ctx context.Context) {
	_, old := p.evidence.EndpointEvent()
	if !p.evidence.RawSession() && !p.evidence.Modern() && !old {
		return
	}
	p.sendForeign(ctx, evidence.AskedOrigin, "Origin", evidence.ForeignOrigin)
	if evidence.IsLoopback(p.address.Hostname()) {
		host := strings.TrimSuffix(evidence.ForeignHost+":"+p.address.Port(), ":")
		p.sendForeign(ctx, evidence.AskedHost, "Host", host)
	}
}

// sendForeign sends a client's first request with one header changed.
func (p *httpProber) sendForeign(ctx context.Context, name, header, content string) {
	headers := map[string]string{header: content}
	switch {
	case p.evidence.RawSession():
		p.endSession(ctx, p.post(ctx, name, p.initialize(), headers))
	case p.evidence.Modern():
		headers[evidence.VersionHeader], headers[evidence.MethodHeader] = evidence.ModernRevision, "server/discover"
		p.post(ctx, name, request("server/discover", modernParams(p.Version, evidence.ModernRevision)), headers)
	default:
		headers["Accept"] = "text/event-stream"
		p.ask(ctx, name, http.MethodGet, nil, headers)
	}
}

// endSession ends the session that a response started, if any.
func (p *httpProber) endSession(ctx context.Context, reply *evidence.HTTPReply) {
	if reply == nil || reply.Header.Get(evidence.SessionHeader) == "" {
		return
	}
	p.session = reply.Header.Get(evidence.SessionHeader)
	p.ask(ctx, "", http.MethodDelete, nil, p.sessionHeaders(nil))
}

// request returns a JSON-RPC request; nil params are left out.
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

// post posts a message and keeps the response under a name.
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

// ask sends a request and keeps the response under a name, unless that is empty. It returns nil without a response.
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
		// The token source turns a 401 or 403 into an error, but the header was recorded.
		reply = p.refusal(verb, body)
	}
	return p.keep(name, reply)
}

// keep records a response under a name, unless that is empty. A nil reply counts as silence.
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

// refusal returns the last exchange's response if it was a 401 or 403, and otherwise nil.
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
