package rpc

import (
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/wire"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func askRPCVersion(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassNoVersion, func(_ *evidence.Run, odd servers.OddFrame) string {
		if version := evidence.MemberAt(odd.Bytes, "jsonrpc"); version != nil {
			return "jsonrpc is " + evidence.CutJSON(version)
		}
		return "jsonrpc is missing: " + evidence.CutJSON(odd.Bytes)
	})
}

func askBatch(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, line := range evidence.EventsOf[servers.PollutedLine](run) {
			if line.Class != servers.ClassBatch {
				continue
			}
			found = append(found, check.Finding{
				Where:    &evidence.Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: exec.Milliseconds(line.Since)},
				Evidence: evidence.CutJSON(line.Text),
				Notes:    []string{fmt.Sprintf("%d in the array", line.Salvaged)},
			})
		}
	}
	return check.Alike(found)
}

func askShape(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		if m.Head.Method != "" {
			continue
		}
		for _, fault := range shapeFaults(m) {
			where := m.Where()
			where.Pointer = fault.pointer
			found = append(found, check.Finding{Title: fault.title, Where: where, Evidence: evidence.CutJSON(m.Event.Bytes)})
		}
	}
	for _, run := range e.Runs() {
		for _, line := range evidence.EventsOf[servers.PollutedLine](run) {
			if line.Class == servers.ClassBadShape {
				found = append(found, check.Finding{
					Title:    "a message is neither request, notification nor answer",
					Where:    &evidence.Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: exec.Milliseconds(line.Since)},
					Evidence: evidence.CutJSON(line.Text),
				})
			}
		}
	}
	return check.Alike(found)
}

// shapeFault is something wrong with an answer's form.
type shapeFault struct{ title, pointer string }

func shapeFaults(m wire.Received) []shapeFault {
	result, failure := m.Head.Result, m.Head.Err
	var faults []shapeFault
	switch {
	case result == nil && failure == nil:
		return []shapeFault{{"an answer has neither result nor error", ""}}
	case result != nil && failure != nil:
		faults = append(faults, shapeFault{"an answer has both result and error", ""})
	}
	if result != nil && !evidence.IsObject(result) {
		faults = append(faults, shapeFault{"a result is no object", "/result"})
	}
	if failure == nil {
		return faults
	}
	if !evidence.IsObject(failure) {
		return append(faults, shapeFault{"an error is no object", "/error"})
	}
	if _, ok := evidence.ErrorCode(failure); !ok {
		faults = append(faults, shapeFault{"an error's code is no whole number", "/error/code"})
	}
	if !rawjson.IsString(evidence.MemberAt(failure, "message")) {
		faults = append(faults, shapeFault{"an error has no message", "/error/message"})
	}
	return faults
}

// isServersMethod reports whether any revision of MCP has a message of that method from
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

func askNotMCP(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		method := m.Head.Method
		if method == "" || isServersMethod(method) || m.IsEcho() {
			continue
		}
		f := check.Finding{Where: m.Where(), Evidence: evidence.CutJSON(m.Event.Bytes)}
		if m.Head.ID == "" && strings.HasPrefix(method, "notifications/") {
			// One of its own kind: clients must ignore notifications that they do not know.
			f.Severity = check.Info
		}
		found = append(found, f)
	}
	return check.Alike(found)
}

func askServerRequest(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		if m.Head.Method == "" || m.Head.ID == "" || !isServersMethod(m.Head.Method) {
			continue
		}
		f := check.Finding{Where: m.Where(), Evidence: evidence.CutJSON(m.Event.Bytes)}
		switch {
		case e.Modern():
			f.Severity = check.Error
			f.Title = "the server sends requests, which 2026-07-28 forbids"
		case m.Head.Method != "ping":
			f.Title = "the server asks for " + m.Head.Method + ", which the client has not declared"
			f.Notes = []string{"toolx answered -32601"}
		}
		found = append(found, f)
	}
	return check.Alike(found)
}

func askErrorCodeReserved(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		code, ok := evidence.ErrorCode(m.Head.Err)
		if !ok || m.Head.Method != "" {
			continue
		}
		f := check.Finding{Where: m.Where(), Evidence: fmt.Sprintf("code %d: %s", code, evidence.Cut(rawjson.Unquote(evidence.MemberAt(m.Head.Err, "message"))))}
		f.Where.Pointer = "/error/code"
		switch {
		case isReserved(code):
			found = append(found, f)
		case e.Modern() && code <= -32000 && code >= -32019:
			f.Severity = check.Info
			f.Title = "an error has a code from the range of older implementations"
			found = append(found, f)
		}
	}
	return check.Alike(found)
}

// isReserved reports whether a code lies in MCP's own range and is none of those that
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

func askParseErrorSurvival(e *evidence.Evidence) []check.Finding {
	run := e.Probing()
	sent := run.Marks["garbage"]
	if !run.LivedUntilGarbage() {
		return nil
	}
	sign := run.After("garbage", "ping")
	if sign == nil {
		sign = run.After("garbage", "server/discover")
	}
	if sign.Answered() || sign != nil && sign.Late {
		return nil
	}
	if answeredGarbage(run) || e.Clean.Died() != nil && unanswered(e.Clean) == nil {
		return nil // it survived the line; or it ends by itself, with or without one
	}
	f := check.Finding{Where: &evidence.Where{Run: run.Name, MS: run.Since(sent)}, Evidence: "after the line, nothing was answered any more"}
	if died := run.Died(); died != nil {
		f.Evidence = fmt.Sprintf("after the line, the server ended: %s", died.How)
		f.Notes = evidence.LastWords(died)
	}
	return check.Sole(f)
}

// answeredGarbage reports whether the server answered the line that is no JSON.
func answeredGarbage(r *evidence.Run) bool {
	return slices.ContainsFunc(evidence.EventsOf[servers.OddFrame](r), func(odd servers.OddFrame) bool { return wire.AnswersGarbage(r, odd.Bytes) })
}

// unanswered is a request that was never answered, nil where all were.
func unanswered(r *evidence.Run) *evidence.Exchange {
	for _, x := range r.Exchanges {
		if x.Frame == nil {
			return x
		}
	}
	return nil
}
