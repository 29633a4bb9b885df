//go:build unix

package cmd_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStderrThatNobodyReads proves that a server's last words reach the error and the log although toolx's own stderr
// is full (MCP-2): the answer is there before anybody reads stderr, and then nothing of that is missing.
func TestStderrThatNobodyReads(t *testing.T) {
	t.Parallel()
	const flood = 5000 // lines, more than two pipes hold
	toolx := exec.Command("toolx", "call", "echo", "message=a", "--retries", "0", "-v", "--json", "--",
		"fakeserver", "--count", "5000", "stderr-flood", "exit-mid-call")
	toolx.Dir = emptyFolder(t)
	toolx.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	stdout, err := toolx.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := toolx.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := toolx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = toolx.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		Error   string
		Details []string
	}
	if err := json.Unmarshal(line, &envelope); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	const last = "fatal: cannot go on with tools/call"
	if !strings.Contains(envelope.Error, ": "+last+" (") {
		t.Errorf("the error is %q", envelope.Error)
	}
	log, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	_ = toolx.Wait() // the exit code is another test's matter
	if got := strings.Count(string(log), "stderr: flood line "); got != flood {
		t.Errorf("%d lines on stderr, want %d", got, flood)
	}
	if !strings.Contains(string(log), "stderr: "+last+"\n") {
		t.Error("the last words are not on stderr")
	}
	path := strings.Fields(envelope.Details[len(envelope.Details)-1])[1]
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(saved), "\n"); got != flood+1 {
		t.Errorf("%d lines in %s, want %d", got, path, flood+1)
	}
}
