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
