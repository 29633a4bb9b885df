//go:build unix

package cmd_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// proxyProcess is toolx proxy as a process of its own, before a fake server that has come up. Its client says nothing.
func proxyProcess(t *testing.T, modes ...string) (cmd *exec.Cmd, pids string) {
	t.Helper()
	pids = filepath.Join(t.TempDir(), "pids")
	cmd = exec.Command("toolx",
		append([]string{"proxy", "--", "fakeserver", "--pids", pids, "--stderr", "ready"}, modes...)...)
	cmd.Dir = emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // it has ended, or does now
	})
	if line, err := bufio.NewReader(stderr).ReadString('\n'); line != "ready\n" {
		t.Fatalf("stderr begins with %q, %v", line, err)
	}
	return cmd, pids
}

// TestProxySignals sends signals to toolx proxy: the server gets them, and its end is the proxy's.
func TestProxySignals(t *testing.T) {
	t.Parallel()
	obeyHangUp()
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		cmd, pids := proxyProcess(t, "grandchild")
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code says how it ended
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d, want %d", signal, got, code)
		}
		wantGone(t, pids)
	}
}

// wantGone waits until the processes of which a file has the ids are gone: killed ones take a moment.
func wantGone(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if !within(func() bool { return !alive(pid) }) {
			t.Fatalf("process %d of the server is left behind", pid)
		}
	}
}

// alive reports whether a process is left that is more than an entry waiting to be reaped.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		_, noProc := os.Stat("/proc/self")
		return noProc != nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
