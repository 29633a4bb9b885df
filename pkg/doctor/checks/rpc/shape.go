package rpc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

func askRPCVersion(e *evidence.Evidence) []check.Finding {
	found := doctorwire.OddFrames(e, wire.ClassNoVersion, func(_ *evidence.Run, odd wire.OddFrame) string {
		if version := evidence.MemberAt(odd.Bytes, "jsonrpc"); version != nil {
			return "jsonrpc is " + evidence.CutJSON(version)
		}
		return "jsonrpc is missing: " + evidence.CutJSON(odd.Bytes)
	})
	if len(found) > 0 && evidence.SilentInHandshake(e) {
		found[0].Title = `server does not respond to initialize; its messages lack "jsonrpc": "2.0"`
		found[0].Fix = []string{
			"check its documentation: with this command it may use another protocol than MCP",
			`in the server: add "jsonrpc": "2.0" to every message, or use an SDK`,
		}
	}
	return found
}

func askBatch(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for where, line := range linesOf(e, wire.ClassBatch) {
		f := check.At(where, "%s", evidence.CutJSON(line.Text))
		f.Notes = []string{fmt.Sprintf("%d in the array", line.Salvaged)}
		found = append(found, f)
	}
	return check.Alike(found)
}

func askShape(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	report := func(where *evidence.Where, pointer, title string, text []byte) *check.Finding {
		where.Pointer = pointer
		found = append(found, check.Finding{Title: title, Where: where, Evidence: evidence.CutJSON(text)})
		return &found[len(found)-1]
	}
	for _, m := range doctorwire.Messages(e) {
		if m.Head.Method != "" {
			continue
		}
		result, failure := m.Head.Result, m.Head.Err
		_, coded := evidence.ErrorCode(failure)
		for _, fault := range []struct {
			is             bool
			pointer, title string
		}{
			{result == nil && failure == nil, "", "a response has neither result nor error"},
			{result != nil && failure != nil || m.Head.NullError, "", "a response has both result and error"},
			{m.Head.NamesRequest() && result != nil && !evidence.IsObject(result), "/result", "a result is not an object"},
			{failure != nil && !evidence.IsObject(failure), "/error", "an error is not an object"},
			{evidence.IsObject(failure) && !coded, "/error/code", "an error's code is not an integer"},
			{
				evidence.IsObject(failure) && !rawjson.IsString(evidence.MemberAt(failure, "message")),
				"/error/message", "an error has no message",
			},
		} {
			if fault.is {
				f := report(m.Where(), fault.pointer, fault.title, m.Event.Bytes)
				if x := m.Answers; x != nil && x.Method == "tools/call" && !evidence.IsUsersCall(x) {
					f.Severity = check.Warning
					f.Title += " in the response to the doctor's call of an unknown tool"
					f.Breaks = []string{"clients with the TypeScript SDK, if a model calls an unknown tool"}
				}
			}
		}
	}
	for where, line := range linesOf(e, wire.ClassBadShape) {
		report(where, "", "a message is neither a request, a notification nor a response", line.Text)
	}
	return check.Alike(found)
}

// askNotMCP returns a finding for each unknown method, from the first run that has it.
func askNotMCP(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	first := make(map[string]*evidence.Run)
	for _, m := range doctorwire.Messages(e) {
		method := m.Head.Method
		if method == "" || doctorwire.IsServersMethod(method) || m.IsEcho() {
			continue
		}
		if first[method] == nil {
			first[method] = m.Run
		}
		if first[method] != m.Run {
			continue // later runs repeat it
		}
		found = append(found, notMCP(m))
	}
	return check.Alike(found)
}

// notMCP returns the finding about a message whose method MCP does not define.
func notMCP(m doctorwire.Received) check.Finding {
	method := evidence.Label(m.Head.Method)
	f := check.At(m.Where(), "%s", evidence.CutJSON(m.Event.Bytes))
	f.Title = fmt.Sprintf("server sends the method %q, which MCP does not define", method)
	answered := func(x *evidence.Exchange) bool { return x.Frame != nil && !x.At.Add(x.Took).After(m.Event.At) }
	if !slices.ContainsFunc(m.Run.Exchanges, answered) {
		f.Where.Phase = string(wire.PhaseStart)
	}
	text, logs := logged(m)
	if logs {
		f.Title = fmt.Sprintf(
			"server writes its log to stdout as JSON-RPC with the method %q, which MCP does not define", method)
		f.Culprit = &culprit.Culprit{
			Name: "the server's own logger, which writes JSON-RPC", Confidence: culprit.Likely,
		}
		f.Fix = []string{
			`in the server: write the log to stderr, or send it as "notifications/message" with the logging capability`,
		}
		if text != "" {
			f.Notes = append(f.Notes, "it says: "+evidence.Cut(text))
		}
	}
	switch {
	case m.Head.ID != "":
		f.Notes = append(f.Notes, "it has an id, so clients must respond to it; toolx responds with -32601")
	case strings.HasPrefix(m.Head.Method, "notifications/"):
		f.Severity = check.Info // clients must ignore unknown notifications
	}
	return f
}

// logged reports whether a message is a log record, by its method or parameters, and returns its text.
func logged(m doctorwire.Received) (text string, ok bool) {
	params := evidence.MemberAt(m.Event.Bytes, "params")
	for _, name := range []string{"message", "msg", "text", "data"} {
		text = cmp.Or(text, rawjson.GetText(params, name))
	}
	method := m.Head.Method
	word := strings.ToLower(method[strings.LastIndexAny(method, "/.$")+1:])
	ok = slices.Contains([]string{"log", "logs", "logger", "logging", "logmessage", "console", "debug"}, word) ||
		text != "" && evidence.MemberAt(params, "level") != nil
	return text, ok
}

func askServerRequest(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range doctorwire.Messages(e) {
		if m.Head.Method == "" || m.Head.ID == "" || !doctorwire.IsServersMethod(m.Head.Method) {
			continue
		}
		f := check.At(m.Where(), "%s", evidence.CutJSON(m.Event.Bytes))
		switch {
		case e.Modern():
			f.Severity = check.Error
			f.Title = "server sends requests, which 2026-07-28 forbids"
		case m.Head.Method != "ping":
			f.Title = "server requests " + m.Head.Method + ", which the client did not declare"
			f.Notes = []string{"toolx responded with -32601"}
		}
		found = append(found, f)
	}
	return check.Alike(found)
}

func askErrorCodeReserved(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range doctorwire.Messages(e) {
		code, ok := evidence.ErrorCode(m.Head.Err)
		older := e.Modern() && code <= -32000 && code >= -32019
		if !ok || m.Head.Method != "" || !isReserved(code) && !older {
			continue
		}
		f := check.At(m.Where(), "code %d: %s", code, evidence.Cut(rawjson.GetText(m.Head.Err, "message")))
		f.Where.Pointer = "/error/code"
		if older {
			f.Severity, f.Title = check.Info, "server uses an error code from an older range"
		}
		found = append(found, f)
	}
	return check.Alike(found)
}

// isReserved reports whether a code is in MCP's range but not defined by any revision.
func isReserved(code int64) bool {
	const missingCapability, urlElicitation = -32021, -32042 // the latter in 2025-11-25
	switch code {
	case evidence.MismatchCode, missingCapability, evidence.UnsupportedCode, urlElicitation:
		return false
	}
	return code <= -32020 && code >= -32099
}

// sameEnd reports whether two runs ended with the same output, or the first because of something external.
func sameEnd(clean, probing *evidence.Run) bool {
	before, died := clean.Died(), probing.Died()
	if before == nil || died == nil {
		return false
	}
	return len(died.Stderr) > 0 && slices.Equal(before.Stderr, died.Stderr) || clean.FailedExternally()
}

func askParseErrorSurvival(e *evidence.Evidence) []check.Finding {
	run := e.Probing()
	if !run.FailedOnGarbage() {
		return nil
	}
	next := cmp.Or(run.After("garbage", "ping"), run.After("garbage", "server/discover"))
	answered := slices.ContainsFunc(evidence.EventsOf[wire.OddFrame](run), func(odd wire.OddFrame) bool {
		return doctorwire.AnswersGarbage(run, odd.Bytes)
	})
	open := func(x *evidence.Exchange) bool { return x.Frame == nil }
	switch {
	case next.Answered() || next != nil && next.Late, answered:
		return nil
	case e.Clean.Died() != nil && !slices.ContainsFunc(e.Clean.Exchanges, open):
		return nil // it also exits without the line
	case sameEnd(e.Clean, run):
		return nil
	}
	f := check.At(run.At(run.Marks["garbage"]), "after the line, the server did not respond any more")
	if died := run.Died(); died != nil {
		f.Evidence = fmt.Sprintf("after the line, the server exited: %s", died.How)
		f.Notes = evidence.LastOutput(died)
	}
	return []check.Finding{f}
}
