//go:build unix

package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalStaysSmall floods a person at the terminal with questions: toolx stays below
// 256 MiB, and what was not asked when the call ended is not asked any more.
func TestTerminalStaysSmall(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit-flood", "elicit-huge"} {
		peak := filepath.Join(t.TempDir(), "peak")
		term := programOnTerminal(t, emptyFolder(t), nil, "measured", peak, buildToolx(t), "call", "echo", "message=hi", "--", buildFake(t), mode)
		written := term.end(0)
		if !strings.Contains(written, "hi\r\n") {
			t.Errorf("%s: no answer:\n%q", mode, written)
		}
		if asked := strings.Count(written, `server "server" asks:`); asked > 50 { // of the 100 that waited
			t.Errorf("%s: asked %d times after the call", mode, asked)
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%s: %d MiB at its largest", mode, size>>20)
		}
	}
}
