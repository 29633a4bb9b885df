package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// leavingServer is a command that leaves processes in every way before it becomes the fake server: in its group, in a
// session of their own, by a double fork, by one that ignores SIGTERM, and with a cleared environment. Each writes its
// number before the server begins.
func leavingServer(pids string, mode ...string) []string {
	const script = `
before=$(cat "$0" 2>/dev/null | wc -l)
stay='echo $$ >> "$0"; exec sleep 1000'
sh -c "$stay" "$0" < /dev/null > /dev/null 2>&1 &
setsid sh -c "$stay" "$0" < /dev/null > /dev/null 2>&1 &
(setsid sh -c "$stay" "$0" < /dev/null > /dev/null 2>&1 &)
(setsid sh -c 'trap "" TERM; echo $$ >> "$0"; sleep 1000; sleep 1000' "$0" < /dev/null > /dev/null 2>&1 &)
env -i setsid sh -c "$stay" "$0" < /dev/null > /dev/null 2>&1 &
(env -i setsid sh -c "$stay" "$0" < /dev/null > /dev/null 2>&1 &)
until [ "$(cat "$0" 2>/dev/null | wc -l)" = $((before + 6)) ]; do :; done
exec "$@"`
	return append([]string{"sh", "-c", script, pids, "fakeserver"}, mode...)
}

// TestOffspring proves that what a server leaves behind ends with it, wherever it has gone:
// after a call, after Ctrl-C, after a second one, and after the proxy.
func TestOffspring(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	begin := func(args ...string) *running {
		t.Helper()
		if err := os.Remove(pids); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		r := start(t, args...)
		r.pids = pids
		return r
	}
	call := func(tool string, flags ...string) []string {
		return append([]string{"call", tool, "-v", "--trace"}, flags...)
	}

	r := begin(append(append(call("echo", "message=hi"), "--"), leavingServer(pids, "good")...)...)
	r.end(0)
	if got := r.seen.String(); strings.Count(got, "had left processes, which were ended: ") != 1 ||
		strings.Count(got, "sleep (") < 3 {
		t.Errorf("what was ended is not told:\n%s", got)
	}

	slow := append(call("slow", "ms=600000", "steps=60000"), "--")
	r = begin(append(slow, leavingServer(pids, "good")...)...)
	r.await("← notifications/progress")
	r.signal(syscall.SIGINT)
	r.end(130)

	r = begin(append(slow, leavingServer(pids, "--on", "tools/call", "ignore-eof", "ignore-sigterm", "good")...)...)
	r.await("← notifications/progress")
	r.signal(syscall.SIGINT)
	r.await("interrupted")
	r.signal(syscall.SIGINT)
	r.end(130)

	r = begin(append([]string{"proxy", "--"}, leavingServer(pids, "good")...)...)
	r.end(0)

	r = begin(append([]string{"doctor", "--only", "stdout-pollution", "--"}, leavingServer(pids, "good")...)...)
	r.end(0)
}
