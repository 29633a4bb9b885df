//go:build unix

package cmd_test

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// attach starts toolx trace --attach for a session, and returns when it shows what comes: its lines so far, and what
// returns the rest when it has ended by itself.
func (w *sessionWorld) attach(args ...string) (cmd *exec.Cmd, begin string, end func() (string, error)) {
	w.t.Helper()
	cmd = w.command(append([]string{"trace", "--attach"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	if begin, err = lines.ReadString('\n'); err != nil {
		w.t.Fatal(err)
	}
	return cmd, begin, func() (string, error) {
		rest, err := io.ReadAll(lines)
		return string(rest), errors.Join(err, cmd.Wait())
	}
}

// TestTraceAttached shows live what several clients of a session send, with its secrets masked, until it ends; a reader
// that has stopped delays none of them.
func TestTraceAttached(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, nil)
	const secret = "hunter2hunter2"
	w.start("--as", "s", "--env", "API_TOKEN="+secret, "--", w.fake, "stateful")
	_, begin, end := w.attach("s")
	if !strings.HasSuffix(begin, "\ts\tstarted: "+w.fake+" stateful\t\t\n") {
		t.Errorf("it begins with %q", begin)
	}
	_, _, endJSON := w.attach("s", "--json")
	stopped, _, endStopped := w.attach("s")
	if err := stopped.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.want(0, "1", "call", "s__count")
	w.want(0, secret, "call", "s__env", "name=API_TOKEN")
	w.murmur("s")
	w.want(0, "2", "call", "s__count")
	w.want(6, "", "call", "s__crash", "code=3")
	w.want(0, "1", "call", "s__count")
	if stdout, stderr, code := w.run("session", "stop", "s"); code != 0 {
		t.Errorf("session stop: exit code %d, %s%s", code, stdout, stderr)
	}
	shown, err := end()
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"\ts\t→ tools/call count #", "\ts\t→ tools/call env #", "\ts\tstderr: ", "murmured", "\tended: exit status 3\t",
		"\ts\tstarted: ", "\ts\t→ initialize ", "\tended: exit status 0\t",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if calls := strings.Count(shown, "→ tools/call count #"); calls != 3 {
		t.Errorf("%d calls are shown:\n%s", calls, shown)
	}
	shown, err = endJSON()
	if err != nil || strings.Contains(shown, secret) || !strings.Contains(shown, `"subject":"env"`) {
		t.Errorf("as JSON: %v\n%s", err, shown)
	}
	_ = stopped.Process.Signal(syscall.SIGCONT)
	if shown, err = endStopped(); err != nil || !strings.Contains(shown, "→ tools/call count #") {
		t.Errorf("the one that had stopped shows %v\n%s", err, shown)
	}
	if stderr := w.want(2, "", "trace", "--attach", "s"); !strings.Contains(stderr, `no session named "s"`) {
		t.Errorf("without a session: %s", stderr)
	}
}
