package bridge

import (
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

// login lets a person log in, once for all requests that need it.
type login struct {
	*bridge
	mu   sync.Mutex // guards what follows
	last *attempt
	// provisional reports that the client was greeted in place of the server.
	provisional bool
}

// attempt is a login that has begun.
type attempt struct {
	id      string
	address string        // of the login page; set before shown is closed
	opened  bool          // a browser has opened it; set before shown is closed
	shown   chan struct{} // closed when there is a login page
	done    chan struct{} // closed when the login has ended
	err     error         // set before done is closed
	used    bool          // the login has served a request; guarded by login.mu
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
	if l.Login == nil || !needsLogin(err) {
		if err == nil {
			l.use()
		}
		return err
	}
	a := l.attempt()
	timer := time.NewTimer(loginWait)
	defer timer.Stop()
	for shown := a.shown; ; {
		select {
		case <-a.done:
			if a.err != nil {
				return &loginFailed{cause: err, err: a.err}
			}
			if err = do(); err == nil {
				l.use()
			}
			return err
		case <-shown:
			if !a.opened {
				return &loginPending{attempt: a, cause: err}
			}
			shown = nil
		case <-timer.C:
			return &loginPending{attempt: a, cause: err}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// use notes that the login has served a request: when it is lost, another one may begin.
func (l *login) use() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && wire.Closed(l.last.done) && l.last.err == nil {
		l.last.used = true
	}
}

// attempt returns the login that is under way, and begins one if there is none. Only a login that has served requests,
// or that no browser has shown, is followed by another one, so that no client opens window after window.
func (l *login) attempt() *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.last
	again := a == nil || wire.Closed(a.done) && (a.used || a.err != nil && a.showsOnly())
	if !again {
		return a
	}
	a = &attempt{
		id:    fmt.Sprintf("toolx-login-%d", time.Now().UnixNano()),
		shown: make(chan struct{}), done: make(chan struct{}),
	}
	l.last = a
	l.going.Go(func() {
		a.err = l.Login(l.life, func(address string, opened bool) {
			a.address, a.opened = address, opened
			close(a.shown)
			if !opened {
				l.showAddress(a)
			}
		})
		close(a.done)
		switch {
		case a.err == nil:
			l.loggedIn(a)
		case l.life.Err() == nil:
			l.notice(slog.LevelWarn, a.err.Error())
		}
	})
	return a
}

// showsOnly reports whether there is a login page that no browser has opened.
func (a *attempt) showsOnly() bool { return wire.Closed(a.shown) && !a.opened }

// showAddress shows a login page that no browser has opened: on stderr, and to a client that can.
func (l *login) showAddress(a *attempt) {
	l.notice(slog.LevelWarn, fmt.Sprintf("server %q requires a login: open %s", l.Server.Name, a.address))
	client := l.introduced()
	if client.Modern() || !l.visits() {
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
		_, _ = l.client.ask(ctx, string(mcp.MethodElicitationCreate), a.elicitation())
	})
}

// visits reports whether the client lets its user visit pages.
func (l *login) visits() bool {
	elicitation := l.introduced().Capabilities.Elicitation
	return elicitation != nil && elicitation.URL != nil
}

// elicitation returns the params of the request to visit the login page (MCP 2025-11-25, client/elicitation, URL mode).
func (a *attempt) elicitation() json.RawMessage {
	return rawjson.Build("mode", "url", "message", "Log in to the server to use its tools.", "url", a.address,
		"elicitationId", a.id)
}

// loggedIn tells the client that the server can be used now.
func (l *login) loggedIn(a *attempt) {
	l.mu.Lock()
	provisional := l.provisional
	l.mu.Unlock()
	if a.showsOnly() && l.visits() && !l.introduced().Modern() {
		l.client.tell(notification(string(mcp.MethodNotificationElicitationComplete),
			rawjson.Build("elicitationId", a.id)))
	}
	if !provisional {
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

func (e *loginFailed) Error() string { return fmt.Sprintf("%v; the login failed: %v", e.cause, e.err) }

// Unwrap returns why a login was needed, which has the command to run.
func (e *loginFailed) Unwrap() error { return e.cause }

// loginPending says that a login waits for a person.
type loginPending struct {
	*attempt
	cause error
}

func (e *loginPending) Error() string {
	if !wire.Closed(e.shown) {
		return fmt.Sprintf("%v; another toolx process is waiting for the login", e.cause)
	}
	return fmt.Sprintf("%v; to log in, open %s", e.cause, e.address)
}

// Unwrap returns why a login is needed, which has the command to run.
func (e *loginPending) Unwrap() error { return e.cause }

// codeVisitFirst is the code of an error that names pages to visit (MCP 2025-11-25, client/elicitation,
// URLElicitationRequiredError).
const codeVisitFirst = -32042

// message returns the response to a request that waits for the login no longer.
func (e *loginPending) message() wire.Message {
	if !wire.Closed(e.shown) {
		return failed(&loginFailed{cause: e.cause, err: errors.New("another toolx process is waiting for it")})
	}
	data := rawjson.Build("kind", string(fault.KindAuth), "hint", fault.HintOf(e.cause), "url", e.address,
		"elicitations", rawjson.Array([]json.RawMessage{e.elicitation()}))
	return errorMessage(codeVisitFirst, failedText(e), data)
}

// asksToVisit reports whether the client gets a request to visit the login page as the result of its request.
func (l *login) asksToVisit(c *call) bool {
	switch mcp.MCPMethod(c.Method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
		return l.introduced().Modern() && l.visits() && !c.visited
	}
	return false
}

// loginState marks a request that is repeated after the login page was visited.
const loginState = "toolx-login"

// inputRequired returns the result that asks the client to visit the login page, and to repeat its request.
func (e *loginPending) inputRequired() wire.Message {
	request := rawjson.Build("method", string(mcp.MethodElicitationCreate),
		"params", with(e.elicitation(), "elicitationId", nil))
	return resultMessage(rawjson.Build("resultType", "input_required", "inputRequests",
		rawjson.Build("login", request), "requestState", loginState))
}

// afterVisit takes what the visit to the login page has added to a request that is repeated away again.
func (c *call) afterVisit() {
	if rawjson.GetText(c.Params, "requestState") == loginState {
		c.Params = with(with(c.Params, "requestState", nil), "inputResponses", nil)
		c.visited = true
	}
}
