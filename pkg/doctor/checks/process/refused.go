package process

import (
	"fmt"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// askInitializeRefused reports the answer that left the server without a session. A server that refuses initialize
// and speaks the modern protocol has a session.
func askInitializeRefused(e *evidence.Evidence) []check.Finding {
	x := e.Initialized()
	if e.Handshaken() || !x.Answered() || x.Error == nil {
		return nil
	}
	f := check.At(x.Place(e.Clean), "initialize %s", x.Outcome())
	message := evidence.MemberText(evidence.MemberAt(x.Error, "message"))
	if message != "" {
		f.Evidence += ": " + evidence.Cut(message)
	}
	data := evidence.MemberAt(x.Error, "data")
	if data != nil {
		f.Notes = []string{"data of the error: " + evidence.CutJSON(data)}
	}
	if strings.Contains(strings.ToLower(message), "version") || evidence.MemberAt(data, "supported") != nil {
		asked := evidence.MemberText(evidence.MemberAt(x.Sent, "params", "protocolVersion"))
		f.Title = fmt.Sprintf("server rejects initialize for revision %s instead of offering its own", asked)
		f.Fix = []string{
			"in the server: answer initialize with the newest revision that it knows, whatever was asked for",
			"update the server's SDK",
		}
		return []check.Finding{f}
	}
	code, _ := evidence.ErrorCode(x.Error)
	if c := e.Cause(); code == evidence.MethodNotFound && (c == nil || c.Kind == cause.Said) {
		f.Title = "server does not support initialize"
		f.Fix = []string{
			"check that this program is an MCP server on stdio, and that its args are those of its README",
			"in the server: answer initialize, best with an SDK of MCP",
		}
		return []check.Finding{f}
	}
	if !f.NameCause(e.Cause(), "server rejects initialize") {
		return nil
	}
	return []check.Finding{f}
}
