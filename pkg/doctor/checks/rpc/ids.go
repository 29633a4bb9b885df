package rpc

import (
	"bytes"
	"fmt"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

func askIDType(e *evidence.Evidence) []check.Finding {
	text := false
	found := doctorwire.OddFrames(e, wire.ClassIDType, func(r *evidence.Run, odd wire.OddFrame) string {
		got := evidence.ReadHead(odd.Bytes).ID
		if x := r.ByID(got); x != nil {
			text = text || rawjson.IsString([]byte(got))
			return fmt.Sprintf("the id was sent as %s and came back as %s", x.ID, evidence.Cut(got))
		}
		return ""
	})
	if found != nil && !text {
		found[0].Breaks = []string{} // the SDKs accept 3.0 for 3
	}
	return found
}

func askIDNull(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassIDNull, func(r *evidence.Run, odd wire.OddFrame) string {
		if doctorwire.AnswersGarbage(r, odd.Bytes) {
			return "" // as required
		}
		return evidence.CutJSON(odd.Bytes)
	})
}

func askRPCIDUnknown(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassIDUnknown, func(r *evidence.Run, odd wire.OddFrame) string {
		id := evidence.ReadHead(odd.Bytes).ID
		if evidence.PlainID(id) == "null" && doctorwire.AnswersGarbage(r, odd.Bytes) {
			return "" // "null": rpc-id-type reports it
		}
		return "id " + evidence.Cut(id)
	})
}

func askIDDuplicate(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassIDDuplicate, func(r *evidence.Run, odd wire.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || gotGarbageResponse(r, x) {
			return ""
		}
		same := "a different one"
		if bytes.HasPrefix(x.Frame, odd.Bytes) {
			same = "the same again"
		}
		return fmt.Sprintf("%s (id %s) was answered on line %d, and on line %d with %s",
			x.Method, x.ID, x.Line, odd.Line, same)
	})
}

// gotGarbageResponse reports whether the response to the invalid line was matched to a later request because that was
// the only pending one. The real response then looks like a duplicate.
func gotGarbageResponse(r *evidence.Run, x *evidence.Exchange) bool {
	if x.At.Before(r.Marks["garbage"]) {
		return false
	}
	return slices.ContainsFunc(evidence.EventsOf[wire.OddFrame](r), func(odd wire.OddFrame) bool {
		return odd.Class == wire.ClassIDNull && odd.Used && doctorwire.AnswersGarbage(r, odd.Bytes)
	})
}

// askLateReply covers the doctor's own requests. cancel-ignored covers the user's calls; discover-breaks-server and
// request-before-init cover the probing run's requests before its handshake.
func askLateReply(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassIDLate, func(r *evidence.Run, odd wire.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || evidence.IsUsersCall(x) || evidence.SilentInHandshake(e) {
			return ""
		}
		ready, reached := r.Marks["ready"]
		if r.Name == "probing" && x.Method != "initialize" && (!reached || x.At.Before(ready)) {
			return ""
		}
		return fmt.Sprintf("%s was answered after %s, %s", x.Method, evidence.Milliseconds(x.Took), r.AfterGivingUp(x))
	})
}

func askIDCollision(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range doctorwire.Messages(e) {
		if m.Head.Method == "" || m.Head.ID == "" || m.IsEcho() {
			continue
		}
		for _, x := range m.Run.Exchanges {
			if x.ID == m.Head.ID && x.Waits(m.Event.At) {
				found = append(found, check.At(m.Where(),
					"the server sends %s with id %s while %s with the same id is pending",
					m.Head.Method, m.Head.ID, x.Method))
			}
		}
	}
	return check.Alike(found)
}
