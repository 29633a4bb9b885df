package doctor

import (
	"fmt"
	"strings"
)

func initializeRefused() Check {
	return Check{
		ID: "initialize-refused", Severity: Error, Group: GroupHandshake, Need: NeedProcess,
		After: []string{"status-unexpected", "auth-challenge", "redirect-drops-body"},
		Title: "server refuses initialize",
		Ask:   askInitializeRefused,
		Page: Page{
			Why: "A client that is refused the handshake ends the session. A server that does not know the revision that the client asks for must not refuse it: it answers with one that it " +
				"knows, and the client decides. What a server lacks to work, such as a key, is better said by the tools that need it.",
			Bad:  "→ initialize, protocolVersion 2025-11-25\n← error -32602 \"Unsupported protocol version\"",
			Good: "← {\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{…}}",
			Fix: []string{
				"in the server: answer initialize in every case, and let the tools say what is missing",
				"from outside: set what the error names, in env or headers of the server's entry",
			},
			Breaks: []string{"every client: there is no session"},
			Source: "MCP 2025-11-25, basic/lifecycle, version negotiation: MUST respond with another protocol version it supports",
		},
	}
}

// askInitializeRefused tells of the answer that left the server without a session. One
// that refuses initialize and speaks the modern protocol has a session.
func askInitializeRefused(e *Evidence) []Finding {
	x := e.initialized()
	if e.Handshaken() || !x.answered() || x.Error == nil {
		return nil
	}
	f := Finding{Where: x.where(e.Clean), Evidence: "initialize " + x.outcome()}
	message := memberText(memberAt(x.Error, "message"))
	if message != "" {
		f.Evidence += ": " + cut(message)
	}
	if data := memberAt(x.Error, "data"); data != nil {
		f.Notes = []string{"data of the error: " + cutJSON(data)}
	}
	if lower := strings.ToLower(message); strings.Contains(lower, "version") || memberAt(x.Error, "data", "supported") != nil {
		asked := memberText(memberAt(x.Sent, "params", "protocolVersion"))
		f.Title = fmt.Sprintf("server refuses initialize of revision %s, instead of offering its own", asked)
		f.Fix = []string{"in the server: answer initialize with the newest revision that it knows, whatever was asked for", "update the server's SDK"}
	}
	return sole(f)
}
