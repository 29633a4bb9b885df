//go:build unix

package doctor

import (
	"context"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
)

// buffered is a server that answers, and whose answers lie in a buffer until its
// stdin ends: what a Python program does that does not flush.
const buffered = `cat >/dev/null; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"b","version":"1"}}}'`

func TestOutputBuffered(t *testing.T) {
	server := config.AdHoc([]string{"sh", "-c", buffered}, "", nil)
	options := shortOptions()
	options.Limit = 500 * time.Millisecond
	report := Judge(Examine(context.Background(), nil, []*config.Server{server}, options), Selection{})
	provocation{
		id: "output-buffered", severity: check.Error, evidence: "after stdin was closed", fix: "python -u",
	}.expect(t, report)
	for _, result := range report.Checks {
		if result.ID == "handshake-timeout" &&
			(result.Outcome != check.Skipped || result.Because != "output-buffered") {
			t.Errorf("handshake-timeout: %s because %q, want it skipped for its cause", result.Outcome, result.Because)
		}
	}
}
