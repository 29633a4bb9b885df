package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func rpcVersion() Check {
	return Check{
		ID: "rpc-version", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: `a message lacks "jsonrpc": "2.0"`,
		Ask:   askRPCVersion,
		Page: Page{
			Why: "Every message says \"jsonrpc\": \"2.0\". Clients that check it, which are most, drop a message without it: " +
				"the request waits until its time is up.",
			Bad:    `{"id":1,"result":{}}`,
			Good:   `{"jsonrpc":"2.0","id":1,"result":{}}`,
			Fix:    []string{`in the server: put "jsonrpc": "2.0" into every message, or let an SDK write them`},
			Breaks: []string{"clients of the TypeScript SDK drop the message and wait for 60 s"},
			Source: "JSON-RPC 2.0 §4; MCP 2025-11-25, basic, messages",
		},
	}
}

func askRPCVersion(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassNoVersion, func(_ *Run, odd servers.OddFrame) string {
		if version := memberAt(odd.Bytes, "jsonrpc"); version != nil {
			return "jsonrpc is " + cutJSON(version)
		}
		return "jsonrpc is missing: " + cutJSON(odd.Bytes)
	})
}

func rpcBatch() Check {
	return Check{
		ID: "rpc-batch", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "messages come in an array",
		Ask:   askBatch,
		Page: Page{
			Why: "JSON-RPC has batches, and MCP had them in the revision 2025-03-26 only: 2025-06-18 took them out again. " +
				"Clients expect one object on each line.",
			Bad:    `[{"jsonrpc":"2.0","id":1,"result":{}}]`,
			Good:   `{"jsonrpc":"2.0","id":1,"result":{}}`,
			Fix:    []string{"in the server: write each message on a line of its own"},
			Breaks: []string{"the SDKs of the revisions since 2025-06-18 drop the line or end the session"},
			Source: "MCP 2025-06-18, changelog: batching removed",
		},
	}
}

func askBatch(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		for _, line := range EventsOf[servers.PollutedLine](run) {
			if line.Class != servers.ClassBatch {
				continue
			}
			found = append(found, Finding{
				Where:    &Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: exec.Milliseconds(line.Since)},
				Evidence: cutJSON(line.Text),
				Notes:    []string{fmt.Sprintf("%d in the array", line.Salvaged)},
			})
		}
	}
	return alike(found)
}

func rpcShape() Check {
	return Check{
		ID: "rpc-shape", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "an answer has the wrong form",
		Ask:   askShape,
		Page: Page{
			Why: "An answer has either a result, which in MCP is an object, or an error with a whole number as code and a " +
				"text as message. Clients that check this drop any other answer, and its request waits until its time is up.",
			Bad:    `{"jsonrpc":"2.0","id":1,"error":"it broke"}`,
			Good:   `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"it broke"}}`,
			Fix:    []string{"in the server: answer with one of result (an object) and error (code and message)"},
			Breaks: []string{"clients of the TypeScript SDK drop the answer and wait for 60 s"},
			Source: "JSON-RPC 2.0 §5, §5.1; MCP 2025-11-25, basic, responses",
		},
	}
}

func askShape(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.head.method != "" {
			continue
		}
		for _, fault := range shapeFaults(m) {
			where := m.where()
			where.Pointer = fault.pointer
			found = append(found, Finding{Title: fault.title, Where: where, Evidence: cutJSON(m.event.Bytes)})
		}
	}
	for _, run := range e.Runs() {
		for _, line := range EventsOf[servers.PollutedLine](run) {
			if line.Class == servers.ClassBadShape {
				found = append(found, Finding{
					Title:    "a message is neither request, notification nor answer",
					Where:    &Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: exec.Milliseconds(line.Since)},
					Evidence: cutJSON(line.Text),
				})
			}
		}
	}
	return alike(found)
}

// shapeFault is something wrong with an answer's form.
type shapeFault struct{ title, pointer string }

func shapeFaults(m received) []shapeFault {
	result, failure := m.head.result, m.head.err
	var faults []shapeFault
	switch {
	case result == nil && failure == nil:
		return []shapeFault{{"an answer has neither result nor error", ""}}
	case result != nil && failure != nil:
		faults = append(faults, shapeFault{"an answer has both result and error", ""})
	}
	if result != nil && !isObject(result) {
		faults = append(faults, shapeFault{"a result is no object", "/result"})
	}
	if failure == nil {
		return faults
	}
	if !isObject(failure) {
		return append(faults, shapeFault{"an error is no object", "/error"})
	}
	if _, ok := errorCode(failure); !ok {
		faults = append(faults, shapeFault{"an error's code is no whole number", "/error/code"})
	}
	if !rawjson.IsString(memberAt(failure, "message")) {
		faults = append(faults, shapeFault{"an error has no message", "/error/message"})
	}
	return faults
}

func rpcNotMCP() Check {
	return Check{
		ID: "rpc-not-mcp", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "a message has a method that MCP does not define",
		Ask:   askNotMCP,
		Page: Page{
			Why: "The line is JSON-RPC, and no MCP: often a logger of another protocol. A request of that kind waits for an " +
				"answer that no client gives; strict clients end the session.",
			Bad:    `{"jsonrpc":"2.0","method":"log","params":["ready"]}`,
			Good:   `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}`,
			Fix:    []string{"in the server: log on stderr, or with notifications/message and the logging capability"},
			Breaks: []string{"strict clients; seen in @twilio-alpha/mcp"},
			Source: "MCP 2025-11-25, basic, messages; schema: ServerRequest, ServerNotification",
		},
	}
}

// isServersMethod says whether any revision of MCP has a message of that method from
// the server to the client.
func isServersMethod(method string) bool {
	switch method {
	case "ping", "roots/list", "sampling/createMessage", "elicitation/create",
		"tasks/get", "tasks/result", "tasks/list", "tasks/cancel",
		"notifications/cancelled", "notifications/progress", "notifications/message",
		"notifications/resources/updated", "notifications/resources/list_changed",
		"notifications/tools/list_changed", "notifications/prompts/list_changed",
		"notifications/elicitation/complete", "notifications/tasks/status",
		"notifications/subscriptions/acknowledged":
		return true
	}
	return false
}

func askNotMCP(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		method := m.head.method
		if method == "" || isServersMethod(method) || m.isEcho() {
			continue
		}
		f := Finding{Where: m.where(), Evidence: cutJSON(m.event.Bytes)}
		if m.head.id == "" && strings.HasPrefix(method, "notifications/") {
			// One of its own kind: clients must ignore notifications that they do not know.
			f.Severity = Info
		}
		found = append(found, f)
	}
	return alike(found)
}

// isEcho says whether the message is one of toolx's own that came back: stdout-echo
// tells.
func (m received) isEcho() bool {
	for _, x := range m.run.Exchanges {
		if x.ID == m.head.id && x.Method == m.head.method {
			return true
		}
	}
	return false
}

func rpcServerRequest() Check {
	return Check{
		ID: "rpc-server-request", Severity: Info, Group: GroupRPC, Need: NeedProcess,
		Title: "the server sends requests to the client",
		Ask:   askServerRequest,
		Page: Page{
			Why: "Before 2026-07-28 a server may ask its client, for what the client has declared: sampling, roots, " +
				"elicitation. A client without that answers -32601, and a server that cannot go on then is of no use to it. " +
				"From 2026-07-28 on servers must not write requests at all.",
			Bad:  "← {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"sampling/createMessage\",…}   (the client declared no sampling)",
			Good: "The server looks at the client's capabilities and asks for nothing else.",
			Fix: []string{
				"in the server: ask only for what the client's capabilities name, and go on without it",
				"in the server, from 2026-07-28 on: answer with resultType \"input_required\" instead",
			},
			Source: "MCP 2026-07-28, basic/transports/stdio: the server MUST NOT write requests; MCP 2025-11-25, basic/lifecycle, operation",
		},
	}
}

func askServerRequest(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.head.method == "" || m.head.id == "" || !isServersMethod(m.head.method) {
			continue
		}
		f := Finding{Where: m.where(), Evidence: cutJSON(m.event.Bytes)}
		switch {
		case e.modern():
			f.Severity = Error
			f.Title = "the server sends requests, which 2026-07-28 forbids"
		case m.head.method != "ping":
			f.Title = "the server asks for " + m.head.method + ", which the client has not declared"
			f.Notes = []string{"toolx answered -32601"}
		}
		found = append(found, f)
	}
	return alike(found)
}

func rpcErrorCodeReserved() Check {
	return Check{
		ID: "rpc-error-code-reserved", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "an error has a code that is reserved",
		Ask:   askErrorCodeReserved,
		Page: Page{
			Why: "MCP keeps the codes from -32020 to -32099 for itself, and clients act on those that it defines. A code of " +
				"one's own in that range can get a meaning that was never meant.",
			Bad:    `{"code": -32050, "message": "quota used up"}`,
			Good:   `{"code": -32603, "message": "quota used up"}`,
			Fix:    []string{"in the server: use -32603, a code from -32000 to -32019, or one outside of -32768 to -32000", "for a tool that fails: answer with a result that has isError, not with an error"},
			Source: "MCP 2026-07-28, basic, error codes",
		},
	}
}

func askErrorCodeReserved(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		code, ok := errorCode(m.head.err)
		if !ok || m.head.method != "" {
			continue
		}
		f := Finding{Where: m.where(), Evidence: fmt.Sprintf("code %d: %s", code, cut(rawjson.Unquote(memberAt(m.head.err, "message"))))}
		f.Where.Pointer = "/error/code"
		switch {
		case isReserved(code):
			found = append(found, f)
		case e.modern() && code <= -32000 && code >= -32019:
			f.Severity = Info
			f.Title = "an error has a code from the range of older implementations"
			found = append(found, f)
		}
	}
	return alike(found)
}

// isReserved says whether a code lies in MCP's own range and is none of those that
// a revision defines.
func isReserved(code int64) bool {
	const (
		first, last       = -32020, -32099
		headerMismatch    = -32020
		missingCapability = -32021
		unsupported       = -32022
		urlElicitation    = -32042 // 2025-11-25
	)
	switch code {
	case headerMismatch, missingCapability, unsupported, urlElicitation:
		return false
	}
	return code <= first && code >= last
}

func rpcParseErrorSurvival() Check {
	return Check{
		ID: "rpc-parse-error-survival", Severity: Warning, Group: GroupRPC, Need: NeedProbe,
		Title: "server does not survive a line that is not JSON",
		Ask:   askParseErrorSurvival,
		Page: Page{
			Why: "One bad line on stdin, such as a stray print of a wrapper, must not cost the session. All of 167 real " +
				"servers go on: most pass over it, some answer -32700.",
			Bad:    "→ this line is not JSON-RPC\nexit status 1",
			Good:   "→ this line is not JSON-RPC\n← {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}",
			Fix:    []string{"in the server: answer -32700 with a null id, or pass over the line, and read on"},
			Source: "JSON-RPC 2.0 §5.1: parse error",
		},
	}
}

func askParseErrorSurvival(e *Evidence) []Finding {
	run := e.probing()
	sent := run.Marks["garbage"]
	if !run.livedUntilGarbage() {
		return nil
	}
	sign := run.after("garbage", "ping")
	if sign == nil {
		sign = run.after("garbage", "server/discover")
	}
	if sign.answered() || sign != nil && sign.late {
		return nil
	}
	if run.answeredGarbage() || e.Clean.died() != nil && e.Clean.unanswered() == nil {
		return nil // it survived the line; or it ends by itself, with or without one
	}
	f := Finding{Where: &Where{Run: run.Name, MS: run.Since(sent)}, Evidence: "after the line, nothing was answered any more"}
	if died := run.died(); died != nil {
		f.Evidence = fmt.Sprintf("after the line, the server ended: %s", died.How)
		f.Notes = lastWords(died)
	}
	return sole(f)
}

// answeredGarbage says whether the server answered the line that is no JSON.
func (r *Run) answeredGarbage() bool {
	return slices.ContainsFunc(EventsOf[servers.OddFrame](r), func(odd servers.OddFrame) bool { return answersGarbage(r, odd.Bytes) })
}

// unanswered is a request that was never answered, nil where all were.
func (r *Run) unanswered() *Exchange {
	for _, x := range r.Exchanges {
		if x.Frame == nil {
			return x
		}
	}
	return nil
}

// memberText is a member's text, or its JSON where it is none.
func memberText(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return cutJSON(value)
}
