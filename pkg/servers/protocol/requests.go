package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// requester asks one server: it gives each request what the agreed revision demands of it, and reads the answer.
type requester struct {
	// Name is the server's name in the config.
	Name string
	// Protocol is the revision of MCP that was agreed on.
	Protocol string

	bus       *exec.Bus
	transport Transport
	// clientInfo and clientCapabilities are what toolx sends about itself.
	clientInfo         mcp.Implementation
	clientCapabilities mcp.ClientCapabilities
	client             *wire.Client // that the server sees in place of toolx; nil for none
	inbox              *inbox
	progress           progressTokens
	tools              toolList
	keeping            keeping
	// maxMessage is the size in bytes of the largest message, and of the largest list.
	maxMessage int64

	levelMu  sync.Mutex
	logLevel string // of requests in 2026-07-28; in the older era, the level that was set
}

// Request sends any request and returns the answer, byte for byte; a JSON-RPC error is an Answer too. params is JSON or
// nil and is sent unchanged, except for the _meta that revision 2026-07-28 demands of every request. Where progress is
// not nil, Request sends a progress token. When a server of that revision asks for input, Request answers it (see
// Answers); if it asks for something that was not offered, Request returns that answer.
//
// The error is ctx's, a *Failure where the server ended, an *InputError, or an
// *exec.MalformedError where the answer is broken.
func (r *requester) Request(
	ctx context.Context, method string, params json.RawMessage, progress func(exec.Progress),
) (*Answer, error) {
	var token int64
	if progress != nil {
		var forget func()
		token, forget = r.progress.expect(progress)
		defer forget()
	}
	return r.send(ctx, method, params, token)
}

// send is Request with a progress token, 0 for none.
func (r *requester) send(ctx context.Context, method string, params json.RawMessage, token int64) (*Answer, error) {
	began := time.Now()
	dressed := r.dressed(params, token)
	var header http.Header
	if r.transport.OverHTTP() {
		header = r.header(method, dressed)
	}
	answer, err := r.inbox.converse(ctx, dressed, func(params json.RawMessage) (*Answer, error) {
		m, err := r.transport.RoundTrip(ctx, method, params, header)
		if err != nil {
			return nil, err
		}
		return answerOf(m), nil
	})
	var input *InputError
	if err != nil && !(errors.As(err, &input) && input.unoffered()) {
		return nil, err
	}
	answer.Took = time.Since(began)
	return answer, nil
}

// Forward sends a request of the client that the server sees in place of toolx, and returns the answer unchanged, also
// one that asks for input. params get the _meta that the agreed revision demands, if they have none. The error is as
// that of Request.
func (r *requester) Forward(ctx context.Context, method string, params json.RawMessage) (wire.Message, error) {
	if rawjson.Get(rawjson.Get(params, "_meta"), mcp.MetaKeyProtocolVersion) == nil {
		params = r.dressed(params, 0)
	}
	return r.transport.RoundTrip(ctx, method, params, r.header(method, params))
}

// NoteTools adds to the session's tools those that the server has listed for its client: their annotations say which
// calls may be repeated, and their schemas which headers repeat parameters.
func (r *requester) NoteTools(tools []*exec.Tool) {
	listed := make(map[string]bool)
	for _, tool := range tools {
		listed[tool.Plain] = true
	}
	all := slices.Clone(tools)
	for _, known := range r.tools.all() {
		if !listed[known.Plain] {
			all = append(all, known)
		}
	}
	r.tools.set(all[:min(len(all), maxNoted)], false)
}

// maxNoted is how many tools NoteTools keeps.
const maxNoted = 10_000

// NextRequest returns the JSON-RPC request that Request would send next with a progress token, or after so many others,
// byte for byte: with its id, and with _meta where the agreed revision is 2026-07-28. It sends nothing.
func (r *requester) NextRequest(method string, params json.RawMessage, after int) (json.RawMessage, error) {
	return rpc.EncodeRequest(r.transport.RPC().UpcomingID()+int64(after), method,
		r.dressed(params, r.progress.last.Load()+1+int64(after)))
}

// dressed returns params in the form in which they are sent: with the _meta of the agreed revision and, where token is
// not 0, a progress token. Members of _meta that are already there stay, and params that are not an object are returned
// unchanged.
func (r *requester) dressed(params json.RawMessage, token int64) json.RawMessage {
	meta := r.meta()
	if token != 0 {
		meta = append(meta, rawjson.NewMember("progressToken", strconv.AppendInt(nil, token, 10)))
	}
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
	fields = slices.DeleteFunc(fields, func(field rawjson.Member) bool { return field.Name == "_meta" })
	return rawjson.Object(append(fields, rawjson.NewMember("_meta", rawjson.Object(members))))
}

// meta returns the members of _meta that the agreed revision demands of every request.
func (r *requester) meta() []rawjson.Member {
	if !r.modern() {
		return nil
	}
	var members []rawjson.Member
	add := func(name string, value any) {
		// These are plain structs: they always encode.
		if encoded, err := rawjson.Marshal(value); err == nil {
			members = append(members, rawjson.NewMember(name, encoded))
		}
	}
	add(mcp.MetaKeyProtocolVersion, r.Protocol)
	add(mcp.MetaKeyClientInfo, r.clientInfo)
	capabilities := r.clientCapabilities
	if r.client == nil {
		capabilities = withTasks(capabilities)
	}
	add(mcp.MetaKeyClientCapabilities, capabilities)
	if level := r.level(); level != "" {
		add(mcp.MetaKeyLogLevel, level)
	}
	return members
}

// header returns the headers that the agreed revision requires on a request over HTTP, or nil. params are those that
// are sent.
func (r *requester) header(method string, params json.RawMessage) http.Header {
	header := standardHeader(r.Protocol, method, params)
	if method != string(mcp.MethodToolsCall) {
		return header
	}
	for name, content := range r.paramHeaders(params) {
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
	if header != nil && rpc.AboutTask(method) { // SEP-2663, Streamable HTTP: Routing Headers
		if id, ok := mcp.EncodeHeaderValue(rawjson.GetText(params, "taskId")); ok {
			header.Set(mcp.HeaderName, id)
		}
	}
	return header
}

// ask encodes params and calls demand; nil means no params.
func (r *requester) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	encoded, err := rpc.EncodeParams(method, params)
	if err != nil {
		return nil, err
	}
	return r.demand(ctx, method, encoded, nil)
}

// notify sends a notification without params.
func (r *requester) notify(ctx context.Context, method mcp.MCPMethod) error {
	notification, err := rpc.NewNotification(string(method), nil)
	if err != nil {
		return err
	}
	r.transport.RPC().Notified()
	return r.transport.Send(ctx, notification)
}

// demand sends a request whose answer must be a result. A JSON-RPC error is returned as an *exec.ToolError with the
// server's own message.
func (r *requester) demand(
	ctx context.Context, method string, params json.RawMessage, progress func(exec.Progress),
) (json.RawMessage, error) {
	answer, err := r.Request(ctx, method, params, progress)
	return r.result(method, answer, err)
}

// result returns the result in what came of a request, or why there is none.
func (r *requester) result(method string, answer *Answer, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		if visit := r.inbox.unvisited(answer.Error); visit != nil {
			return nil, visit
		}
		return nil, rpcError(answer.Error)
	case asksForInput(answer.Result):
		return nil, r.unoffered(answer.Result)
	case isTask(answer.Result) && r.modern() && method != string(mcp.MethodToolsCall):
		return nil, &exec.MalformedError{What: "the reply to " + method, Reason: errors.New("it is a task")}
	}
	return answer.Result, nil
}

// unoffered returns the error for a result that asks for input that toolx did not offer.
func (r *requester) unoffered(result json.RawMessage) error {
	for request := range rawjson.Each(rawjson.Get(result, "inputRequests")) {
		if method := methodOf(request.Value); r.inbox.handler(method) == nil {
			return &InputError{Server: r.Name, Method: method}
		}
	}
	return &InputError{Server: r.Name, Err: errors.New("it asks for nothing")}
}

// pages reads a list to its end, page by page, and returns the elements of the named
// member, byte for byte. A server that does not know the method has an empty list.
func (r *requester) pages(ctx context.Context, method, member string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	pages := r.newPager(method)
	for {
		params := map[string]any{} // some servers fail where there are none
		if pages.cursor != nil {
			params["cursor"] = pages.cursor
		}
		result, err := r.ask(ctx, method, params)
		var refused *exec.ToolError
		if errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND {
			r.keeping.listed(member, all, terms{})
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
			r.keeping.listed(member, all, pages.terms)
			return all, nil
		}
	}
}

// Ping checks that the server responds: with ping, or server/discover if the agreed revision has no ping.
func (r *requester) Ping(ctx context.Context) (json.RawMessage, error) {
	if r.modern() {
		return r.ask(ctx, string(mcp.MethodServerDiscover), map[string]any{})
	}
	return r.ask(ctx, string(mcp.MethodPing), nil)
}

// SetLevel asks the server for log messages of a level (debug to emergency) and more severe ones. Revision 2026-07-28
// has no request for it: there, each later request carries the level.
func (r *requester) SetLevel(ctx context.Context, level string) error {
	if !r.modern() {
		if _, err := r.ask(ctx, string(mcp.MethodSetLogLevel), map[string]any{"level": level}); err != nil {
			return err
		}
	}
	r.levelMu.Lock()
	defer r.levelMu.Unlock()
	r.logLevel = level
	return nil
}

// level returns the level of log messages that was asked for, empty where none was.
func (r *requester) level() string {
	r.levelMu.Lock()
	defer r.levelMu.Unlock()
	return r.logLevel
}

// startError turns an error of a request of the start into a Failure; the transport's own failures pass unchanged.
func (r *requester) startError(method mcp.MCPMethod, err error) error {
	var failure *diagnose.Failure
	if errors.As(err, &failure) {
		return failure
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var malformed *exec.MalformedError
	if errors.As(err, &malformed) {
		err = malformed.Reason // the rest stands in the failure
	}
	failure = r.transport.NewFailure(diagnose.EndingMalformed)
	failure.Waiting, failure.Reason = string(method), exec.PlainJSONError(err)
	var refused *exec.ToolError
	if errors.As(err, &refused) {
		failure.Ending, failure.Reason = diagnose.EndingRefused, refused
	}
	return failure
}

// modern reports whether the agreed revision is 2026-07-28 or later, which has tasks as an extension.
func (r *requester) modern() bool { return mcp.IsModernProtocol(r.Protocol) }

func (r *requester) notice(level slog.Level, text string) {
	r.bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Text: text, Server: r.Name})
}
