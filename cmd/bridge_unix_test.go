//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBridgeBeforeTheOfficialClient lets the official TypeScript client talk to servers over HTTP, directly and through
// toolx proxy: it sees the same.
func TestBridgeBeforeTheOfficialClient(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	const everything = `[{"tool":"echo","arguments":{"message":"<hi> ü"}},{"tool":"get-sum","arguments":{"a":1,"b":2}},` +
		`{"tool":"get-tiny-image","arguments":{}},{"tool":"nope","arguments":{}},{"tool":"get-sum","arguments":{"a":"x"}},` +
		`{"tool":"get-structured-content","arguments":{"location":"Chicago"}},` +
		`{"tool":"trigger-long-running-operation","arguments":{"duration":0.1,"steps":2}}]`
	const small = `[{"tool":"greet","arguments":{"name":"you"}},{"tool":"fail","arguments":{}},{"tool":"nope"}]`
	for _, test := range []struct {
		name, calls, url string
		direct           []string
	}{
		{"streamable HTTP", everything, startEverything(t, folder, "streamableHttp") + "/mcp", nil},
		{
			"HTTP with SSE", everything, startEverything(t, folder, "sse") + "/sse",
			[]string{"node", folder + "/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		},
		{"both eras", small, startTypeScript(t, folder, "stateless"), nil},
		{"the newer era only", small, startTypeScript(t, folder, "reject"), []string{"node", folder + "/sdk2.mjs", "stdio"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			direct := test.direct
			if direct == nil {
				direct = []string{test.url}
			}
			want := officialClient(t, folder, test.calls, direct...)
			if got := officialClient(t, folder, test.calls, "toolx", "proxy", test.url); got != want {
				t.Errorf("the client prints %s\nwant %s", got, want)
			}
		})
	}
}

// wholeSession is everythingElse and what only a server over HTTP is asked for here.
var wholeSession = strings.TrimSuffix(strings.TrimSpace(everythingElse), "]") + `,
	{"method": "tools/list"}, {"method": "resources/list"}, {"method": "resources/templates/list"},
	{"method": "prompts/list"},
	{"method": "resources/unsubscribe", "params": {"uri": "demo://resource/dynamic/text/1"}},
	{"method": "tools/call", "cancel": true, "params": {
		"name": "trigger-long-running-operation", "arguments": {"duration": 0.2, "steps": 2}
	}},
	{"method": "ping"}
]`

// TestBridgeInAWholeSession lets the official TypeScript client, with all capabilities, use each method of a server
// over HTTP, directly and through toolx proxy: it receives the same, with the server's notifications and requests.
func TestBridgeInAWholeSession(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	for name, url := range map[string]string{
		"streamable HTTP": startEverything(t, folder, "streamableHttp") + "/mcp",
		"HTTP with SSE":   startEverything(t, folder, "sse") + "/sse",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Directly, a message may come twice: if this client resumes a stream, the server repeats those of all.
			want := slices.Compact(receivedIn(t, folder, url))
			got := receivedIn(t, folder, buildToolx(t), "proxy", url)
			for i, line := range want {
				if i >= len(got) || got[i] != line {
					t.Fatalf("the client receives %q\nwant %s", got[min(i, len(got)):], line)
				}
			}
			if len(got) > len(want) {
				t.Errorf("the client also receives %q", got[len(want):])
			}
		})
	}
}

// receivedIn is what session.mjs receives in wholeSession, without the time, the session's id, and the ids of the
// server's requests, which toolx gives anew. How much of what the server sends during the handshake arrives in time
// differs from run to run, also directly: its changed lists are left out.
func receivedIn(t *testing.T, folder string, server ...string) (lines []string) {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join(folder, "session.mjs")}, server...)...)
	cmd.Dir, cmd.Env = emptyFolder(t), append(os.Environ(), homeVariables(t.TempDir())...)
	cmd.Stdin = strings.NewReader(wholeSession)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", server, err, &stderr)
	}
	varies := regexp.MustCompile(`created at [0-9:]+ [AP]M|from session [0-9a-f-]+`)
	text := varies.ReplaceAllString(string(out), "")
	lines = strings.Split(strings.TrimSpace(text), "\n")
	var last struct{ Came []string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	for i, message := range last.Came {
		last.Came[i] = regexp.MustCompile(`"id":\d+`).ReplaceAllString(message, `"id":0`)
	}
	last.Came = slices.DeleteFunc(last.Came, func(message string) bool {
		return strings.Contains(message, "tools/list_changed")
	})
	slices.Sort(last.Came)
	return append(lines[:len(lines)-1], last.Came...)
}
