package doctor

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func rpcIDType() Check {
	return Check{
		ID: "rpc-id-type", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "an id comes back as another JSON type",
		Ask:   askIDType,
		Page: Page{
			Why: "The id of an answer says which request it answers, and must be the same value: 1 is a number, \"1\" is a " +
				"string, and many clients keep them apart. The answer is then dropped without a word, and the request waits for ever. " +
				"Clients of the TypeScript SDK make a number of it again, so that it goes unnoticed there.",
			Bad:    "→ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n← {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}",
			Good:   "← {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
			Fix:    []string{"in the server: send the id back unchanged; keep it as raw JSON instead of a string or a float"},
			Breaks: []string{"Go SDK and mcp-go drop the answer and wait until their time is up, where it is a string"},
			Source: "JSON-RPC 2.0 §5; MCP 2025-11-25, basic, responses: the same ID",
		},
	}
}

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

func rpcIDNull() Check {
	return Check{
		ID: "rpc-id-null", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "an answer has no id",
		Ask:   askIDNull,
		Page: Page{
			Why: "A null id is for errors about messages that could not be read. Here the request could be read, and its " +
				"answer names no request: a client cannot know which it is, and waits for ever.",
			Bad:    "← {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
			Good:   "← {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
			Fix:    []string{"in the server: send the request's id back, in errors too"},
			Breaks: []string{"clients of the TypeScript SDK drop the answer and wait for 60 s"},
			Source: "JSON-RPC 2.0 §5; MCP 2025-11-25, basic, responses",
		},
	}
}

func askIDNull(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDNull, func(r *Run, odd servers.OddFrame) string {
		if answersGarbage(r, odd.Bytes) || !odd.Used && !r.Marks["notification"].IsZero() {
			return "" // right; or for notification-answered to tell
		}
		return cutJSON(odd.Bytes)
	})
}

func rpcIDUnknown() Check {
	return Check{
		ID: "rpc-id-unknown", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "an answer has an id that was never sent",
		Ask: func(e *Evidence) []Finding {
			return e.oddFrames(servers.ClassIDUnknown, func(r *Run, odd servers.OddFrame) string {
				id := readHead(odd.Bytes).id
				if plainID(id) == "null" && answersGarbage(r, odd.Bytes) {
					return "" // the null that it should have, as text: rpc-id-type
				}
				return "id " + cut(id)
			})
		},
		Page: Page{
			Why: "The server answers a request that nobody made. Mostly it makes up ids, or mixes up two clients; the " +
				"request that it meant then waits for ever.",
			Bad:    "→ {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n← {\"jsonrpc\":\"2.0\",\"id\":987654321,\"result\":{}}",
			Good:   "← {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}",
			Fix:    []string{"in the server: send back the id of the request that is being answered"},
			Breaks: []string{"the TypeScript SDK reports an error and drops the answer; mcp-go drops it without a word"},
			Source: "JSON-RPC 2.0 §5; MCP 2025-11-25, basic, responses",
		},
	}
}

func rpcIDDuplicate() Check {
	return Check{
		ID: "rpc-id-duplicate", Severity: Error, Group: GroupRPC, Need: NeedProcess,
		Title: "a request is answered twice",
		Ask:   askIDDuplicate,
		Page: Page{
			Why: "The second answer belongs to no request any more. Clients drop it, report an error, or, where ids are used " +
				"again, take it for the answer to another request.",
			Bad:    "← {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{…}}\n← {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{…}}",
			Good:   "One answer to each request.",
			Fix:    []string{"in the server: return after an error was sent; make sure that a handler answers once"},
			Breaks: []string{"the TypeScript SDK reports \"Received a response for an unknown message ID\""},
			Source: "JSON-RPC 2.0 §4, §5",
		},
	}
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

func rpcLateReply() Check {
	return Check{
		ID: "rpc-late-reply", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "an answer comes after its request was given up",
		Ask:   askLateReply,
		Page: Page{
			Why: "The client had waited, given the request up and said so with notifications/cancelled. The answer is work " +
				"for nothing, and a client that uses ids again can take it for another answer.",
			Bad:    "→ notifications/cancelled {\"requestId\":4}\n← {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{…}}",
			Good:   "→ notifications/cancelled {\"requestId\":4}\n(no answer)",
			Fix:    []string{"in the server: answer sooner, or stop the work when it is cancelled and send no answer"},
			Source: "MCP 2025-11-25, basic/utilities/cancellation",
		},
	}
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
		if head := readHead(sent.Bytes); head.method == "notifications/cancelled" &&
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

func rpcIDCollision() Check {
	return Check{
		ID: "rpc-id-collision", Severity: Info, Group: GroupRPC, Need: NeedProcess,
		Title: "a request of the server has the id of a request that waits",
		Ask:   askIDCollision,
		Page: Page{
			Why: "Each side numbers its own requests, so this is allowed. Some clients keep one table for both, and then take " +
				"the server's request for an answer.",
			Bad:    "→ {\"id\":4,\"method\":\"tools/call\",…}\n← {\"id\":4,\"method\":\"ping\"}",
			Good:   "← {\"id\":\"server-1\",\"method\":\"ping\"}",
			Fix:    []string{"in the server: give its own requests ids that no client uses, such as strings with a prefix"},
			Source: "JSON-RPC 2.0 §4: ids are the sender's own",
		},
	}
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
