package doctor

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func askIDType(e *Evidence) []Finding {
	text := false
	found := e.oddFrames(servers.ClassIDType, func(r *Run, odd servers.OddFrame) string {
		got := readHead(odd.Bytes).id
		if x := r.byID(got); x != nil {
			text = text || rawjson.IsString([]byte(got))
			return fmt.Sprintf("the id was sent as %s and came back as %s", x.ID, cut(got))
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

func askIDNull(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDNull, func(r *Run, odd servers.OddFrame) string {
		if answersGarbage(r, odd.Bytes) || !odd.Used && !r.Marks["notification"].IsZero() {
			return "" // right; or for notification-answered to tell
		}
		return cutJSON(odd.Bytes)
	})
}

func askRPCIDUnknown(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDUnknown, func(r *Run, odd servers.OddFrame) string {
		id := readHead(odd.Bytes).id
		if plainID(id) == "null" && answersGarbage(r, odd.Bytes) {
			return "" // the null that it should have, as text: rpc-id-type
		}
		return "id " + cut(id)
	})
}

func askIDDuplicate(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDDuplicate, func(r *Run, odd servers.OddFrame) string {
		x := r.byID(readHead(odd.Bytes).id)
		if x == nil || r.tookGarbagesAnswer(x) {
			return ""
		}
		same := "a different one"
		if bytes.HasPrefix(x.Frame, odd.Bytes) {
			same = "the same again"
		}
		return fmt.Sprintf("%s (id %s) was answered on line %d, and on line %d with %s", x.Method, x.ID, x.Line, odd.Line, same)
	})
}

// tookGarbagesAnswer says whether the answer to the line that is no JSON came while
// the request behind it was the only one that waited, and was taken for its answer:
// then the real one seems to be a second.
func (r *Run) tookGarbagesAnswer(x *Exchange) bool {
	if x.At.Before(r.Marks["garbage"]) {
		return false
	}
	return slices.ContainsFunc(EventsOf[servers.OddFrame](r), func(odd servers.OddFrame) bool {
		return odd.Class == servers.ClassIDNull && odd.Used && answersGarbage(r, odd.Bytes)
	})
}

// askLateReply is about the doctor's own requests; calls that the user asked for
// may take their time, and cancel-ignored is about them. What comes before the probing
// run's handshake is for discover-breaks-server and request-before-init to tell.
func askLateReply(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDLate, func(r *Run, odd servers.OddFrame) string {
		x := r.byID(readHead(odd.Bytes).id)
		if x == nil || isUsersCall(x) || silentInHandshake(e) || r.beforeReady(x) {
			return ""
		}
		return fmt.Sprintf("%s was answered after %s, %s", x.Method, milliseconds(x.Took), r.afterGivingUp(x))
	})
}

// beforeReady says whether a request is one of those that the probing run makes before
// the handshake.
func (r *Run) beforeReady(x *Exchange) bool {
	if r.Name != "probing" || x.Method == "initialize" {
		return false
	}
	ready, reached := r.Marks["ready"]
	return !reached || x.At.Before(ready)
}

// afterGivingUp says how long after its cancellation a request was answered.
func (r *Run) afterGivingUp(x *Exchange) string {
	for _, sent := range EventsOf[servers.FrameSent](r) {
		if sent.Method == "notifications/cancelled" &&
			string(memberAt(sent.Bytes, "params", "requestId")) == x.ID {
			return milliseconds(max(0, x.At.Add(x.Took).Sub(sent.At))) + " after it was cancelled"
		}
	}
	return "when nobody waited for it any more"
}

// isUsersCall says whether a request is a call that the user asked for: only those
// have a progress token.
func isUsersCall(x *Exchange) bool {
	return x.Method == "tools/call" && memberAt(x.Sent, "params", "_meta", "progressToken") != nil
}

func askIDCollision(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.head.method == "" || m.head.id == "" || m.isEcho() {
			continue
		}
		for _, x := range m.run.Exchanges {
			if x.ID == m.head.id && x.waits(m.event.At) {
				found = append(found, Finding{
					Where:    m.where(),
					Evidence: fmt.Sprintf("the server asks %s under id %s while %s waits under the same", m.head.method, m.head.id, x.Method),
				})
			}
		}
	}
	return alike(found)
}

// waits says whether the request was sent and not answered at a time.
func (x *Exchange) waits(at time.Time) bool {
	return !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at))
}
