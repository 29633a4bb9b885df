package rpc

import (
	"fmt"
	"iter"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/servers/wire"
)

// askDepth finds messages that are nested deeper than common parsers accept, and lines that toolx cannot parse because
// of their depth.
func askDepth(e *evidence.Evidence) []check.Finding {
	const maxDepth = 128
	var found []check.Finding
	for _, m := range doctorwire.Messages(e) {
		if m.Depth > maxDepth {
			found = append(found, check.At(m.Where(), "%d levels", m.Depth))
		}
	}
	for where, line := range linesOf(e, wire.ClassBroken) {
		if depth, _ := doctorwire.ScanJSON(line.Text); depth > maxDepth {
			f := check.At(where, "%d levels in the first %d bytes; toolx reads 10,000", depth, len(line.Text))
			f.Severity, f.Title = check.Error, "server's message is nested too deeply to be read"
			found = append(found, f)
		}
	}
	return check.Alike(found)
}

// linesOf yields the lines of a class in all runs and their places.
func linesOf(e *evidence.Evidence, class wire.Class) iter.Seq2[*evidence.Where, wire.PollutedLine] {
	return func(yield func(*evidence.Where, wire.PollutedLine) bool) {
		for _, run := range e.Runs() {
			for _, line := range evidence.EventsOf[wire.PollutedLine](run) {
				if line.Class == class && !yield(run.OnLine(line), line) {
					return
				}
			}
		}
	}
}

// askOddities finds the oddities of one kind in all messages.
func askOddities(kind doctorwire.OddityKind, says string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, m := range doctorwire.Messages(e) {
			for _, one := range m.Oddities {
				if one.Kind == kind {
					where := m.Where()
					where.Pointer = one.Pointer
					found = append(found, check.At(where, "%s", evidence.Cut(fmt.Sprintf(says, one.Detail))))
				}
			}
		}
		return check.Alike(found)
	}
}
