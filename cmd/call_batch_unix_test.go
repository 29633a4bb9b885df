//go:build unix

package cmd_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBatchStreams proves that a result of a batch is printed before the next call has been read, and while the next
// one runs, and that Ctrl-C ends a batch whose input goes on, with a report.
func TestBatchStreams(t *testing.T) {
	args := []string{"call", "--batch", "-", "--report", "junit=report.xml", "--", "fakeserver", "silent-call"}
	command := exec.Command("toolx", args...)
	command.Dir = emptyFolder(t)
	command.Env = append(command.Environ(), homeVariables(filepath.Join(command.Dir, ".home"))...)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	command.Stderr = &told
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Process.Kill() //nolint:errcheck // it has ended already, as a rule
	lines := bufio.NewReader(output)
	ask := func(line, want string) {
		if _, err := io.WriteString(input, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			return
		}
		got, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(got, want) {
			t.Fatalf("%s: %s %v", line, got, err)
		}
	}
	ask(`{"tool": "toolx__math_eval", "arguments": {"expression": "1+1"}}`, `{"result":2}`)
	ask(`{"tool": "toolx__math_eval", "arguments": {"expression": "2+2"}}`, `{"result":4}`)
	ask(`{"tool": "toolx__math_eval", "arguments": {"expression": "1+"}, "id": "x"}`, `"id":"x","success":false`)
	ask(`{"tool": "toolx__math_eval", "arguments": {"expression": "3+3"}}`+"\n"+
		`{"tool": "echo", "arguments": {"message": "hi"}, "id": "y"}`, `{"result":6}`)
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	err = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 130 || strings.Count(string(rest), "\n") != 1 ||
		!strings.Contains(string(rest), `"id":"y","success":false`) {
		t.Errorf("exit code %d, %v; after the signal %q", code, err, rest)
	}
	if !strings.Contains(told.String(), "5 calls: 3 succeeded, 2 failed") {
		t.Errorf("stderr %q", told.String())
	}
	report, err := os.ReadFile(filepath.Join(command.Dir, "report.xml"))
	if err != nil || !strings.Contains(string(report), `<testsuites name="toolx" tests="6" failures="1" errors="2"`) ||
		!strings.Contains(string(report), `<error message="interrupted; 0 calls not made"></error>`) {
		t.Errorf("the report of an interrupted batch: %v, %s", err, report)
	}
}
