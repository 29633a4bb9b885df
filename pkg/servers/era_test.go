package servers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A server that refuses the revision which it says it speaks is asked for it once more,
// and not for an older one (MCP 2026-07-28, basic/versioning).
func TestRevisionRefusedAndOffered(t *testing.T) {
	for _, test := range []struct {
		name     string
		refusals int
		failure  string
	}{
		{"once", 1, ""},
		{"for ever", 100, "Unsupported protocol version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused := 0
			site := newSite(t, func(s *site) {
				s.modern = true
				s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
					if refused >= test.refusals || m.Method != "server/discover" {
						return false
					}
					refused++
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`, m.ID)
					return true
				}
			})
			s := newRemoteStage(t, plenty, site.URL)
			s.dial.Attempts = 1
			err := s.open()
			if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("%v, want %q", err, test.failure)
			}
			if asked := len(site.seen("server/discover")); asked != 2 {
				t.Errorf("it is asked %d times, want 2", asked)
			}
			if len(site.seen("initialize")) > 0 {
				t.Error("the older era is tried")
			}
		})
	}
}
