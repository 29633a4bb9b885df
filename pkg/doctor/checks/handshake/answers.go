package handshake

import (
	"fmt"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// listMethods returns the lists of a server and the capability that declares each.
func listMethods() []struct{ capability, method, member string } {
	return []struct{ capability, method, member string }{
		{"tools", "tools/list", "tools"},
		{"resources", "resources/list", "resources"},
		{"prompts", "prompts/list", "prompts"},
	}
}

func askCapabilityUndeclared(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, list := range listMethods() {
		declared, known := e.Capability(list.capability)
		x := e.Clean.Exchange(list.method, 0)
		if !known || declared != nil || !x.Answered() || x.Result == nil {
			continue
		}
		items, ok := rawjson.Elements(evidence.MemberAt(x.Result, list.member))
		if !ok {
			continue
		}
		f := check.At(x.Place(e.Clean), "%s returns %d %s, but the capability %s is missing",
			list.method, len(items), list.member, list.capability)
		f.Title = fmt.Sprintf("server implements %s but does not declare them", list.capability)
		if len(items) == 0 {
			f.Severity = check.Info // clients do not miss anything
			f.Title = fmt.Sprintf("server responds to %s but does not declare the capability", list.method)
		}
		found = append(found, f)
	}
	return found
}

// askCapabilityFalse finds a declared list that the server does not implement or does not respond to. Other errors have
// other causes.
func askCapabilityFalse(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, list := range listMethods() {
		declared, known := e.Capability(list.capability)
		x := e.Clean.Exchange(list.method, 0)
		if !known || declared == nil || x == nil || x.Answered() && x.Result != nil {
			continue
		}
		if code, coded := evidence.ErrorCode(x.Error); x.Answered() && (!coded || code != evidence.MethodNotFound) {
			continue
		}
		f := check.At(x.Place(e.Clean), "%s %s", list.method, x.Outcome())
		f.Title = fmt.Sprintf("server declares %s, but %s fails", list.capability, list.method)
		if list.capability != "tools" {
			f.Severity = check.Warning
		}
		if message := evidence.MemberAt(x.Error, "message"); message != nil {
			f.Evidence += ": " + evidence.Cut(evidence.MemberText(message))
		}
		found = append(found, f)
	}
	return found
}

// askListRefused finds a tools/list that fails with an error other than "method not found".
func askListRefused(e *evidence.Evidence) []check.Finding {
	x := e.RefusedList()
	if x == nil {
		return nil
	}
	if code, _ := evidence.ErrorCode(x.Error); code == evidence.MethodNotFound {
		return nil // capability-false reports it
	}
	f := check.At(x.Place(e.Clean), "tools/list %s", x.Outcome())
	if message := evidence.MemberText(evidence.MemberAt(x.Error, "message")); message != "" {
		f.Evidence += ": " + evidence.Cut(message)
	}
	if !f.AddCause(e.Cause(), "server rejects tools/list") {
		return nil
	}
	return []check.Finding{f}
}

func askPingFails(e *evidence.Evidence) []check.Finding {
	x := e.Clean.Exchange("ping", 0)
	if x == nil || x.Answered() && evidence.IsObject(x.Result) {
		return nil
	}
	f := check.At(x.Place(e.Clean), "ping %s%s", x.Outcome(), evidence.Waited(x))
	if x.Late {
		f.Title = "server responds late to ping"
	}
	return []check.Finding{f}
}

func askUnknownMethod(e *evidence.Evidence) []check.Finding {
	x := e.Clean.Exchange(evidence.NoSuchMethod, 0)
	if x == nil {
		return nil
	}
	if code, ok := evidence.ErrorCode(x.Error); ok && code == evidence.MethodNotFound {
		return nil
	}
	return check.One(x.Place(e.Clean), "a method that does not exist %s%s", x.Outcome(), evidence.Waited(x))
}

// hostileCall returns the doctor's call of an unknown tool, or the one without a name; nil if there is none.
func hostileCall(e *evidence.Evidence, named bool) *evidence.Exchange {
	for _, x := range e.Clean.Asked("tools/call") {
		if !evidence.IsUsersCall(x) && (evidence.MemberAt(x.Sent, "params", "name") != nil) == named {
			return x
		}
	}
	return nil
}

func askInvalidParams(e *evidence.Evidence) []check.Finding {
	x := hostileCall(e, false)
	if x == nil {
		return nil
	}
	code, _ := evidence.ErrorCode(x.Error)
	if code == invalidParams || code == evidence.MismatchCode && e.OverHTTP() { // Mcp-Name is missing too
		return nil
	}
	f := check.At(x.Place(e.Clean), "tools/call without a name %s", x.Outcome())
	f.Manner = check.Quiet
	if message := evidence.MemberAt(x.Error, "message"); message != nil {
		f.Notes = []string{"it says: " + evidence.Cut(strings.Join(strings.Fields(evidence.MemberText(message)), " "))}
	}
	return []check.Finding{f}
}

// invalidParams is the JSON-RPC error code for invalid parameters.
const invalidParams = -32602

func askUnknownTool(e *evidence.Evidence) []check.Finding {
	x := hostileCall(e, true)
	if x == nil {
		return nil
	}
	f := check.At(x.Place(e.Clean), "a tool that does not exist %s", x.Outcome())
	code, _ := evidence.ErrorCode(x.Error)
	switch {
	case x.Late:
		f.Title = "server responds late to a call to an unknown tool"
	case x.Refused():
		f.Title = "server rejects a call to an unknown tool with an HTTP error that models do not see"
		f.Breaks = []string{"clients that treat an HTTP error as a lost connection"}
	case !x.Answered():
		f.Severity, f.Title = check.Error, "server does not respond to a call to an unknown tool"
		f.Breaks = []string{"all clients, which wait until they time out"}
	case code == invalidParams:
		return nil
	case x.Error != nil:
		f.Severity, f.Title = check.Info, "server rejects a call to an unknown tool with a code other than -32602"
		f.Manner, f.Breaks = check.Quiet, []string{}
	case string(evidence.MemberAt(x.Result, "isError")) == "true":
		f.Severity, f.Title = check.Info, "server rejects a call to an unknown tool with isError"
		f.Manner, f.Breaks = check.Quiet, []string{}
		f.Evidence += " that has isError"
	default:
		f.Title = "server accepts a call to an unknown tool"
		f.Evidence += " without isError"
	}
	return []check.Finding{f}
}

// askNotificationAnswered finds responses without an id that came after the notification, when no request was pending.
func askNotificationAnswered(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassNotificationReply, func(_ *evidence.Run, odd wire.OddFrame) string {
		return evidence.CutJSON(odd.Bytes)
	})
}

func askRequestBeforeInit(e *evidence.Evidence) []check.Finding {
	run := e.Probe
	x := run.Exchange("tools/list", 0)
	if x == nil || x.Answered() || evidence.MemberAt(x.Sent, "params", "cursor") != nil {
		return nil
	}
	if x.Late && !overtaken(run, x) {
		return nil // the server, or the machine, was slow
	}
	f := check.At(x.Place(run), "tools/list before initialize %s", x.Outcome())
	if x.Late {
		f.Title = "server responds late to tools/list before initialize"
	}
	if died := run.Died(); died != nil && run.DiedBeforeHandshake() {
		f.Evidence += "; the server ended: " + died.How
	}
	return []check.Finding{f}
}
