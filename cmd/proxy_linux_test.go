package cmd_test

import "testing"

// TestProxyKilled kills toolx proxy, which cannot tell its server any more: the
// kernel ends that, though it does not care for its stdin.
func TestProxyKilled(t *testing.T) {
	t.Parallel()
	cmd, pids := proxyProcess(t, "ignore-eof")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, pids)
}
