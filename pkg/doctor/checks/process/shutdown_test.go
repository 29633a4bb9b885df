package process

import (
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

// TestUnprompt shows what is said of a server that is slow to end, of one that does not, and of either on Windows.
func TestUnprompt(t *testing.T) {
	for _, c := range []struct {
		forced, goos, title, evidence string
		took                          time.Duration
	}{
		{"", "linux", "server exits 3.1 s after its stdin closes; clients wait 2 s", "exited 3.1 s after", 3120 * time.Millisecond},
		{"SIGTERM", "linux", "server does not exit when its stdin closes (needed SIGTERM)", "alive 5.0 s after its stdin was closed; SIGTERM ended it", 5 * time.Second},
		{"SIGTERM", "windows", "", "alive 5.0 s after its stdin was closed; toolx ended it", 5 * time.Second},
	} {
		f := slowExit(&evidence.Run{Name: "clean"}, c.took, &wire.ProcessExited{Forced: c.forced}, c.goos)
		if f.Title != c.title || !strings.HasPrefix(f.Evidence, c.evidence) {
			t.Errorf("%q, %q; want %q, %q", f.Title, f.Evidence, c.title, c.evidence)
		}
		if slow := c.forced == ""; slow != (f.Breaks != nil) { // the page says that the process is left behind
			t.Errorf("%q breaks %q", f.Title, f.Breaks)
		}
	}
}
