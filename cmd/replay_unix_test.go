//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
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
