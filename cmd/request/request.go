// Package request sends requests to servers, and prints results.
package request

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// Request is a verb's request to one server.
type Request struct {
	// Name is the name of the resource, prompt or method, without its server. has reports whether a session has it; it
	// is nil if that is unknown.
	Name string
	Has  func(context.Context, *protocol.Session) (bool, error)
	// Kinds are the lists in which has looks, and kept reports whether an earlier list has it.
	Kinds []catalog.Kind
	Kept  func(*catalog.List) bool
	What  string // "resource", "prompt": for errors
	// Near returns the most similar name among those that has has seen, for misspelt names; nil means no suggestions.
	Near   func(name string) string
	Method string
	// Server is the server's name if it is separate from Name.
	Server string
	// Prepare returns the arguments, once there is a session; it may be nil.
	Prepare func(context.Context, Target) (json.RawMessage, error)
	Send    func(context.Context, Target) (json.RawMessage, error)
	Read    func(json.RawMessage) (exec.Parts, error)
	// Text writes a success in the text format; nil leaves it to render.Result.
	Text func(io.Writer, *exec.Result) error
	// Show prints the result, success or failure; nil leaves it to the formats.
	Show func(*exec.Result) error
}

// Target is the server of a request, and the request's name there.
type Target struct {
	Box       *toolset.Set
	Session   *protocol.Session
	Plain     string // the request's name without the server's
	Arguments json.RawMessage
	Progress  func(exec.Progress)
}

// Sender sends requests and prints the responses.
type Sender struct {
	Tools     *toolset.Opener
	Printer   *Printer
	Corrector *correct.Corrector
}

// Send makes a request and prints the response. Every failure is a Result, as for call.
func (s *Sender) Send(ctx context.Context, o ReplyFlags, r Request) error {
	began := time.Now()
	if o.Output != "text" || o.Jq != "" {
		r.Text = nil
	}
	jq, err := render.CompileJQ(o.Jq)
	if err != nil {
		return exit.Usage(err)
	}
	box, err := s.Tools.Open(toolset.Options{
		Server: o.Server, ReportFailures: true, Answers: &o.Answers, KeepAlive: true,
	})
	if err == nil && !o.Whole() {
		o.limit, err = s.Printer.Limit(o.MaxOutput, box.Config())
		if r.Text == nil { // otherwise the text is cut instead of its JSON
			box.Executor.Defaults.MaxOutput = o.limit
		}
	}
	if err != nil {
		return s.Printer.PrintReply(ctx, &exec.Result{ToolName: r.Name, Err: err}, o, r, jq)
	}
	box.AllowLogin(r.Name)
	if r.Server != "" {
		box.AllowLogin(r.Server + exec.Separator)
	}
	stop := s.Tools.ShowProgress(r.Name)
	defer stop()
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: cmp.Or(r.Name, r.Method), Request: true})
	defer done()
	result := MakeRequest(bounded, box, r, began)
	result.Err = s.Corrector.Explain(result.Err, s.Tools.Line.Args)
	box.AddStartTiming(result)
	stop()
	return s.Printer.PrintReply(bounded, result, o, r, jq)
}

// MakeRequest opens the server and sends the request.
func MakeRequest(ctx context.Context, b *toolset.Set, r Request, began time.Time) *exec.Result {
	session, plain, err := sessionFor(ctx, b, r)
	to := Target{Box: b, Session: session, Plain: plain}
	if err == nil && r.Prepare != nil {
		began = time.Now() // EXEC-12: without the server's start
		to.Arguments, err = r.Prepare(ctx, to)
	}
	if err != nil {
		err = cmp.Or(toolset.GaveUp(ctx, "", ""), err)
		rejected := exec.Operation{Name: r.Name, Method: r.Method}
		if session != nil {
			rejected.Server = session.Name
		}
		return b.Executor.RejectOperation(rejected, began, err)
	}
	name := session.Name + exec.Separator + plain
	if plain == "" || r.Server != "" {
		name = cmp.Or(plain, r.Method)
	}
	return b.Executor.Do(ctx, exec.Operation{
		Name: name, Server: session.Name, Method: r.Method, Arguments: to.Arguments, Read: r.Read,
		Timeout: b.Flags.Timeout, MaxTime: b.Flags.MaxTime,
		Run: func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			to.Progress = progress
			return r.Send(ctx, to)
		},
	})
}

// sessionFor opens the server of a request: the one in its name, the only configured one, or the only one that has the
// name. plain is the name without the server's.
func sessionFor(ctx context.Context, b *toolset.Set, r Request) (session *protocol.Session, plain string, err error) {
	wanted, _, found := strings.Cut(r.Name, exec.Separator)
	if !found || r.Server != "" {
		wanted = r.Server
	}
	if err := b.NeedServers(wanted); err != nil {
		return nil, r.Name, err
	}
	known := b.Pool.Names()
	named := exec.ServerOf(r.Name, known)
	server, plain := r.Server, r.Name
	switch {
	case server != "":
		err = b.Pool.Known(server)
	case named != "":
		server, plain = named, strings.TrimPrefix(r.Name, named+exec.Separator)
	case len(known) == 1:
		server = known[0]
	default:
		server, err = ownerOf(ctx, b, r)
	}
	if err != nil {
		return nil, plain, err
	}
	session, err = b.Pool.Open(ctx, server)
	return session, plain, err
}

// ownerOf finds the only server that has a plain name. It asks the servers that had the name when they were last
// listed, or all if there are none or none has it now.
func ownerOf(ctx context.Context, b *toolset.Set, r Request) (string, error) {
	missing := &missingError{what: r.What, name: r.Name, servers: b.Pool.Names()}
	owners, others := keptOwners(b, r)
	asked := make(map[string]bool)
	var failure error
	askAll := func(opened []servers.Opened) {
		opened = slices.DeleteFunc(opened, func(one servers.Opened) bool { return asked[one.Server] })
		for _, one := range opened {
			asked[one.Server] = true
		}
		failure = cmp.Or(failure, askOwners(ctx, b, r, missing, opened))
	}
	for _, names := range [][]string{owners, slices.Concat(owners, others)} {
		if len(missing.candidates) > 0 || len(names) == 0 {
			continue
		}
		tried, err := b.Pool.OpenTried(ctx, names...)
		if err != nil {
			return "", err
		}
		askAll(tried)
	}
	if all := slices.Concat(owners, others); len(missing.candidates) == 0 && len(asked) < len(all) {
		askAll(b.Pool.OpenAll(ctx, all...)) // only a server that is retrying can have it
	}
	down := slices.IndexFunc(missing.unreached, func(one servers.Opened) bool {
		return slices.Contains(owners, one.Server)
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(missing.candidates) == 1:
		return missing.candidates[0], nil
	case len(missing.candidates) == 0 && failure != nil:
		return "", failure
	case len(missing.candidates) == 0 && down >= 0:
		return "", missing.unreached[down].Err
	case len(missing.unreached) == len(missing.servers):
		return "", missing.unreached[0].Err // that server may have it
	}
	if r.Near != nil {
		missing.near = r.Near(r.Name)
	}
	return "", missing
}

// keptOwners returns the servers that had the requested name when they were last listed, and others that may have it
// now. If the name starts with that of an unknown server, it leaves out servers whose lists have no such names. It
// logs which servers are not asked at first, or at all.
func keptOwners(b *toolset.Set, r Request) (owners, others []string) {
	var unknown, left []string
	prefix, _, found := strings.Cut(r.Name, exec.Separator)
	prefixed := found && !strings.Contains(prefix, "/") // else a URI
	for _, name := range b.Pool.Names() {
		has, known, alike := false, false, false
		kept := stores.Catalog().Read(b.Server(name).Identity())
		for _, kind := range r.Kinds {
			if list := kept.List(kind); list != nil {
				known = true
				has = has || r.Kept(list)
				alike = alike || list.Begins(prefix+exec.Separator)
			}
		}
		switch {
		case has:
			owners = append(owners, name)
		case known && prefixed && !alike:
			left = append(left, name)
		case known:
			others = append(others, name)
		default:
			others, unknown = append(others, name), append(unknown, name)
		}
	}
	if len(owners) > 0 {
		others = append(others, left...) // a server has such names
	}
	switch {
	case len(owners) > 0 && len(unknown) > 0:
		const text = "according to the catalogues, %s belongs to %s; not asked, because they have no catalogue: %s"
		b.Out.Log.Info(fmt.Sprintf(text, r.Name, strings.Join(owners, ", "), strings.Join(unknown, ", ")))
	case len(owners) == 0 && len(left) > 0:
		const text = "not asked for %s, because their catalogues have no %s whose name starts with %s: %s"
		b.Out.Log.Info(fmt.Sprintf(text, r.Name, r.What, prefix+exec.Separator, strings.Join(left, ", ")))
	}
	return owners, others
}

// askOwners asks servers in parallel whether they have the requested name. It records those that do as candidates, and
// those that are not running as unreached. The error comes from the first running server that does not answer.
func askOwners(ctx context.Context, b *toolset.Set, r Request, missing *missingError, opened []servers.Opened) error {
	has, errs := make([]bool, len(opened)), make([]error, len(opened))
	var wait sync.WaitGroup
	for i, one := range opened {
		if one.Err != nil {
			missing.unreached = append(missing.unreached, one)
			continue
		}
		wait.Go(func() {
			ask := func(ctx context.Context) (bool, error) { return r.Has(ctx, one.Session) }
			has[i], errs[i] = exec.Within(ctx, b.Executor, "list of "+r.What+"s", ask)
		})
	}
	wait.Wait()
	for i, one := range opened {
		if has[i] {
			missing.candidates = append(missing.candidates, one.Server)
		}
	}
	return cmp.Or(errs...)
}

// missingError reports that no server, or more than one, has the requested name.
type missingError struct {
	what, name string
	candidates []string
	servers    []string
	near       string           // the name that was probably meant; may be empty
	unreached  []servers.Opened // servers that could not be asked
}

func (e *missingError) Error() string {
	what := strings.ToUpper(e.what[:1]) + e.what[1:]
	if len(e.candidates) > 0 {
		return fmt.Sprintf("%s '%s' is ambiguous: %s", what, e.name, strings.Join(e.qualified(e.candidates), ", "))
	}
	asked := slices.DeleteFunc(slices.Clone(e.servers), func(name string) bool {
		return slices.ContainsFunc(e.unreached, func(one servers.Opened) bool { return one.Server == name })
	})
	return fmt.Sprintf("%s '%s' not found on %s", what, e.name, strings.Join(asked, ", "))
}

// Details returns a line for each server that could not be reached.
func (e *missingError) Details() []string {
	details := make([]string, len(e.unreached))
	for i, one := range e.unreached {
		details[i] = fmt.Sprintf("server '%s' could not be reached: %s", one.Server, words.FirstLine(one.Err.Error()))
	}
	return details
}

// Kind implements the interface that fault.KindOf looks for.
func (e *missingError) Kind() fault.Kind { return fault.KindNotFound }

// Hint returns the full name, or how to list the names.
func (e *missingError) Hint() string {
	switch {
	case len(e.candidates) > 0:
		return "use the full name: " + e.qualified(e.candidates)[0]
	case e.near != "":
		return "did you mean: " + e.near
	}
	return fmt.Sprintf("toolx %ss list shows all names; %s asks that server directly",
		e.what, e.qualified(e.servers)[0])
}

// qualified returns the name with each server before it.
func (e *missingError) qualified(servers []string) []string {
	names := make([]string, len(servers))
	for i, server := range servers {
		names[i] = server + exec.Separator + e.name
	}
	return names
}

// RequestOf returns the JSON-RPC request that a call would send, if after others were sent to its server before. For
// one of toolx's own tools, it is the request that a client of "toolx serve" would send.
func RequestOf(b *toolset.Set, prepared *exec.Prepared, after int) (json.RawMessage, error) {
	if session := b.Pool.Session(prepared.Tool.Server); session != nil {
		params := session.ToolParams(prepared.Tool.Plain, prepared.Arguments)
		return session.NextRequest("tools/call", params, after)
	}
	return rawjson.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1 + after, "method": "tools/call",
		"params": protocol.CallParams(prepared.Tool.Name, prepared.Arguments),
	})
}
