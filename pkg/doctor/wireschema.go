package doctor

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// askWireSchema holds every message against the schema of its revision. A fault at a
// place that another check looks at is left to it, where it has found something.
func askWireSchema(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.isEcho() || m.answers == nil && answersGarbage(m.run, m.event.Bytes) || e.refusalBefore(m) {
			continue
		}
		revision := m.revision(e)
		for _, fault := range m.wireFaults(revision) {
			if slices.ContainsFunc(fault.told, e.finds) {
				continue
			}
			where := m.where()
			where.Pointer = excerpt(fault.pointer, maxPointer)
			found = append(found, Finding{Where: where, Evidence: fault.text, Notes: []string{"the schema is that of " + revision}})
		}
	}
	return capped(alike(found))
}

// wireFaults holds a message against a revision. The pointers into a result begin at
// the result, as those of other checks do.
func (m received) wireFaults(revision string) []wireFault {
	method := ""
	if m.answers != nil {
		method = m.answers.Method
	}
	if method == "server/discover" && m.head.result != nil && supportedVersions(m.head.result) == nil {
		return nil // of a server that answers anything to methods which it does not know
	}
	faults := faultsOnWire(m.event.Bytes, method, revision)
	for i := range faults {
		faults[i].pointer = strings.TrimPrefix(faults[i].pointer, "/result")
	}
	return faults
}

// faultsOnWire says where a message of a server's is not as a revision has it. method
// is that of the request which it answers, empty where none is known.
func faultsOnWire(message json.RawMessage, method, revision string) []wireFault {
	w := wireFit{revision: revision, forms: formsOnTheWire()}
	head := readHead(message)
	switch {
	case head.method != "":
		kind := "message/notification"
		if head.id != "" {
			kind = "message/request"
		}
		return append(w.fitNamed(message, kind), w.fitNamed(message, head.method)...)
	case head.err != nil:
		return w.fitNamed(message, "message/error")
	}
	faults := w.fitNamed(message, "message/result")
	if !isObject(head.result) {
		return faults
	}
	of := append(w.fitNamed(head.result, "Result"), w.fitNamed(head.result, "result/"+method)...)
	return append(faults, below("result", of)...)
}

// fitNamed is fit for a form by its name; where the revision has none of that name,
// nothing is wrong.
func (w wireFit) fitNamed(value json.RawMessage, name string) []wireFault {
	if t := (wireType{name: name}); w.forms[name].known() && w.has(t) {
		return w.fit(value, t)
	}
	return nil
}

func (f wireForm) known() bool { return f.alias != nil || f.members != nil }

// revision is the one that a message must fit: that which the request named, or which
// the run agreed on.
func (m received) revision(e *Evidence) string {
	if m.answers != nil && memberAt(m.answers.Sent, "params", "_meta", "io.modelcontextprotocol/protocolVersion") != nil {
		return modernRevision
	}
	if isKnownRevision(m.run.Protocol) {
		return m.run.Protocol
	}
	for _, x := range m.run.asked("initialize") {
		if version := rawjson.Unquote(memberAt(x.Result, "protocolVersion")); isKnownRevision(version) {
			return version
		}
	}
	if e.Clean != nil && isKnownRevision(e.Clean.Protocol) {
		return e.Clean.Protocol
	}
	return commonRevision
}

func isKnownRevision(version string) bool {
	return version == modernRevision || slices.Contains(legacyRevisions(), version)
}
