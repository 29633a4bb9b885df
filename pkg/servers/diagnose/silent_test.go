package diagnose

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/procs"
)

// explainSilence returns what explains a server that did not answer and was in a state.
func explainSilence(state *procs.State, began time.Time) (what string) {
	failure := &Failure{Ending: EndingSilent, Lived: 30 * time.Second, State: state}
	if c := failure.Explain(nil, &config.Resolved{Command: "made"}, began); c != nil {
		return c.What
	}
	return ""
}

// TestStateExplains: what a silent server waits for, listens on, runs or reads is its cause.
func TestStateExplains(t *testing.T) {
	for want, failure := range map[string]*Failure{
		"its state is S (sleeping)": {State: &procs.State{State: "S (sleeping)"}, Unread: -1},
		"it waits for a connection to 10.0.0.5:5432": {State: &procs.State{
			Connecting: []string{"10.0.0.5:5432 (pid 7)"}, Listening: []string{"127.0.0.1:3000 (pid 7)"},
		}},
		"it runs sleep 60": {State: &procs.State{Listening: []string{"127.0.0.1:3000 (pid 7)"}, Runs: "sleep 60"}},
		"it listens on 127.0.0.1:3000, and does not read stdin; last output: waiting for the extension": {
			State: &procs.State{Listening: []string{"127.0.0.1:3000 (pid 7)"}}, Unread: 120,
			StderrTail: []string{"started", "waiting for the extension"},
		},
		"it speaks MCP over HTTP at http://127.0.0.1:3000/mcp instead of on stdin and stdout": {
			State: &procs.State{Listening: []string{"127.0.0.1:3000 (pid 7)"}}, Endpoint: "http://127.0.0.1:3000/mcp",
		},
		"it is connected to 127.0.0.1:5432": {
			State: &procs.State{Connected: []string{"127.0.0.1:5432 (pid 7)"}}, Unread: 120,
		},
		"it runs npm install --token=*** acme": {
			State: &procs.State{Runs: "npm install --token=hunter2secret acme", Used: 10 * time.Second},
		},
		"it has used a full core for 23s; last output: building the index": {
			State: &procs.State{Used: 23400 * time.Millisecond}, Unread: 120, Stdout: []string{"building the index"},
		},
		"it has used a full core for 29s":                  {State: &procs.State{Used: 9 * time.Second, Queued: 20 * time.Second}},
		"it read the request":                              {State: &procs.State{Used: 22 * time.Second}},
		"it does not read stdin and prints nothing":        {State: &procs.State{}, Unread: 120},
		"it does not read stdin; last output: starting up": {State: &procs.State{}, Unread: 1, Stdout: []string{"starting up"}},
		"": {},
	} {
		failure.Ending, failure.Lived = EndingSilent, 30*time.Second
		got := ""
		if c := failure.Explain(nil, &config.Resolved{Command: "made"}, time.Time{}); c != nil {
			got = c.What
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", failure, got, want)
		}
	}
}

// TestListeningPort: a port is one of MCP's only after a request to it got an answer of MCP.
func TestListeningPort(t *testing.T) {
	answering := func(path, mediaType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body)
		}
	}
	const result = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`
	for want, handler := range map[string]http.HandlerFunc{
		"/mcp": answering("/mcp", "application/json", result),
		"/":    answering("/", "text/event-stream", "event: message\ndata: "+result+"\n\n"),
		"/sse": answering("/sse", "text/event-stream", "event: endpoint\ndata: /messages?id=1\n\n"),
		"":     answering("/", "text/html", "<h1>Dashboard</h1>"),
	} {
		server := httptest.NewServer(handler)
		address := server.Listener.Addr().String()
		if want != "" {
			want = server.URL + want
		}
		if got := Endpoint([]string{address + " (pid 1)"}); got != want {
			t.Errorf("the endpoint is %q, want %q", got, want)
		}
		server.Close()
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	if got := Endpoint([]string{mute.Addr().String() + " (pid 1)"}); got != "" {
		t.Errorf("what accepts connections and answers nothing is at %q", got)
	}
}

// TestOpenLogExplains: the log that a silent server has open is read for what was written since its start.
func TestOpenLogExplains(t *testing.T) {
	began := time.Now()
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	for text, want := range map[string]string{
		stamp(began) + " ERROR connect ECONNREFUSED 10.0.0.5:5432\n":                 "10.0.0.5:5432 cannot be reached (ECONNREFUSED)",
		stamp(began.Add(-time.Hour)) + " ERROR connect ECONNREFUSED 10.0.0.5:5432\n": "it read the request",
		stamp(began) + " INFO started\n":                                             "it read the request",
	} {
		log := filepath.Join(t.TempDir(), "server.log")
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := explainSilence(&procs.State{Log: log}, began); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
