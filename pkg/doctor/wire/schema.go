package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// AskWireSchema holds every message against the schema of its revision. It leaves a fault to another
// check that judges the same place and has found something.
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
			if fault.format { // the TypeScript SDK takes any string
				f.Breaks = []string{"clients of the Python SDK refuse the message if it is the URI of a resource"}
			}
			found = append(found, f)
		}
	}
	return check.Capped(check.Alike(found))
}

// faults returns the faults of a message under a revision. Pointers into a result begin at the result,
// as those of other checks do.
func (m Received) faults(revision string) []Fault {
	method := ""
	if m.Answers != nil {
		method = m.Answers.Method
	}
	if method == "server/discover" && m.Head.Result != nil && evidence.SupportedVersions(m.Head.Result) == nil {
		return nil // the server answers any method, even those that it does not know
	}
	faults := Faults(m.Event.Bytes, method, revision)
	for i := range faults {
		faults[i].Pointer = strings.TrimPrefix(faults[i].Pointer, "/result")
	}
	return faults
}

// Faults returns the places at which a message from a server breaks a revision's schema. method is the
// method of the request that it answers, or empty.
func Faults(message json.RawMessage, method, revision string) []Fault {
	w := fitter{revision: revision, forms: forms()}
	head := evidence.ReadHead(message)
	switch {
	case head.Method != "" && head.ID != "":
		return append(w.fitNamed(message, "message/request"), w.fitNamed(message, head.Method)...)
	case head.Method != "":
		return append(w.fitNamed(message, "message/notification"), w.fitNamed(message, head.Method)...)
	case head.Err != nil:
		return w.fitNamed(message, "message/error")
	}
	faults := w.fitNamed(message, "message/result")
	if !evidence.IsObject(head.Result) {
		return faults
	}
	form := "result/" + method
	if task, extension := evidence.TaskHandle(head.Result); method == "tools/call" && task != nil {
		if extension {
			return faults // of which there is no schema
		}
		form = "CreateTaskResult"
	}
	of := append(w.fitNamed(head.Result, "Result"), w.fitNamed(head.Result, form)...)
	return append(faults, below("result", of)...)
}

// IsServersMethod reports whether any revision of MCP has a message of that method from the server. The names of other
// forms begin with a capital letter, or with what they are of.
func IsServersMethod(method string) bool {
	_, known := forms()[method]
	return known && method == strings.ToLower(method[:1])+method[1:] &&
		!strings.HasPrefix(method, "message/") && !strings.HasPrefix(method, "result/")
}

// fitNamed holds a value against the form of that name, if the revision has one.
func (w fitter) fitNamed(value json.RawMessage, name string) []Fault {
	if _, known := w.forms[name]; known && w.has(valueType{name: name}) {
		return w.fit(value, valueType{name: name})
	}
	return nil
}

// revision returns the revision that a message must fit: the one that its request names, or the one
// that the run agreed on.
func (m Received) revision(e *evidence.Evidence) string {
	const version = "io.modelcontextprotocol/protocolVersion"
	if m.Answers != nil && evidence.MemberAt(m.Answers.Sent, "params", "_meta", version) != nil {
		return evidence.ModernRevision
	}
	candidates := []string{m.Run.Protocol}
	for _, x := range m.Run.Asked("initialize") {
		candidates = append(candidates, rawjson.Unquote(evidence.MemberAt(x.Result, "protocolVersion")))
	}
	if e.Clean != nil {
		candidates = append(candidates, e.Clean.Protocol)
	}
	known := append(evidence.LegacyRevisions(), evidence.ModernRevision)
	for _, candidate := range candidates {
		if slices.Contains(known, candidate) {
			return candidate
		}
	}
	return evidence.CommonRevision
}
