package servers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Request sends any request and returns the answer, byte for byte; a JSON-RPC error is an Answer too. params is JSON or
// nil and is sent unchanged, except for the _meta that revision 2026-07-28 demands of every request. Where progress is
// not nil, Request sends a progress token. When a server of that revision asks for input, Request answers it (see
// Answers); if it asks for something that was not offered, Request returns that answer.
//
// The error is ctx's, a *Failure where the server ended, an *InputError, or an
// *exec.MalformedError where the answer is broken.
func (s *Session) Request(
	ctx context.Context, method string, params json.RawMessage, progress func(exec.Progress),
) (*Answer, error) {
	var token int64
	if progress != nil {
		var forget func()
		token, forget = s.progress.expect(progress)
		defer forget()
	}
	return s.send(ctx, method, params, token)
}

// send is Request with a progress token, 0 for none.
func (s *Session) send(ctx context.Context, method string, params json.RawMessage, token int64) (*Answer, error) {
	began := time.Now()
	dressed := s.dressed(params, token)
	header := s.header(method, dressed)
	answer, err := s.inbox.converse(ctx, dressed, func(params json.RawMessage) (*Answer, error) {
		m, err := s.link.roundTrip(ctx, method, params, header)
		if err != nil {
			return nil, err
		}
		return m.answer(), nil
	})
	var input *InputError
	if err != nil && !(errors.As(err, &input) && input.unoffered()) {
		return nil, err
	}
	answer.Took = time.Since(began)
	return answer, nil
}

// NextRequest returns the JSON-RPC request that Request would send next with a progress token, or after so many others,
// byte for byte: with its id, and with _meta where the agreed revision is 2026-07-28. It sends nothing.
func (s *Session) NextRequest(method string, params json.RawMessage, after int) (json.RawMessage, error) {
	return encodeRequest(s.link.rpc().upcomingID()+int64(after), method,
		s.dressed(params, s.progress.last.Load()+1+int64(after)))
}

// dressed returns params in the form in which they are sent: with the _meta of the agreed revision and, where token is
// not 0, a progress token.
func (s *Session) dressed(params json.RawMessage, token int64) json.RawMessage {
	meta := s.meta()
	if token != 0 {
		meta = append(meta, rawjson.NewMember("progressToken", strconv.AppendInt(nil, token, 10)))
	}
	return dress(params, meta)
}

// meta returns the members of _meta that the agreed revision demands of every request.
func (s *Session) meta() []rawjson.Member {
	if !s.modern() {
		return nil
	}
	var members []rawjson.Member
	add := func(name string, value any) {
		// These are plain structs: they always encode.
		if encoded, err := rawjson.Marshal(value); err == nil {
			members = append(members, rawjson.NewMember(name, encoded))
		}
	}
	add(mcp.MetaKeyProtocolVersion, s.Protocol)
	add(mcp.MetaKeyClientInfo, s.clientInfo)
	add(mcp.MetaKeyClientCapabilities, withTasks(s.clientCapabilities))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logLevel != "" {
		add(mcp.MetaKeyLogLevel, s.logLevel)
	}
	return members
}

// dress adds members to the _meta of params. Members that are already there stay, and params that are not an object are
// returned unchanged.
func dress(params json.RawMessage, meta []rawjson.Member) json.RawMessage {
	fields, isObject := rawjson.Members(params)
	if len(meta) == 0 || params != nil && !isObject {
		return params
	}
	given := rawjson.Get(params, "_meta")
	members, _ := rawjson.Members(given)
	for _, member := range meta {
		if rawjson.Get(given, member.Name) == nil {
			members = append(members, member)
		}
	}
	dressed := make([]rawjson.Member, 0, len(fields)+1)
	for _, field := range fields {
		if field.Name != "_meta" {
			dressed = append(dressed, field)
		}
	}
	return rawjson.Object(append(dressed, rawjson.NewMember("_meta", rawjson.Object(members))))
}

// header returns the headers that the agreed revision requires on a request over HTTP, or nil. params are those that
// are sent.
func (s *Session) header(method string, params json.RawMessage) http.Header {
	header := standardHeader(s.Protocol, method, params)
	if method != string(mcp.MethodToolsCall) {
		return header
	}
	for name, content := range s.paramHeaders(params) {
		header.Set(name, content)
	}
	return header
}

// standardHeader returns the headers that 2026-07-28 requires on HTTP, or nil for earlier revisions.
func standardHeader(protocol, method string, params json.RawMessage) http.Header {
	var header http.Header
	for name, value := range mcp.StandardHeaders(protocol, mcp.MCPMethod(method), params) {
		if header == nil {
			header = make(http.Header)
		}
		header.Set(name, value)
	}
	if header != nil && aboutTask(method) { // SEP-2663, Streamable HTTP: Routing Headers
		if id, ok := mcp.EncodeHeaderValue(rawjson.GetText(params, "taskId")); ok {
			header.Set(mcp.HeaderName, id)
		}
	}
	return header
}

// ask encodes params and calls demand; nil means no params.
func (s *Session) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	encoded, err := encodeParams(method, params)
	if err != nil {
		return nil, err
	}
	return s.demand(ctx, method, encoded, nil)
}

// notify sends a notification without params.
func (s *Session) notify(ctx context.Context, method mcp.MCPMethod) error {
	notification, err := newNotification(string(method), nil)
	if err != nil {
		return err
	}
	return s.link.send(ctx, notification)
}

// demand sends a request whose answer must be a result. A JSON-RPC error is returned as an *exec.ToolError with the
// server's own message.
func (s *Session) demand(
	ctx context.Context, method string, params json.RawMessage, progress func(exec.Progress),
) (json.RawMessage, error) {
	answer, err := s.Request(ctx, method, params, progress)
	return s.result(method, answer, err)
}

// result returns the result in what came of a request, or why there is none.
func (s *Session) result(method string, answer *Answer, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		if visit := s.inbox.unvisited(answer.Error); visit != nil {
			return nil, visit
		}
		return nil, rpcError(answer.Error)
	case asksForInput(answer.Result):
		return nil, s.unoffered(answer.Result)
	case isTask(answer.Result) && s.modern() && method != string(mcp.MethodToolsCall):
		return nil, &exec.MalformedError{What: "the reply to " + method, Reason: errors.New("it is a task")}
	}
	return answer.Result, nil
}

// unoffered returns the error for a result that asks for input that toolx did not offer.
func (s *Session) unoffered(result json.RawMessage) error {
	for request := range rawjson.Each(rawjson.Get(result, "inputRequests")) {
		if method := methodOf(request.Value); s.inbox.handler(method) == nil {
			return &InputError{Server: s.Name, Method: method}
		}
	}
	return &InputError{Server: s.Name, Err: errors.New("it asks for nothing")}
}

// pages reads a list to its end, page by page, and returns the elements of the named
// member, byte for byte. A server that does not know the method has an empty list.
func (s *Session) pages(ctx context.Context, method, member string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	pages := s.newPager(method)
	for {
		params := map[string]any{} // some servers fail where there are none
		if pages.cursor != nil {
			params["cursor"] = pages.cursor
		}
		result, err := s.ask(ctx, method, params)
		var refused *exec.ToolError
		if errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND {
			s.listed(member, all, terms{})
			return all, nil
		}
		switch {
		case err != nil && ctx.Err() != nil && pages.pages > 0:
			return nil, &unfinishedError{method, pages.pages, err}
		case err != nil:
			return nil, err
		}
		elements, more, err := pages.take(result, member)
		if err != nil {
			return nil, &exec.MalformedError{What: "the reply to " + method, Reason: err}
		}
		all = append(all, elements...)
		if !more {
			s.listed(member, all, pages.terms)
			return all, nil
		}
	}
}

// Ping asks the server for a sign of life: ping, or server/discover where the agreed revision has no ping.
func (s *Session) Ping(ctx context.Context) (json.RawMessage, error) {
	if s.modern() {
		return s.ask(ctx, string(mcp.MethodServerDiscover), map[string]any{})
	}
	return s.ask(ctx, string(mcp.MethodPing), nil)
}

// SetLevel asks the server for log messages of a level (debug to emergency) and more severe ones. Revision 2026-07-28
// has no request for it: there, each later request carries the level.
func (s *Session) SetLevel(ctx context.Context, level string) error {
	if !s.modern() {
		if _, err := s.ask(ctx, string(mcp.MethodSetLogLevel), map[string]any{"level": level}); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logLevel = level
	return nil
}
