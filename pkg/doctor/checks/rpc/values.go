package rpc

import (
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/wire"
	"toolx/pkg/servers"
)

func askRPCSurrogate(e *evidence.Evidence) []check.Finding {
	return oddities(e, wire.LoneSurrogate, "the escape %s has no other half")
}

// oddities are the places of one kind in all messages.
func oddities(e *evidence.Evidence, kind wire.OddityKind, says string) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		for _, one := range m.Oddities {
			if one.Kind != kind {
				continue
			}
			where := m.Where()
			where.Pointer = one.Pointer
			found = append(found, check.Finding{Where: where, Evidence: evidence.Cut(fmt.Sprintf(says, one.Detail))})
		}
	}
	return check.Alike(found)
}

// maxDepth is the depth beyond which common readers fail.
const maxDepth = 128

// askDepth finds deep messages, and lines that begin like a message, are nested deep
// and could not be read: their depth is counted in what is kept of them.
func askDepth(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		if m.Depth > maxDepth {
			found = append(found, check.Finding{Where: m.Where(), Evidence: fmt.Sprintf("%d levels", m.Depth)})
		}
	}
	for _, run := range e.Runs() {
		for _, line := range evidence.EventsOf[servers.PollutedLine](run) {
			if line.Class != servers.ClassBroken {
				continue
			}
			if depth, _ := wire.ScanJSON(line.Text); depth > maxDepth {
				found = append(found, check.Finding{
					Severity: check.Error,
					Title:    "a message is nested too deep to be read",
					Where:    &evidence.Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: run.Since(line.At)},
					Evidence: fmt.Sprintf("%d levels in the first %d bytes; toolx reads 10,000", depth, len(line.Text)),
				})
			}
		}
	}
	return check.Alike(found)
}
