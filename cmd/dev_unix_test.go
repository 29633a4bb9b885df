//go:build unix

package cmd_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDev saves a server's file again and again, and reads what toolx dev says of each state.
func TestDev(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	serve := func(mode string) {
		t.Helper()
		script := filepath.Join(folder, "serve.sh")
		if err := os.WriteFile(script, []byte("exec fakeserver "+mode+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve("good")
	dev := exec.Command("toolx", "dev", "--call", `echo {"message":"it works"}`, "--", "sh", "serve.sh")
	dev.Dir, dev.Env = folder, append(os.Environ(), homeVariables(t.TempDir())...)
	stdout, err := dev.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	// until reads up to a line that holds text, and wants none that holds one of not.
	until := func(text string, not ...string) {
		t.Helper()
		for lines.Scan() {
			for _, wrong := range not {
				if strings.Contains(lines.Text(), wrong) {
					t.Errorf("before %q there is %q", text, lines.Text())
				}
			}
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("toolx dev ended before %q", text)
	}
	until("started in ")
	until("echo answered in ", "+ ", "~ ")
	until("it works")
	until("✓ the doctor finds nothing wrong", "✗")

	serve("banner stateful")
	until("changed: serve.sh")
	until("+ count")
	until("✗ server writes text to stdout before its first answer  stdout-pollution")

	serve("exit1-stderr")
	until("did not start", "started")
	until("✗ ", "mended")

	serve("good")
	until("started in ")
	until("- count")
	until("it works")
	until("✓ mended: server writes text to stdout before its first answer  stdout-pollution")

	if err := dev.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // Wait closes the pipe
	}
	if _ = dev.Wait(); dev.ProcessState.ExitCode() != 130 {
		t.Errorf("exit code %d, want 130", dev.ProcessState.ExitCode())
	}
}
