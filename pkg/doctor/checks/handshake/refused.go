package handshake

import (
	"fmt"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// askInitializeRefused tells of the answer that left the server without a session. One
// that refuses initialize and speaks the modern protocol has a session.
func askInitializeRefused(e *evidence.Evidence) []check.Finding {
	x := e.Initialized()
	if e.Handshaken() || !x.Answered() || x.Error == nil {
		return nil
	}
	f := check.Finding{Where: x.Place(e.Clean), Evidence: "initialize " + x.Outcome()}
	message := evidence.MemberText(evidence.MemberAt(x.Error, "message"))
	if message != "" {
		f.Evidence += ": " + evidence.Cut(message)
	}
	if data := evidence.MemberAt(x.Error, "data"); data != nil {
		f.Notes = []string{"data of the error: " + evidence.CutJSON(data)}
	}
	if lower := strings.ToLower(message); strings.Contains(lower, "version") || evidence.MemberAt(x.Error, "data", "supported") != nil {
		asked := evidence.MemberText(evidence.MemberAt(x.Sent, "params", "protocolVersion"))
		f.Title = fmt.Sprintf("server refuses initialize of revision %s, instead of offering its own", asked)
		f.Fix = []string{"in the server: answer initialize with the newest revision that it knows, whatever was asked for", "update the server's SDK"}
	}
	return check.Sole(f)
}
