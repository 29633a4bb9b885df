package process

import (
	"fmt"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// askInitializeRefused reports an error from initialize that prevented a session. A modern server may reject initialize
// and have a session.
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
			"in the server: respond to initialize with its newest revision, whatever the client requested",
			"update the server's SDK",
		}
		return []check.Finding{f}
	}
	code, _ := evidence.ErrorCode(x.Error)
	if c := e.Cause(); code == evidence.MethodNotFound && (c == nil || c.Kind == cause.Said) {
		f.Title = "server does not support initialize"
		f.Fix = []string{
			"check that this program is an MCP server on stdio, and compare its args with its README",
			"in the server: respond to initialize, preferably with an MCP SDK",
		}
		return []check.Finding{f}
	}
	if !f.AddCause(e.Cause(), "server rejects initialize") {
		return nil
	}
	return []check.Finding{f}
}
