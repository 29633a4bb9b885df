//go:build unix

package servers

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"toolx/pkg/fault"
)

// TestHeadersAreMadeAnew proves that a token which has ended is replaced: after 401 the
// program is asked once more, and the request sent again where it says another one.
func TestHeadersAreMadeAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte("X-Token: "+token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wanted atomic.Value
	wanted.Store("first")
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			if m.Header.Get("X-Token") == wanted.Load() {
				return false
			}
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	})
	write("first")
	s := newRemoteStage(t, plenty, site.URL)
	s.dial.Launch.HeadersCommand = []string{"cat", file}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	wanted.Store("second")
	if result := s.call("site__echo", "{}"); fault.KindOf(result.Err) != fault.KindAuth ||
		len(site.seen("tools/call")) != 1 {
		t.Errorf("the same token: %v, sent %d times", result.Err, len(site.seen("tools/call")))
	}
	write("second")
	if result := s.call("site__echo", "{}"); !result.Success {
		t.Errorf("another token: %v", result.Err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wanted.Store("third")
	if result := s.call("site__echo", "{}"); result.Success ||
		!strings.Contains(result.Err.Error(), "headersCommand cat: exit status 1") {
		t.Errorf("no token: %v", result.Err)
	}
}
