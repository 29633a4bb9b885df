package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// AskWireSchema validates every message against the schema of its revision. It skips faults that another check already
// reports.
func AskWireSchema(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range Messages(e) {
		if m.IsEcho() || m.Answers == nil && AnswersGarbage(m.Run, m.Event.Bytes) || beforeAgreement(e, m) {
			continue
		}
		revision := m.revision(e)
		for _, fault := range m.faults(revision) {
			if slices.ContainsFunc(fault.judgedBy, e.Finds) {
				continue
			}
			where := m.Where()
			where.Pointer = evidence.Excerpt(fault.Pointer, evidence.MaxPointer)
			notes := []string{"the schema is that of " + revision}
			f := check.Finding{Where: where, Evidence: fault.text, Notes: notes}
			if fault.format { // the TypeScript SDK accepts any string
				f.Breaks = []string{"clients with the Python SDK reject the message if this is a resource's URI"}
			}
			found = append(found, f)
		}
	}
	return check.Capped(check.Alike(found))
}

// faults returns a message's violations of a revision's schema. Like those of other checks, pointers into a result are
// relative to the result.
func (m Received) faults(revision string) []Fault {
	method := ""
	if m.Answers != nil {
		method = m.Answers.Method
	}
	if method == "server/discover" && m.Head.Result != nil && evidence.SupportedVersions(m.Head.Result) == nil {
		return nil // the server responds to any method, even unknown ones
	}
	faults := Faults(m.Event.Bytes, method, revision)
	for i := range faults {
		faults[i].Pointer = strings.TrimPrefix(faults[i].Pointer, "/result")
	}
	return faults
}

// Faults returns a message's violations of a revision's schema. method is that of the request that it responds to, or
// empty.
func Faults(message json.RawMessage, method, revision string) []Fault {
	w := validator{revision: revision, forms: forms()}
	head := evidence.ReadHead(message)
	switch {
	case head.Method != "" && head.ID != "":
		return append(w.validateNamed(message, "message/request"), w.validateNamed(message, head.Method)...)
	case head.Method != "":
		return append(w.validateNamed(message, "message/notification"), w.validateNamed(message, head.Method)...)
	case head.Err != nil:
		return w.validateNamed(message, "message/error")
	}
	faults := w.validateNamed(message, "message/result")
	if !evidence.IsObject(head.Result) {
		return faults
	}
	form := "result/" + method
	if task, extension := evidence.TaskHandle(head.Result); method == "tools/call" && task != nil {
		if extension {
			return faults // there is no schema for it
		}
		form = "CreateTaskResult"
	}
	of := append(w.validateNamed(head.Result, "Result"), w.validateNamed(head.Result, form)...)
	return append(faults, below("result", of)...)
}

// IsServersMethod reports whether a server may send messages with a method in any revision. Names of other forms begin
// with a capital letter, message/ or result/.
func IsServersMethod(method string) bool {
	_, known := forms()[method]
	return known && method == strings.ToLower(method[:1])+method[1:] &&
		!strings.HasPrefix(method, "message/") && !strings.HasPrefix(method, "result/")
}

// validateNamed validates a value against the form with a name, if the revision has it.
func (w validator) validateNamed(value json.RawMessage, name string) []Fault {
	if _, known := w.forms[name]; known && w.has(valueType{name: name}) {
		return w.validate(value, valueType{name: name})
	}
	return nil
}

// revision returns the revision whose schema applies to a message: that of its request, or the negotiated one.
func (m Received) revision(e *evidence.Evidence) string {
	const version = "io.modelcontextprotocol/protocolVersion"
	if m.Answers != nil && evidence.MemberAt(m.Answers.Sent, "params", "_meta", version) != nil {
		return evidence.ModernRevision
	}
	known := append(evidence.LegacyRevisions(), evidence.ModernRevision)
	if slices.Contains(known, m.Run.Protocol) {
		return m.Run.Protocol
	}
	var candidates []string
	for _, x := range m.Run.Asked("initialize") {
		candidates = append(candidates, rawjson.Unquote(evidence.MemberAt(x.Result, "protocolVersion")))
	}
	if e.Clean != nil {
		candidates = append(candidates, e.Clean.Protocol)
	}
	for _, candidate := range candidates {
		if slices.Contains(known, candidate) {
			return candidate
		}
	}
	return evidence.CommonRevision
}
