package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// The limits on a server that asks for input again and again (MCP 2026-07-28, multi round-trip requests).
const (
	maxInputRounds = 20
	// maxEmptyRounds is how often a server may ask for nothing, which means that it is busy. emptyRoundDelay is the
	// first pause before the request is repeated; it doubles.
	maxEmptyRounds  = 4
	emptyRoundDelay = 100 * time.Millisecond
)

// InputError says that a server asks for input that toolx cannot give.
type InputError struct {
	Server string
	Method string // of what it asks for; empty where it asks for too much
	Err    error  // why that was not answered; nil where toolx never offered it
}

func (e *InputError) Error() string {
	switch {
	case e.Method == "":
		return fmt.Sprintf("server %q never stops asking: %v", e.Server, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("server %q asked for %s: %v", e.Server, e.Method, e.Err)
	}
	return fmt.Sprintf("server %q asks for %s, which was not offered to it", e.Server, e.Method)
}

// Unwrap returns the reason, which may be nil.
func (e *InputError) Unwrap() error { return e.Err }

// Kind implements the interface that fault.KindOf looks for: a user who declines makes the call fail, a server that
// asks for what was not offered breaks the protocol.
func (e *InputError) Kind() fault.Kind {
	if e.Method != "" && e.Err != nil {
		return fault.KindTool
	}
	return fault.KindProtocol
}

// Hint says how the request could be answered.
func (e *InputError) Hint() string {
	if !e.unoffered() {
		return ""
	}
	return map[string]string{
		"elicitation/create":     "--elicit answers it; on a terminal you are asked",
		"sampling/createMessage": "--sampling says who answers it",
		"roots/list":             "--root DIR says where the server may work",
	}[e.Method]
}

// unoffered reports whether the server asks for something that toolx did not offer.
func (e *InputError) unoffered() bool { return e.Method != "" && e.Err == nil }

// asksForInput reports whether a result is MCP 2026-07-28's "input_required".
func asksForInput(result json.RawMessage) bool {
	return string(rawjson.Get(result, "resultType")) == `"input_required"`
}

// converse sends a request by send, and repeats it with the answers for as long as the server asks for input. It
// repeats it once more where the server wanted a page to be visited first and the user has done that. It returns the
// last answer. The error is send's, ctx's or an *InputError, which comes with the answer that asks.
func (b *inbox) converse(
	ctx context.Context, params json.RawMessage, send func(params json.RawMessage) (*Answer, error),
) (*Answer, error) {
	defer b.enter(ctx)()
	empty, visited := 0, false
	var answer *Answer
	for range maxInputRounds {
		var err error
		if answer, err = send(params); err != nil {
			return nil, err
		}
		if answer.Error != nil && !visited {
			if visited, err = b.visit(ctx, answer.Error); visited {
				continue
			}
		}
		if err != nil || answer.Error != nil || !asksForInput(answer.Result) {
			return answer, err
		}
		requests, _ := rawjson.Members(rawjson.Get(answer.Result, "inputRequests"))
		if len(requests) == 0 {
			if empty++; empty > maxEmptyRounds {
				break
			}
			if !wire.Waited(ctx, emptyRoundDelay<<(empty-1)) {
				return nil, ctx.Err()
			}
		}
		responses, err := b.answerAll(ctx, requests)
		if err != nil {
			return answer, err
		}
		params = repeated(params, responses, rawjson.Get(answer.Result, "requestState"))
	}
	return answer, &InputError{Server: b.server, Err: fmt.Errorf("%d times for one request", maxInputRounds)}
}

// codeVisitFirst is the error code of a server that wants pages to be visited before it answers (MCP 2025-11-25,
// client/elicitation, URLElicitationRequiredError).
const codeVisitFirst = -32042

// visit asks the user to visit the pages that an error names, and reports whether all of them were visited. An error of
// another kind, or one that the user declines, is left alone.
func (b *inbox) visit(ctx context.Context, failure *mcp.JSONRPCErrorDetails) (visited bool, err error) {
	pages := b.pagesOf(failure)
	if b.answers.Elicit == nil || len(pages) == 0 {
		return false, nil
	}
	defer b.stopClocks()()
	for _, page := range pages {
		page.First = true
		given, err := b.answers.Elicit(ctx, page)
		if err != nil || given.Action != Accept {
			return false, err
		}
	}
	return true, nil
}

// pagesOf returns the pages that an error wants to be visited; none where it is another error, or one of them cannot be
// read.
func (b *inbox) pagesOf(failure *mcp.JSONRPCErrorDetails) []*Elicitation {
	data, err := rawjson.Marshal(failure.Data)
	if err != nil || failure.Code != codeVisitFirst {
		return nil
	}
	var pages []*Elicitation
	for page := range rawjson.EachElement(rawjson.Get(data, "elicitations")) {
		asked, err := readElicitation(b.server, page)
		if err != nil || asked.URL == "" {
			return nil
		}
		pages = append(pages, asked)
	}
	return pages
}

// VisitError reports that a server answers only after pages were visited, where no user could be asked to do that (MCP
// 2025-11-25, client/elicitation, URLElicitationRequiredError).
type VisitError struct {
	Server  string
	Message string   // of the first page
	URLs    []string // of all pages
}

// unvisited returns the error of pages that no user was asked to visit, nil where failure is another one.
func (b *inbox) unvisited(failure *mcp.JSONRPCErrorDetails) *VisitError {
	pages := b.pagesOf(failure)
	if b.answers.Elicit != nil || len(pages) == 0 {
		return nil
	}
	visit := &VisitError{Server: b.server, Message: pages[0].Message}
	for _, page := range pages {
		visit.URLs = append(visit.URLs, page.URL)
	}
	return visit
}

func (e *VisitError) Error() string {
	return fmt.Sprintf("server %q answers only after a visit to %s: %s", e.Server, strings.Join(e.URLs, " and "),
		e.Message)
}

// Kind implements the interface that fault.KindOf looks for: a person has to log in, or do something like it.
func (e *VisitError) Kind() fault.Kind { return fault.KindAuth }

// Hint implements the interface that fault.HintOf looks for.
func (e *VisitError) Hint() string {
	return "visit the page if you trust it, then run the command again"
}

// repeated returns the params of a request with the responses and the server's state of this round in place of those of
// the round before.
func repeated(params json.RawMessage, responses []rawjson.Member, state json.RawMessage) json.RawMessage {
	var answers json.RawMessage
	if len(responses) > 0 {
		answers = rawjson.Object(responses)
	}
	return rawjson.With(rawjson.With(params, "inputResponses", answers), "requestState", state)
}

// answerAll answers the requests of one round in parallel; one that cannot be answered fails the round.
func (b *inbox) answerAll(ctx context.Context, requests []rawjson.Member) ([]rawjson.Member, error) {
	if len(requests) > maxOpen {
		return nil, &InputError{
			Server: b.server,
			Err:    fmt.Errorf("%d requests in one answer, over the limit of %d", len(requests), maxOpen),
		}
	}
	for _, request := range requests { // before the user answers a question for nothing
		if method := methodOf(request.Value); b.handler(method) == nil {
			b.bus.Emit(wire.ServerRequest{Head: wire.Now(b.server), Method: method})
			return nil, &InputError{Server: b.server, Method: method}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	responses := make([]rawjson.Member, len(requests))
	var wait sync.WaitGroup
	for i, request := range requests {
		wait.Go(func() {
			method := methodOf(request.Value)
			b.bus.Emit(wire.ServerRequest{Head: wire.Now(b.server), Method: method, Answered: true})
			result, err := b.handler(method)(ctx, rawjson.Get(request.Value, "params"))
			if err != nil {
				cancel(&InputError{Server: b.server, Method: method, Err: err})
			}
			responses[i] = rawjson.NewMember(request.Name, result)
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return responses, nil
}

func methodOf(request json.RawMessage) string {
	var method string
	// A request without a method is one that was not offered.
	_ = json.Unmarshal(rawjson.Get(request, "method"), &method)
	return method
}
