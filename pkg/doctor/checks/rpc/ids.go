package rpc

import (
	"bytes"
	"fmt"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/wire"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func askIDType(e *evidence.Evidence) []check.Finding {
	text := false
	found := wire.OddFrames(e, servers.ClassIDType, func(r *evidence.Run, odd servers.OddFrame) string {
		got := evidence.ReadHead(odd.Bytes).ID
		if x := r.ByID(got); x != nil {
			text = text || rawjson.IsString([]byte(got))
			return fmt.Sprintf("the id was sent as %s and came back as %s", x.ID, evidence.Cut(got))
		}
		return ""
	})
	for i := range found {
		if !text {
			found[i].Breaks = []string{} // the SDKs take 3.0 for 3
		}
	}
	return found
}

func askIDNull(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassIDNull, func(r *evidence.Run, odd servers.OddFrame) string {
		if wire.AnswersGarbage(r, odd.Bytes) || !odd.Used && !r.Marks["notification"].IsZero() {
			return "" // right; or for notification-answered to tell
		}
		return evidence.CutJSON(odd.Bytes)
	})
}

func askRPCIDUnknown(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassIDUnknown, func(r *evidence.Run, odd servers.OddFrame) string {
		id := evidence.ReadHead(odd.Bytes).ID
		if evidence.PlainID(id) == "null" && wire.AnswersGarbage(r, odd.Bytes) {
			return "" // the null that it should have, as text: rpc-id-type
		}
		return "id " + evidence.Cut(id)
	})
}

func askIDDuplicate(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassIDDuplicate, func(r *evidence.Run, odd servers.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || tookGarbagesAnswer(r, x) {
			return ""
		}
		same := "a different one"
		if bytes.HasPrefix(x.Frame, odd.Bytes) {
			same = "the same again"
		}
		return fmt.Sprintf("%s (id %s) was answered on line %d, and on line %d with %s", x.Method, x.ID, x.Line, odd.Line, same)
	})
}

// tookGarbagesAnswer reports whether the answer to the line that is no JSON came while
// the request behind it was the only one that waited, and was taken for its answer:
// then the real one seems to be a second.
func tookGarbagesAnswer(r *evidence.Run, x *evidence.Exchange) bool {
	if x.At.Before(r.Marks["garbage"]) {
		return false
	}
	return slices.ContainsFunc(evidence.EventsOf[servers.OddFrame](r), func(odd servers.OddFrame) bool {
		return odd.Class == servers.ClassIDNull && odd.Used && wire.AnswersGarbage(r, odd.Bytes)
	})
}

// askLateReply is about the doctor's own requests; calls that the user asked for
// may take their time, and cancel-ignored is about them. What comes before the probing
// run's handshake is for discover-breaks-server and request-before-init to tell.
func askLateReply(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassIDLate, func(r *evidence.Run, odd servers.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || evidence.IsUsersCall(x) || evidence.SilentInHandshake(e) || beforeReady(r, x) {
			return ""
		}
		return fmt.Sprintf("%s was answered after %s, %s", x.Method, evidence.Milliseconds(x.Took), r.AfterGivingUp(x))
	})
}

// beforeReady reports whether a request is one of those that the probing run makes before
// the handshake.
func beforeReady(r *evidence.Run, x *evidence.Exchange) bool {
	if r.Name != "probing" || x.Method == "initialize" {
		return false
	}
	ready, reached := r.Marks["ready"]
	return !reached || x.At.Before(ready)
}

func askIDCollision(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, m := range wire.Messages(e) {
		if m.Head.Method == "" || m.Head.ID == "" || m.IsEcho() {
			continue
		}
		for _, x := range m.Run.Exchanges {
			if x.ID == m.Head.ID && x.Waits(m.Event.At) {
				found = append(found, check.Finding{
					Where:    m.Where(),
					Evidence: fmt.Sprintf("the server asks %s under id %s while %s waits under the same", m.Head.Method, m.Head.ID, x.Method),
				})
			}
		}
	}
	return check.Alike(found)
}
