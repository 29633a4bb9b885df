//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// running is a toolx that runs, and the lines that it has written to stderr.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	lines  *bufio.Reader
	seen   strings.Builder
	pids   string // file of the server's process ids
}

// start starts toolx in an empty folder. "PIDS" among the arguments is the file
// into which a fake server writes its process ids.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, pids: filepath.Join(t.TempDir(), "pids")}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "PIDS", r.pids)
	}
	obeyHangUp()
	r.cmd = exec.Command("toolx", args...)
	r.cmd.Dir = emptyFolder(t)
	r.cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	r.cmd.Stdout = &r.stdout
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.lines = bufio.NewReader(stderr)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

// await reads stderr up to a line that holds text.
func (r *running) await(text string) {
	r.t.Helper()
	for {
		line, err := r.lines.ReadString('\n')
		r.seen.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			r.t.Fatalf("toolx ended without %q on stderr:\n%s", text, &r.seen)
		}
	}
}

func (r *running) signal(signal os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		r.t.Fatal(err)
	}
}

// obeyHangUp lets what is started from now on end by SIGHUP, though these tests themselves may
// run under nohup: a signal that is ignored stays so in children, one that is caught does not.
func obeyHangUp() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

// end waits for the end, wants an exit code, and wants no process left behind.
func (r *running) end(code int) {
	r.t.Helper()
	rest, err := io.ReadAll(r.lines)
	if err != nil {
		r.t.Fatal(err)
	}
	r.seen.Write(rest)
	_ = r.cmd.Wait() // the exit code says how it ended
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("exit code %d, want %d\n%s", got, code, &r.seen)
	}
	pids, err := os.ReadFile(r.pids)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, text := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			r.t.Fatal(err)
		}
		if !ends(pid) {
			r.t.Errorf("process %d of the server is left behind", pid)
		}
	}
}

// TestInterruptedCall sends Ctrl-C while a tool runs: the server is told, and ends.
func TestInterruptedCall(t *testing.T) {
	t.Parallel()
	for _, sent := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		r := start(t, "call", "slow", "ms=600000", "steps=60000", "-v", "--trace", "--", "fakeserver", "--pids", "PIDS",
			"good")
		r.await("calling server__slow")
		r.await("← notifications/progress")
		r.signal(sent)
		r.end(130)
		if got := r.seen.String(); !strings.Contains(got, `server "server" stderr: cancelled `) ||
			!strings.Contains(got, "error: Tool 'server__slow' interrupted\n") || r.stdout.Len() > 0 {
			t.Errorf("after %s:\n%s%s", sent, got, &r.stdout)
		}
	}
}

// TestInterruptedJSON is the same under --json: the envelope is printed all the same.
func TestInterruptedJSON(t *testing.T) {
	t.Parallel()
	r := start(t, "call", "slow", "ms=600000", "steps=60000", "--trace", "--json", "--", "fakeserver", "--pids", "PIDS",
		"good")
	r.await("← notifications/progress")
	r.signal(syscall.SIGINT)
	r.end(130)
	var envelope struct{ Kind, Error string }
	if err := json.Unmarshal(r.stdout.Bytes(), &envelope); err != nil || envelope.Kind != "interrupted" {
		t.Errorf("%+v, %v:\n%s", envelope, err, &r.stdout)
	}
}

// TestInterruptedExpression sends Ctrl-C while an expression of --jq runs for ever.
func TestInterruptedExpression(t *testing.T) {
	t.Parallel()
	r := start(t, "call", "echo", "message=hi", "-v", "--jq", "last(repeat(1))", "--", "fakeserver", "--pids", "PIDS",
		"good")
	r.await("call of server__echo succeeded")
	r.signal(syscall.SIGINT)
	r.end(130)
}

// TestInterruptedRead sends Ctrl-C while toolx reads what nobody writes: it ends all
// the same, though the read cannot be interrupted.
func TestInterruptedRead(t *testing.T) {
	t.Parallel()
	nobody := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(nobody, 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "call", "echo", "message=@"+nobody, "-v", "--", "fakeserver", "good")
	r.await("MCP connection succeeded")
	r.signal(syscall.SIGINT)
	if _, err := io.ReadAll(r.lines); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait() // the exit code says how it ended
	if got := r.cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
}

// TestInterruptedPing sends Ctrl-C while one server does not come up: what is known of the others is printed.
func TestInterruptedPing(t *testing.T) {
	t.Parallel()
	config, pids := filepath.Join(t.TempDir(), "toolx.yaml"), filepath.Join(t.TempDir(), "pids")
	text := "servers:\n  good: {command: fakeserver, args: [--pids, " + pids + ", good]}\n" +
		"  down: {command: fakeserver, args: [--stderr, broker offline, exit0-early], retry: {baseDelay: 1h}}\n" +
		"  none: {command: no-such-program}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"-v": "good\t", "--json": `{"server":"down","ok":false,"error":"interrupted","kind":"interrupted"}` + "\n"} {
		r := start(t, "ping", "--log-level", "info", flag, "--config", config)
		r.pids = pids
		for _, text := range []string{"call of ping succeeded", "next in 1h0m0s"} {
			if !strings.Contains(r.seen.String(), text) {
				r.await(text)
			}
		}
		r.signal(syscall.SIGINT)
		r.end(130)
		got := r.stdout.String()
		if !strings.Contains(got, want) || !strings.Contains(got, "good") ||
			!strings.Contains(got+r.seen.String(), "command not found") {
			t.Errorf("%s:\n%s%s", flag, got, &r.seen)
		}
	}
}

// TestInterruptedTwice sends a second Ctrl-C while a server ignores that it shall end: it is killed.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	r := start(t, "call", "slow", "ms=600000", "steps=60000", "-v", "--trace", "--",
		"fakeserver", "--pids", "PIDS", "--on", "tools/call", "ignore-eof", "ignore-sigterm", "good")
	r.await("← notifications/progress")
	r.signal(syscall.SIGINT)
	r.await("interrupted")
	r.signal(syscall.SIGINT)
	r.end(130)
	if !strings.Contains(r.seen.String(), "SIGKILL was needed") {
		t.Errorf("the server was not killed:\n%s", &r.seen)
	}
}

// TestInterruptedStart sends Ctrl-C while a server does not come up: to what waits
// for its answer, and to what waits for the next attempt, which comes in an hour.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "toolx.yaml")
	text := "servers:\n  down: {command: fakeserver, retry: {baseDelay: 1h}, " +
		"args: [--pids, %s, --stderr, broker offline, exit0-early]}\n"
	for _, verb := range [][]string{{"call", "echo"}, {"show", "echo"}, {"list"}} {
		r := start(t, append(verb, "--trace", "--", "fakeserver", "--pids", "PIDS", "silent")...)
		r.await("→ initialize")
		r.signal(syscall.SIGINT)
		r.end(130)

		pids := filepath.Join(t.TempDir(), "pids")
		if err := os.WriteFile(config, []byte(strings.ReplaceAll(text, "%s", pids)), 0o600); err != nil {
			t.Fatal(err)
		}
		if len(verb) > 1 {
			verb[1] = "down__echo"
		}
		r = start(t, append(verb, "--config", config)...)
		r.pids = pids
		r.await("next in 1h0m0s")
		r.signal(syscall.SIGINT)
		r.end(130)
	}
}

// TestInterruptedServe sends Ctrl-C to toolx serve while its client says nothing: it
// ends as it does when standard input ends.
func TestInterruptedServe(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("toolx", "serve", servedConfig(t))
	cmd.Dir = emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if _, err := io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || !strings.Contains(line, `"result":{}`) {
		t.Fatalf("ping gives %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("toolx serve ends with %v, want 0", err)
	}
}
