//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sentRequest is a request that session.mjs sends.
type sentRequest struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}

// everythingElse are requests to server-everything besides its calls: each method, with errors, and tools that send
// progress, log messages and requests of their own. The operation is longer than the server waits to ask for roots.
const everythingElse = `[
	{"method": "ping"}, {"method": "unknown/method"},
	{"method": "resources/read", "params": {"uri": "demo://resource/dynamic/text/1"}},
	{"method": "resources/read", "params": {"uri": "demo://missing"}},
	{"method": "resources/subscribe", "params": {"uri": "demo://resource/dynamic/text/1"}},
	{"method": "prompts/get", "params": {"name": "args-prompt", "arguments": {"city": "Bern"}}},
	{"method": "prompts/get", "params": {"name": "missing"}},
	{"method": "completion/complete", "params": {
		"ref": {"type": "ref/prompt", "name": "completable-prompt"}, "argument": {"name": "department", "value": "E"}
	}},
	{"method": "logging/setLevel", "params": {"level": "debug"}},
	{"method": "tools/call", "params": {"name": "missing"}},
	{"method": "tools/call", "params": {"name": "echo", "arguments": {}}},
	{"method": "tools/call", "params": {
		"name": "trigger-long-running-operation", "arguments": {"duration": 0.6, "steps": 3}
	}},
	{"method": "tools/call", "params": {
		"name": "trigger-sampling-request", "arguments": {"prompt": "?", "maxTokens": 5}
	}},
	{"method": "tools/call", "params": {"name": "trigger-elicitation-request", "arguments": {}}},
	{"method": "tools/call", "params": {"name": "get-roots-list", "arguments": {}}}
]`

// TestReplayToTheOfficialClient records published servers under the official TypeScript client, and replays to it what
// was recorded: it gets the same responses, notifications and requests.
func TestReplayToTheOfficialClient(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	for _, server := range readCases(t, folder) {
		t.Run(server.Server, func(t *testing.T) {
			t.Parallel()
			testReplay(t, folder, server)
		})
		if server.Server == "everything" {
			server.url = startEverything(t, folder, "streamableHttp") + "/mcp"
			t.Run("everything over HTTP", func(t *testing.T) {
				t.Parallel()
				testReplay(t, folder, server)
			})
		}
	}
}

func testReplay(t *testing.T, folder string, server realServer) {
	t.Helper()
	p := newPlace(t)
	var requests []sentRequest
	for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		requests = append(requests, sentRequest{Method: list})
	}
	for _, call := range server.Calls {
		switch call.Tool {
		case "get-env", "toggle-simulated-logging": // secrets are masked; messages come at any time
		default:
			requests = append(requests, callOf(call.Tool, p.fillJSON(string(call.Arguments))))
		}
	}
	if server.Server == "everything" {
		var more []sentRequest
		if err := json.Unmarshal([]byte(everythingElse), &more); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, more...)
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	proxy := append([]string{"proxy", "--record", file, "--"}, server.command(p)...)
	if server.url != "" {
		proxy = []string{"proxy", "--record", file, server.url}
	}
	want, _ := server.session(t, folder, p, requests, proxy)
	if server.Server == "everything" {
		for _, method := range []string{
			"sampling/createMessage", "elicitation/create", "roots/list",
			"notifications/progress", "notifications/message",
		} {
			if !strings.Contains(want, method) {
				t.Errorf("the server sends no %s: %s", method, want)
			}
		}
	}
	replay := []string{"serve", "--replay", file}
	got, stderr := server.session(t, folder, p, requests, replay)
	if got != want || stderr != "" {
		t.Errorf("the replay gives the client\n%s\nwant\n%s\n%s", got, want, stderr)
	}

	other := callOf(server.Calls[0].Tool, `{"other":1}`)
	got, stderr = server.session(t, folder, p, []sentRequest{other}, replay)
	const miss = `the recording has no tools/call with `
	if !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, miss) ||
		!strings.HasPrefix(stderr, "warning: "+miss) ||
		!strings.Contains(stderr, `; the closest has {"arguments":`) {
		t.Errorf("another request gives the client\n%s\n%s", got, stderr)
	}
}

func callOf(tool, arguments string) sentRequest {
	return sentRequest{"tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(arguments)}}
}

// session is what session.mjs prints for requests to a server that toolx with args is.
func (s realServer) session(
	t *testing.T, folder string, p place, requests []sentRequest, args []string,
) (stdout, stderr string) {
	t.Helper()
	in, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{filepath.Join(folder, "session.mjs"), "toolx"}, args...)...)
	cmd.Dir, cmd.Env = folder, append(s.environ(p, t.TempDir()), homeVariables(t.TempDir())...)
	cmd.Stdin = bytes.NewReader(in)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("session.mjs toolx %q: %v\n%s", args, err, &failed)
	}
	return string(out), failed.String()
}

// TestTwoProxiesRecordTogether lets two clients talk to two processes of a server at the same time, whose proxies write
// one recording. Both number their requests alike; toolx trace, and a replay, still find the response to each.
func TestTwoProxiesRecordTogether(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	file := filepath.Join(folder, "calls.jsonl")
	start := func(args ...string) (io.WriteCloser, *bufio.Reader, *exec.Cmd) {
		cmd := exec.Command("toolx", args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), homeVariables(t.TempDir())...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return in, bufio.NewReader(out), cmd
	}
	ask := func(in io.Writer, method, params string) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(out *bufio.Reader, want string) {
		if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Errorf("got %s, want %s (%v)", line, want, err)
		}
	}
	const initialize = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`
	const slow, quick = `{"name":"slow","arguments":{"ms":300}}`, `{"name":"echo","arguments":{"message":"quick"}}`
	proxy := []string{"proxy", "--record", file, "--", "fakeserver", "good"}
	in1, out1, first := start(proxy...)
	in2, out2, second := start(proxy...)
	for _, one := range []struct {
		in  io.Writer
		out *bufio.Reader
	}{{in1, out1}, {in2, out2}} {
		ask(one.in, "initialize", initialize)
		answer(one.out, "protocolVersion")
	}
	ask(in1, "tools/call", slow)
	ask(in2, "tools/call", quick)
	answer(out2, "quick")
	answer(out1, "done")
	for _, end := range []func() error{in1.Close, first.Wait, in2.Close, second.Wait} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}

	in, out, replay := start("serve", "--replay", file)
	ask(in, "tools/call", quick)
	answer(out, "quick")
	ask(in, "tools/call", slow)
	answer(out, "done")
	if err := errors.Join(in.Close(), replay.Wait()); err != nil {
		t.Error(err)
	}
	in, out, trace := start("trace", file, "--json", "--only", "tools/call")
	writers := make(map[string]string)
	for range 2 {
		line, err := out.ReadBytes('\n')
		var row struct {
			Subject, Writer, Outcome string
		}
		if err = errors.Join(err, json.Unmarshal(line, &row)); err != nil || row.Outcome != "ok" {
			t.Errorf("%s: %v", line, err)
		}
		writers[row.Writer] = row.Subject
	}
	if err := errors.Join(in.Close(), trace.Wait()); err != nil || len(writers) != 2 || writers[""] != "" {
		t.Errorf("toolx trace has the writers %q (%v)", writers, err)
	}
}
