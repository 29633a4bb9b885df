package doctor

import (
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// listMethods are the lists that a server may have, by the capability that says so.
func listMethods() []struct{ capability, method, member string } {
	return []struct{ capability, method, member string }{
		{"tools", "tools/list", "tools"},
		{"resources", "resources/list", "resources"},
		{"prompts", "prompts/list", "prompts"},
	}
}

// lostAnswers are the checks whose findings explain why a request seems to have no
// answer, or a wrong one.
func lostAnswers() []string {
	return []string{
		"crash-signal", "exit-during-request", "stdout-closed", "stdin-closed",
		"rpc-id-null", "rpc-id-unknown", "rpc-shape", "rpc-depth", "stdout-huge-line", "stdout-echo",
	}
}

func capabilityUndeclared() Check {
	return Check{
		ID: "capability-undeclared", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "server has what it does not declare",
		Ask:   askCapabilityUndeclared,
		Page: Page{
			Why: "A client asks only for what the server's capabilities name. What is not declared is not asked for, and so " +
				"does not exist for its users.",
			Bad:    `"capabilities": {}`,
			Good:   `"capabilities": {"tools": {}}`,
			Fix:    []string{"in the server: declare the capability in the result of initialize"},
			Breaks: []string{"clients that look at the capabilities: the tools, resources or prompts do not appear"},
			Source: "MCP 2025-11-25, basic/lifecycle, capability negotiation; server/tools, capabilities (MUST)",
		},
	}
}

func askCapabilityUndeclared(e *Evidence) []Finding {
	var found []Finding
	for _, list := range listMethods() {
		declared, known := e.capability(list.capability)
		x := e.Clean.Exchange(list.method, 0)
		if !known || declared != nil || !x.answered() || x.Result == nil {
			continue
		}
		items, ok := rawjson.Elements(memberAt(x.Result, list.member))
		if !ok {
			continue
		}
		f := Finding{
			Title:    fmt.Sprintf("server has %s and does not declare them", list.capability),
			Where:    x.where(e.Clean),
			Evidence: fmt.Sprintf("%s answers with %d %s, and the capability %s is missing", list.method, len(items), list.member, list.capability),
		}
		if len(items) == 0 {
			f.Severity = Info // nothing is hidden by it
			f.Title = fmt.Sprintf("server answers %s and does not declare the capability", list.method)
		}
		found = append(found, f)
	}
	return found
}

func capabilityFalse() Check {
	return Check{
		ID: "capability-false", Severity: Error, Group: GroupHandshake, Need: NeedProcess,
		After: lostAnswers(),
		Title: "server declares what it does not have",
		Ask:   askCapabilityFalse,
		Page: Page{
			Why: "Clients ask for what the capabilities name. Where the answer is an error, some show the server as broken, " +
				"some show none of its tools. Of 55 real servers that declare resources, 7 fail here.",
			Bad:    "\"capabilities\": {\"resources\": {}}\n→ resources/list\n← error -32601",
			Good:   "\"capabilities\": {\"tools\": {}}",
			Fix:    []string{"in the server: declare only what there is, or answer with an empty list"},
			Breaks: []string{"clients that load all lists at the start and give up at the first error"},
			Source: "MCP 2025-11-25, basic/lifecycle, capability negotiation",
		},
	}
}

func askCapabilityFalse(e *Evidence) []Finding {
	var found []Finding
	for _, list := range listMethods() {
		declared, known := e.capability(list.capability)
		x := e.Clean.Exchange(list.method, 0)
		if !known || declared == nil || x == nil || x.answered() && x.Result != nil {
			continue
		}
		f := Finding{
			Title:    fmt.Sprintf("server declares %s, and %s fails", list.capability, list.method),
			Where:    x.where(e.Clean),
			Evidence: fmt.Sprintf("%s %s", list.method, x.outcome()),
		}
		if message := memberAt(x.Error, "message"); message != nil {
			f.Evidence += ": " + cut(memberText(message))
		}
		found = append(found, f)
	}
	return found
}

func pingFails() Check {
	return Check{
		ID: "ping-fails", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		After: lostAnswers(),
		Title: "server does not answer ping",
		Ask:   askPingFails,
		Page: Page{
			Why: "Clients ask ping to see whether a server is alive, and end one that does not answer. The answer is an empty " +
				"object, at once, whatever else the server is doing.",
			Bad:    "→ ping\n← error -32601 Method not found",
			Good:   "→ ping\n← {\"result\":{}}",
			Fix:    []string{"in the server: answer ping with {}; every SDK does it by itself"},
			Breaks: []string{"clients and gateways that watch over servers by ping"},
			Source: "MCP 2025-11-25, basic/utilities/ping: MUST respond promptly with an empty response",
		},
	}
}

func askPingFails(e *Evidence) []Finding {
	x := e.Clean.Exchange("ping", 0)
	if x == nil || x.answered() && isObject(x.Result) {
		return nil
	}
	f := Finding{Where: x.where(e.Clean), Evidence: "ping " + x.outcome() + waited(x)}
	if x.late {
		f.Title = "server answers ping late"
	}
	return sole(f)
}

// waited adds how long an unanswered request was waited for.
func waited(x *Exchange) string {
	if x.answered() || x.late || x.refused() {
		return ""
	}
	return " in " + milliseconds(answerLimit)
}

func unknownMethodCode() Check {
	return Check{
		ID: "unknown-method-code", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		After: lostAnswers(),
		Title: "an unknown method is not refused with -32601",
		Ask:   askUnknownMethod,
		Page: Page{
			Why: "A client finds out what a server can do by asking, and reads -32601 as \"this server is older\". Another code " +
				"looks like a fault, a result like an answer, and silence costs the time limit. 166 of 167 real servers answer -32601.",
			Bad:    "→ toolx/no-such-method\n(nothing)",
			Good:   "← {\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}",
			Fix:    []string{"in the server: answer -32601 to every request whose method it does not know"},
			Source: "JSON-RPC 2.0 §5.1: method not found",
		},
	}
}

func askUnknownMethod(e *Evidence) []Finding {
	const methodNotFound = -32601
	x := e.Clean.Exchange(noSuchMethod, 0)
	if x == nil {
		return nil
	}
	if code, ok := errorCode(x.Error); ok && code == methodNotFound {
		return nil
	}
	return sole(Finding{Where: x.where(e.Clean), Evidence: "a method that does not exist " + x.outcome() + waited(x)})
}

// hostileCall finds the doctor's own call of a tool that cannot exist, or the one
// without a name.
func (e *Evidence) hostileCall(named bool) *Exchange {
	for _, x := range e.Clean.asked("tools/call") {
		if !isUsersCall(x) && (memberAt(x.Sent, "params", "name") != nil) == named {
			return x
		}
	}
	return nil
}

func invalidParamsCode() Check {
	return Check{
		ID: "invalid-params-code", Severity: Info, Group: GroupHandshake, Need: NeedHandshake,
		After: lostAnswers(),
		Title: "a call without a tool's name is not refused with -32602",
		Ask:   askInvalidParams,
		Page: Page{
			Why: "-32602 says that the request was wrong, -32603 that the server is. 147 of 168 real servers answer -32603 with " +
				"a validator's dump, since the TypeScript SDK does; a model that reads it cannot tell what to correct.",
			Bad:    `{"code": -32603, "message": "[{\"code\":\"invalid_type\",\"path\":[\"params\",\"name\"]}]"}`,
			Good:   `{"code": -32602, "message": "Invalid params: name is required"}`,
			Fix:    []string{"in the server: check the params and answer -32602 with a sentence"},
			Source: "JSON-RPC 2.0 §5.1; MCP 2025-11-25, server/tools, error handling",
		},
	}
}

func askInvalidParams(e *Evidence) []Finding {
	const invalidParams = -32602
	x := e.hostileCall(false)
	if x == nil {
		return nil
	}
	code, ok := errorCode(x.Error)
	if ok && (code == invalidParams || code == mismatchCode && e.overHTTP()) { // there is no Mcp-Name then
		return nil
	}
	f := Finding{Where: x.where(e.Clean), Evidence: "tools/call without a name " + x.outcome()}
	if message := memberAt(x.Error, "message"); message != nil {
		f.Notes = []string{"it says: " + cut(strings.Join(strings.Fields(memberText(message)), " "))}
	}
	return sole(f)
}

func unknownToolResult() Check {
	return Check{
		ID: "unknown-tool-result", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		After: lostAnswers(),
		Title: "a call of an unknown tool does not fail as it should",
		Ask:   askUnknownTool,
		Page: Page{
			Why: "A model that calls a tool that is not there must be told so. A success makes it believe that something was " +
				"done; silence holds up everything. An error other than -32602 and a result with isError are understood by all.",
			Bad:    "→ tools/call toolx_no_such_tool\n← {\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"Unknown tool\"}]}}",
			Good:   "← {\"error\":{\"code\":-32602,\"message\":\"Unknown tool: toolx_no_such_tool\"}}",
			Fix:    []string{"in the server: answer -32602 to a call of a tool that it does not have"},
			Breaks: []string{"models take a success for one"},
			Source: "MCP 2025-11-25, server/tools, error handling",
		},
	}
}

func askUnknownTool(e *Evidence) []Finding {
	const invalidParams = -32602
	x := e.hostileCall(true)
	if x == nil {
		return nil
	}
	f := Finding{Where: x.where(e.Clean), Evidence: "a tool that does not exist " + x.outcome()}
	code, ok := errorCode(x.Error)
	switch {
	case x.late:
		f.Title = "a call of an unknown tool is answered late"
	case x.refused():
		f.Title = "a call of an unknown tool is refused by HTTP, and by no error that a model sees"
		f.Breaks = []string{"clients that take an HTTP error for a lost connection"}
	case !x.answered():
		f.Severity, f.Title = Error, "a call of an unknown tool gets no answer"
		f.Evidence += waited(x)
		f.Breaks = []string{"every client waits until its time is up"}
	case ok && code == invalidParams:
		return nil
	case x.Error != nil:
		f.Severity, f.Title = Info, "a call of an unknown tool is refused with another code than -32602"
	case string(memberAt(x.Result, "isError")) == "true":
		f.Severity, f.Title = Info, "a call of an unknown tool is refused by isError"
		f.Evidence += " that has isError"
	default:
		f.Title = "a call of an unknown tool succeeds"
		f.Evidence += " without isError"
	}
	return sole(f)
}

func notificationAnswered() Check {
	return Check{
		ID: "notification-answered", Severity: Error, Group: GroupHandshake, Need: NeedProbe,
		Title: "server answers a notification",
		Ask:   askNotificationAnswered,
		Page: Page{
			Why: "A notification has no id and wants no answer; an answer to it belongs to no request. Clients report an error, " +
				"or take it for the answer to the request that waits.",
			Bad:    "→ {\"jsonrpc\":\"2.0\",\"method\":\"notifications/toolx/unknown\"}\n← {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,…}}",
			Good:   "(nothing)",
			Fix:    []string{"in the server: pass over notifications that it does not know"},
			Breaks: []string{"clients of the TypeScript SDK report an error for each"},
			Source: "JSON-RPC 2.0 §4.1: the server MUST NOT reply to a notification; MCP 2025-11-25, basic, notifications",
		},
	}
}

// askNotificationAnswered looks at messages without an id that came after the
// notification, when no request waited.
func askNotificationAnswered(e *Evidence) []Finding {
	run := e.probing()
	sent, did := run.Marks["notification"]
	if !did {
		return nil
	}
	var found []Finding
	for _, odd := range EventsOf[servers.OddFrame](run) {
		if odd.Class != servers.ClassIDNull || odd.Used || odd.At.Before(sent) || answersGarbage(run, odd.Bytes) {
			continue
		}
		where := run.placeOf(odd)
		where.Method = "notifications/toolx/unknown"
		found = append(found, Finding{Where: where, Evidence: cutJSON(odd.Bytes)})
	}
	return alike(found)
}

func requestBeforeInit() Check {
	return Check{
		ID: "request-before-init", Severity: Info, Group: GroupHandshake, Need: NeedProbe,
		After: []string{"discover-breaks-server", "crash-signal"},
		Title: "server does not answer tools/list before initialize",
		Ask:   askRequestBeforeInit,
		Page: Page{
			Why: "No client should ask for tools before the handshake. A server that gets such a request should refuse it, or " +
				"answer it, and go on: one that ends or falls silent is harder to find fault with.",
			Bad:    "→ tools/list\nexit status 1",
			Good:   "← {\"error\":{\"code\":-32600,\"message\":\"not initialized\"}}",
			Fix:    []string{"in the server: answer every request, if only with an error"},
			Source: "MCP 2025-11-25, basic/lifecycle, initialization",
		},
	}
}

func askRequestBeforeInit(e *Evidence) []Finding {
	run := e.Probe
	x := run.Exchange("tools/list", 0)
	if x == nil || x.answered() || memberAt(x.Sent, "params", "cursor") != nil {
		return nil
	}
	f := Finding{Where: x.where(run), Evidence: "tools/list before initialize " + x.outcome()}
	if x.late {
		f.Title = "server answers tools/list before initialize late"
	}
	if died := run.died(); died != nil && run.fellBeforeHandshake() {
		f.Evidence += "; the server ended: " + died.How
	}
	return sole(f)
}
