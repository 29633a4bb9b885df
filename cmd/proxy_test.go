package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProxyBeforeTheOfficialClient lets the official TypeScript client talk to servers that pollute their stdout,
// behind toolx proxy: it sees what it sees of a good one (MCP-1).
func TestProxyBeforeTheOfficialClient(t *testing.T) {
	folder := serversFolder(t)
	const calls = `[{"tool":"echo","arguments":{"message":"hi"}},{"tool":"fail","arguments":{"message":"no"}}]`
	want := officialClient(t, folder, calls, "fakeserver", "good")
	if lines := strings.Count(want, "\n"); lines != 3 || !strings.Contains(want, `"text":"hi"`) {
		t.Fatalf("without a proxy the client prints %s", want)
	}
	modes := []string{"good", "log-inside", "inline-prefix", "content-length"}
	if *matrix {
		modes = append(modes, "json-logs", "two-on-line", "no-newline", "pretty", "bom-each", "sse-framing", "batch",
			"nul-bytes", "text-flood-call")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if got := officialClient(t, folder, calls, "toolx", "proxy", "--", "fakeserver", mode); got != want {
				t.Errorf("the client prints %s\nwant %s", got, want)
			}
		})
	}
}

// officialClient is what call.mjs prints for calls, a JSON array of them.
func officialClient(t *testing.T, folder, calls string, server ...string) string {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join(folder, "call.mjs")}, server...)...)
	cmd.Dir = emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	cmd.Stdin = strings.NewReader(calls)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", server, err, &stderr)
	}
	return string(out)
}

// TestProxyBeforeRealServers holds the answers of published servers against
// themselves: behind toolx proxy they are byte for byte what they are without.
func TestProxyBeforeRealServers(t *testing.T) {
	folder := serversFolder(t)
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
	for _, server := range readCases(t, folder) {
		if !*matrix && server.Server != "everything" {
			continue
		}
		t.Run(server.Server, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			command := server.command(p)
			run := func(args ...string) string {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = folder, append(server.environ(p, t.TempDir()), "PATH="+os.Getenv("PATH"))
				return answers(t, cmd, requests, 2)
			}
			want := run(command...)
			if got := run(append([]string{"toolx", "proxy", "--"}, command...)...); got != want {
				t.Errorf("behind the proxy: %.500s\nwant %.500s", got, want)
			}
		})
	}
}

// answers is what a server writes up to the answer with the given id, but for
// notifications, whose order is its own; then its stdin is closed.
func answers(t *testing.T, cmd *exec.Cmd, requests string, last int) string {
	t.Helper()
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
	defer func() {
		stdin.Close()
		_ = cmd.Wait() // the answers are what counts
	}()
	if _, err := stdin.Write([]byte(requests)); err != nil {
		t.Fatal(err)
	}
	var read strings.Builder
	for decoder := json.NewDecoder(stdout); ; {
		var frame json.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			t.Fatalf("after %s: %v", &read, err)
		}
		var head struct{ ID *int }
		if err := json.Unmarshal(frame, &head); err != nil {
			t.Fatal(err)
		}
		if head.ID == nil {
			continue
		}
		read.Write(append(frame, '\n'))
		if *head.ID == last {
			return read.String()
		}
	}
}
