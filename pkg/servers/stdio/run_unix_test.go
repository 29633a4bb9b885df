//go:build unix

package stdio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPrintedSaysWhatWentWrong proves that what a program leaves behind, its limit and its exit code are told in
// toolx's words.
func TestPrintedSaysWhatWentWrong(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		limit  time.Duration
		want   string
	}{
		"output kept open":     {"sleep 600 & echo x", time.Minute, "what it has started keeps its output open"},
		"stderr kept open":     {"sleep 600 >/dev/null & echo x", time.Minute, "what it has started keeps its output open"},
		"the time is up":       {"exec sleep 600", 50 * time.Millisecond, "it has not ended within 50ms"},
		"it fails, with words": {"echo sealed >&2; exit 4", time.Minute, "exit status 4; stderr: sealed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := Output(t.Context(), test.limit, []string{"sh", "-c", test.script}, t.TempDir(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q, %v; want %q", text, err, test.want)
			}
		})
	}
}

// TestLateError proves that a program that has not ended in time is a timeout.
func TestLateError(t *testing.T) {
	late := fmt.Errorf("x: %w", lateError{time.Second})
	if !errors.Is(late, context.DeadlineExceeded) || late.Error() != "x: it has not ended within 1s" {
		t.Errorf("%v", late)
	}
}
