package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// served is a toolx serve that runs, and what it has answered.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// serveMocks serves a tool that never answers, and one that does.
func serveMocks(t *testing.T) *served {
	t.Helper()
	return serveConfig(t, `
tools:
  - {name: silent, timeout: none, implementation: {type: mock, faults: {silent: true}}}
  - {name: ok, implementation: {type: mock, mock_response: fine}}
`)
}

// serveConfig serves the tools of a config.
func serveConfig(t *testing.T, text string) *served {
	t.Helper()
	config := filepath.Join(t.TempDir(), "served.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// A server that hangs is killed, so that the test fails and does not hang too.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	s := &served{t: t, cmd: exec.CommandContext(ctx, "toolx", "serve", config)}
	s.cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = bufio.NewReader(stdout)
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// send sends a message in the form of fmt.Sprintf.
func (s *served) send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.stdin, format+"\n", args...); err != nil {
		s.t.Fatalf("%v\n%s", err, &s.stderr)
	}
}

func (s *served) call(id int, tool string) {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

// answer reads the next answer.
func (s *served) answer() frame {
	s.t.Helper()
	line, err := s.stdout.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%v\n%s", err, &s.stderr)
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		s.t.Fatalf("%v: %q", err, line)
	}
	return f
}

// wantAnswer wants that the next answer is to id.
func (s *served) wantAnswer(id int) frame {
	s.t.Helper()
	f := s.answer()
	if string(f.ID) != fmt.Sprint(id) {
		s.t.Fatalf("%s is answered, want %d", f.ID, id)
	}
	return f
}

// end closes standard input, wants exit code 0, and returns what was answered yet.
func (s *served) end() []byte {
	s.t.Helper()
	_ = s.stdin.Close()
	rest, err := io.ReadAll(s.stdout)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%v\n%s", err, &s.stderr)
	}
	return rest
}

// TestServeCancelsOneOfTwo cancels the first of two calls that wait for the same server:
// the second is answered once that is up.
func TestServeCancelsOneOfTwo(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	s := serveConfig(t, fmt.Sprintf(`
servers:
  slow: {command: fakeserver, args: [--gate, %q, slow-start]}
tools:
  - {name: list_tools, timeout: none, implementation: {type: internal}}
  - {name: list_servers, implementation: {type: internal}}
`, gate))
	list := func(id int) {
		s.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_tools","arguments":{"server":"slow"}}}`, id)
	}
	list(2)
	for begun := false; !begun; {
		s.call(1, "list_servers")
		begun = strings.Contains(string(s.wantAnswer(1).Result), `"status":"starting"`)
	}
	list(3)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	s.wantAnswer(4)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if answer := s.wantAnswer(3); !strings.Contains(string(answer.Result), "slow__echo") {
		t.Errorf("the other call is answered with %s", answer.Result)
	}
	if rest := s.end(); len(rest) > 0 {
		t.Errorf("answered as well: %s", rest)
	}
}

// TestServeManyOpenCalls opens as many silent calls as may be: other messages are answered all the while, one more call
// is refused, and what is cancelled makes room and is never answered. The end of standard input ends all.
func TestServeManyOpenCalls(t *testing.T) {
	t.Parallel()
	const most = 1000
	s := serveMocks(t)
	for id := range most - 1 {
		s.call(id, "silent")
	}
	s.send(`{"jsonrpc":"2.0","id":5000,"method":"ping"}`)
	s.wantAnswer(5000)
	s.call(5001, "ok")
	s.wantAnswer(5001)

	s.call(most-1, "silent")
	s.call(5002, "ok")
	want := `{"code":-32603,"message":"1000 calls are open: wait for one to end, or cancel one"}`
	if got := s.wantAnswer(5002); string(got.Error) != want {
		t.Errorf("%s, want %s", got.Error, want)
	}
	s.send(`{"jsonrpc":"2.0","id":5003,"method":"tools/list"}`)
	s.wantAnswer(5003)

	for id := range most / 2 {
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
	}
	var left []int
	for line := range bytes.Lines(s.end()) {
		var f struct{ ID int }
		if err := json.Unmarshal(line, &f); err != nil || !bytes.Contains(line, []byte("Tool 'silent' interrupted")) {
			t.Fatalf("%v: %q", err, line)
		}
		left = append(left, f.ID)
	}
	slices.Sort(left)
	if len(left) != most/2 || left[0] != most/2 || left[len(left)-1] != most-1 {
		t.Errorf("%d calls are answered at the end, from %v", len(left), left)
	}
}

// TestServeUnreadAnswers has a client that reads nothing, while the answers fill the
// pipe: the end of standard input ends toolx all the same.
func TestServeUnreadAnswers(t *testing.T) {
	t.Parallel()
	s := serveMocks(t)
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for id := range 900 {
		s.send(`{"jsonrpc":"2.0","id":%d,"method":"x%01000d"}`, id+2, id)
	}
	_ = s.stdin.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &s.stderr)
	}
	if want := "warning: some requests have no response"; !strings.HasPrefix(s.stderr.String(), want) {
		t.Errorf("%q on stderr, want %q", &s.stderr, want)
	}
}
