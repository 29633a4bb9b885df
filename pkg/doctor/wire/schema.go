package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// AskWireSchema holds every message against the schema of its revision. A fault at a
// place that another check looks at is left to it, where it has found something.
func AskWireSchema(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range Messages(e) {
		if m.IsEcho() || m.Answers == nil && AnswersGarbage(m.Run, m.Event.Bytes) || refusalBefore(e, m) {
			continue
		}
		revision := m.revision(e)
		for _, fault := range m.wireFaults(revision) {
			if slices.ContainsFunc(fault.told, e.Finds) {
				continue
			}
			where := m.Where()
			where.Pointer = evidence.Excerpt(fault.Pointer, evidence.MaxPointer)
			found = append(found, check.Finding{Where: where, Evidence: fault.text, Notes: []string{"the schema is that of " + revision}})
		}
	}
	return check.Capped(check.Alike(found))
}

// wireFaults holds a message against a revision. The pointers into a result begin at
// the result, as those of other checks do.
func (m Received) wireFaults(revision string) []Fault {
	method := ""
	if m.Answers != nil {
		method = m.Answers.Method
	}
	if method == "server/discover" && m.Head.Result != nil && evidence.SupportedVersions(m.Head.Result) == nil {
		return nil // of a server that answers anything to methods which it does not know
	}
	faults := Faults(m.Event.Bytes, method, revision)
	for i := range faults {
		faults[i].Pointer = strings.TrimPrefix(faults[i].Pointer, "/result")
	}
	return faults
}

// Faults says where a message of a server's is not as a revision has it. method
// is that of the request which it answers, empty where none is known.
func Faults(message json.RawMessage, method, revision string) []Fault {
	w := wireFit{revision: revision, forms: formsOnTheWire()}
	head := evidence.ReadHead(message)
	switch {
	case head.Method != "":
		kind := "message/notification"
		if head.ID != "" {
			kind = "message/request"
		}
		return append(w.fitNamed(message, kind), w.fitNamed(message, head.Method)...)
	case head.Err != nil:
		return w.fitNamed(message, "message/error")
	}
	faults := w.fitNamed(message, "message/result")
	if !evidence.IsObject(head.Result) {
		return faults
	}
	of := append(w.fitNamed(head.Result, "Result"), w.fitNamed(head.Result, "result/"+method)...)
	return append(faults, below("result", of)...)
}

// fitNamed is fit for a form by its name; where the revision has none of that name,
// nothing is wrong.
func (w wireFit) fitNamed(value json.RawMessage, name string) []Fault {
	if t := (wireType{name: name}); w.forms[name].known() && w.has(t) {
		return w.fit(value, t)
	}
	return nil
}

func (f wireForm) known() bool { return f.alias != nil || f.members != nil }

// revision is the one that a message must fit: that which the request named, or which
// the run agreed on.
func (m Received) revision(e *evidence.Evidence) string {
	if m.Answers != nil && evidence.MemberAt(m.Answers.Sent, "params", "_meta", "io.modelcontextprotocol/protocolVersion") != nil {
		return evidence.ModernRevision
	}
	if isKnownRevision(m.Run.Protocol) {
		return m.Run.Protocol
	}
	for _, x := range m.Run.Asked("initialize") {
		if version := rawjson.Unquote(evidence.MemberAt(x.Result, "protocolVersion")); isKnownRevision(version) {
			return version
		}
	}
	if e.Clean != nil && isKnownRevision(e.Clean.Protocol) {
		return e.Clean.Protocol
	}
	return evidence.CommonRevision
}

func isKnownRevision(version string) bool {
	return version == evidence.ModernRevision || slices.Contains(evidence.LegacyRevisions(), version)
}
