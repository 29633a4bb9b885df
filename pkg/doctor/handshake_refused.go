package doctor

import (
	"fmt"
	"strings"
)

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
