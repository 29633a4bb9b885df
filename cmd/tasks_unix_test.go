//go:build unix

package cmd_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestTaskOnTerminal looks at the live line while a call runs as a task: it has the state, what the server says, and
// the time, and no number of questions. Ctrl-C cancels the task at its server.
func TestTaskOnTerminal(t *testing.T) {
	t.Parallel()
	for _, modes := range [][]string{{"tasks"}, {"stateless-only", "tasks"}} {
		args := []string{"call", "research", "end=never", "-v", "--", "fakeserver"}
		term := onTerminal(t, nil, append(args, modes...)...)
		term.await(`\x1b\[Kresearch  [0-9.]+m?s  working: -\d+ steps left`)
		if _, err := term.master.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		seen := term.end(130)
		if !strings.Contains(seen, "stderr: task t1 is cancelled") ||
			!strings.Contains(seen, "Tool 'server__research' interrupted\r\n") {
			t.Errorf("%v: the task is not cancelled:\n%q", modes, seen)
		}
		if counted := regexp.MustCompile(`\x1b\[Kresearch  \d+  `).FindString(seen); counted != "" {
			t.Errorf("%v: the line counts questions: %q", modes, counted)
		}
	}
}

// TestTaskProgressOnTerminal holds that numbers that the tool reports stand beside the task's state.
func TestTaskProgressOnTerminal(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "call", "research", "steps=100000", "progress=true", "--", "fakeserver", "tasks")
	term.await(`░  \d+/100000  [0-9.]+m?s  working: \d+ steps left`)
	if _, err := term.master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	term.end(130)
}
