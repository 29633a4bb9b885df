package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// login lets the user log in, once for all requests that need it.
type login struct {
	*bridge
	mu   sync.Mutex // guards what follows
	last *attempt
	// provisional reports that the client was greeted in place of the server, and told that it has been told that the
	// server can be used.
	provisional, told bool
}

// attempt is a login that has begun.
type attempt struct {
	id      string
	visit   chan struct{} // closed when there is a login page that no browser has opened
	done    chan struct{} // closed when the login has ended
	err     error         // set before done is closed
	address string        // of the login page; guarded by login.mu, as is what follows
	opened  bool          // a browser has opened a login page, perhaps of another process
}

// loginWait is how long a request waits for a login in the browser. Clients wait for a response for a minute.
const loginWait = 45 * time.Second

// needsLogin reports whether an error says that a login would help.
func needsLogin(err error) bool {
	needs, ok := errors.AsType[interface {
		error
		NeedsLogin() bool
	}](err)
	return ok && needs.NeedsLogin()
}

// serve runs do, and runs it again after a login where one is needed.
func (l *login) serve(ctx context.Context, do func() error) error {
	err := do()
	if err == nil {
		l.tellUsable()
	}
	if l.Login == nil || !needsLogin(err) {
		return err
	}
	a := l.attempt()
	timer := time.NewTimer(loginWait)
	defer timer.Stop()
	select {
	case <-a.done:
		if a.err != nil {
			return &loginFailed{cause: err, err: a.err}
		}
		return do()
	case <-a.visit:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &loginPending{id: a.id, address: a.address, opened: a.opened, cause: err}
}

// attempt returns the login that is under way, and begins one if there is none.
func (l *login) attempt() *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last
	if before != nil && !wire.Closed(before.done) {
		return before
	}
	a := &attempt{
		id:    fmt.Sprintf("toolx-login-%d", time.Now().UnixNano()),
		visit: make(chan struct{}), done: make(chan struct{}),
	}
	l.last = a
	l.going.Go(func() {
		a.err = l.Login(l.life, func(address string, opened bool) { l.show(a, address, opened) })
		close(a.done)
		again := before != nil && before.err != nil && a.err != nil && before.err.Error() == a.err.Error()
		switch {
		case a.err == nil:
			l.loggedIn(a)
		case l.life.Err() == nil && !again:
			l.notice(slog.LevelWarn, a.err.Error())
		}
	})
	return a
}

// show notes the login page. If no browser has opened it, it is shown on stderr, and to a client that can open it.
func (l *login) show(a *attempt, address string, opened bool) {
	l.mu.Lock()
	a.address, a.opened = address, opened
	l.mu.Unlock()
	required := fmt.Sprintf("server %q requires a login: ", l.Server.Name)
	switch {
	case address == "":
		l.notice(slog.LevelWarn, required+"another toolx process is waiting for it")
	case !opened:
		l.notice(slog.LevelWarn, required+"open "+address)
		close(a.visit)
		l.askToVisit(a, address)
	}
}

// askToVisit asks a client of the older era to open a login page.
func (l *login) askToVisit(a *attempt, address string) {
	if l.introduced().Modern() || !l.visits() {
		return
	}
	l.going.Go(func() {
		ctx, cancel := context.WithCancel(l.life)
		defer cancel()
		go func() {
			defer cancel()
			wire.WaitFor(ctx, a.done, time.Hour)
		}()
		// The login, and not the answer, decides.
		_, _ = l.client.ask(ctx, string(mcp.MethodElicitationCreate), elicitation(a.id, address))
	})
}

// visits reports whether the client lets its user visit pages.
func (l *login) visits() bool {
	elicitation := l.introduced().Capabilities.Elicitation
	return elicitation != nil && elicitation.URL != nil
}

// elicitation returns the params of the request to visit a login page (MCP 2025-11-25, client/elicitation, URL mode).
func elicitation(id, address string) json.RawMessage {
	return rawjson.Build("mode", "url", "message", "Log in to the server to use its tools.", "url", address,
		"elicitationId", id)
}

// loggedIn tells the client that a login has succeeded.
func (l *login) loggedIn(a *attempt) {
	if wire.Closed(a.visit) && l.visits() && !l.introduced().Modern() {
		l.client.tell(notification(string(mcp.MethodNotificationElicitationComplete),
			rawjson.Build("elicitationId", a.id)))
	}
	l.tellUsable()
}

// tellUsable tells a client with a provisional greeting once that the server can be used now.
func (l *login) tellUsable() {
	l.mu.Lock()
	tell := l.provisional && !l.told
	l.told = l.told || tell
	l.mu.Unlock()
	if !tell {
		return
	}
	for _, method := range []string{
		mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged,
		mcp.MethodNotificationPromptsListChanged,
	} {
		if m := notification(method, nil); !l.introduced().Modern() || !l.newer.feeding(m) {
			l.client.tell(m)
		}
	}
}

// greeting greets the client in place of a server that requires a login, so that it need not be restarted
// after the login.
func (l *login) greeting(err error) wire.Message {
	client := l.introduced()
	l.mu.Lock()
	l.provisional = true
	l.mu.Unlock()
	const changes = `{"listChanged":true}`
	capabilities := json.RawMessage(`{"tools":` + changes + `,"prompts":` + changes +
		`,"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}`)
	info := rawjson.Build("name", l.Server.Name, "version", l.Version)
	instructions := rawjson.Quote(failedText(err))
	if client.Modern() {
		return resultMessage(newerGreeting(capabilities, info, instructions))
	}
	return resultMessage(olderGreeting(client.Protocol, capabilities, info, instructions))
}

// emptyList returns an empty list in place of the error of a server that does not have what its provisional greeting
// promised; any other response is unchanged.
func (l *login) emptyList(method string, m wire.Message) wire.Message {
	l.mu.Lock()
	provisional := l.provisional
	l.mu.Unlock()
	list, isList := strings.CutSuffix(method, "/list")
	if !provisional || !isList || m.Err == nil || rpc.ErrorDetails(m.Err).Code != mcp.METHOD_NOT_FOUND {
		return m
	}
	if list == "resources/templates" {
		list = "resourceTemplates"
	}
	result := rawjson.Build(list, json.RawMessage("[]"))
	if l.introduced().Modern() {
		result = completed(method, result)
	}
	return resultMessage(result)
}

// loginFailed says that a login which was needed has failed.
type loginFailed struct{ cause, err error }

func (e *loginFailed) Error() string { return "login failed: " + e.err.Error() }

// Unwrap returns why a login was needed.
func (e *loginFailed) Unwrap() error { return e.cause }

// Hint returns what to do about the failure, or the command to log in with.
func (e *loginFailed) Hint() string { return cmp.Or(fault.HintOf(e.err), fault.HintOf(e.cause)) }

// loginPending says that a login waits for the user.
type loginPending struct {
	id, address string // of the login page; no address if there is none yet
	opened      bool   // a browser has opened a login page
	cause       error
}

func (e *loginPending) Error() string {
	text := e.cause.Error()
	switch {
	case e.address != "":
		return text // with the address, the command could be out of sight
	case e.opened:
		return text + "; another toolx process is waiting for the login"
	}
	return fmt.Sprintf("%s; no login page within %s, because the authorization server is slow", text, loginWait)
}

// Unwrap returns why a login is needed, which has the command to run.
func (e *loginPending) Unwrap() error { return e.cause }

// codeVisitFirst is the code of an error that names pages to visit (MCP 2025-11-25, client/elicitation,
// URLElicitationRequiredError).
const codeVisitFirst = -32042

// message returns the response to a request that no longer waits for the login; there is a login page.
func (e *loginPending) message() wire.Message {
	data := rawjson.Build("kind", string(fault.KindAuth), "hint", fault.HintOf(e.cause), "url", e.address,
		"elicitations", rawjson.Array([]json.RawMessage{elicitation(e.id, e.address)}))
	return errorMessage(codeVisitFirst, failedText(e)+"; or open "+e.address, data)
}

// asksToVisit reports whether the client gets a request to visit the login page as the result of its request.
func (l *login) asksToVisit(c *call) bool {
	return takesInput(c.Method) && l.introduced().Modern() && l.visits() && !c.visited
}

// loginState marks a request that is repeated after the login page was visited.
const loginState = "toolx-login"

// inputRequired returns the result that asks the client to visit the login page, and to repeat its request.
func (e *loginPending) inputRequired() wire.Message {
	request := rawjson.Build("method", string(mcp.MethodElicitationCreate),
		"params", rawjson.With(elicitation(e.id, e.address), "elicitationId", nil))
	return resultMessage(rawjson.Build("resultType", "input_required", "inputRequests",
		rawjson.Build("login", request), "requestState", loginState))
}

// afterVisit takes what the visit to the login page has added to a request that is repeated away again.
func (c *call) afterVisit() {
	if rawjson.GetText(c.Params, "requestState") == loginState {
		c.Params = rawjson.With(rawjson.With(c.Params, "requestState", nil), "inputResponses", nil)
		c.visited = true
	}
}
