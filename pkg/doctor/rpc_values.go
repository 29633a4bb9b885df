package doctor

import (
	"fmt"

	"toolx/pkg/servers"
)

func askRPCSurrogate(e *Evidence) []Finding {
	return e.oddities(loneSurrogate, "the escape %s has no other half")
}

// oddities are the places of one kind in all messages.
func (e *Evidence) oddities(kind oddityKind, says string) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		for _, one := range m.oddities {
			if one.kind != kind {
				continue
			}
			where := m.where()
			where.Pointer = one.pointer
			found = append(found, Finding{Where: where, Evidence: cut(fmt.Sprintf(says, one.detail))})
		}
	}
	return alike(found)
}

// maxDepth is the depth beyond which common readers fail.
const maxDepth = 128

// askDepth finds deep messages, and lines that begin like a message, are nested deep
// and could not be read: their depth is counted in what is kept of them.
func askDepth(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.depth > maxDepth {
			found = append(found, Finding{Where: m.where(), Evidence: fmt.Sprintf("%d levels", m.depth)})
		}
	}
	for _, run := range e.Runs() {
		for _, line := range EventsOf[servers.PollutedLine](run) {
			if line.Class != servers.ClassBroken {
				continue
			}
			if depth, _ := scanJSON(line.Text); depth > maxDepth {
				found = append(found, Finding{
					Severity: Error,
					Title:    "a message is nested too deep to be read",
					Where:    &Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: run.Since(line.At)},
					Evidence: fmt.Sprintf("%d levels in the first %d bytes; toolx reads 10,000", depth, len(line.Text)),
				})
			}
		}
	}
	return alike(found)
}
