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

func askRPCVersion(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassNoVersion, func(_ *Run, odd servers.OddFrame) string {
		if version := memberAt(odd.Bytes, "jsonrpc"); version != nil {
			return "jsonrpc is " + cutJSON(version)
		}
		return "jsonrpc is missing: " + cutJSON(odd.Bytes)
	})
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
