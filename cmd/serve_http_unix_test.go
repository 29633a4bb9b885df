//go:build unix

package cmd_test

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestServeHTTPEnd interrupts toolx while calls and streams of both eras are open:
// calls are answered, streams end, and so does toolx, with exit code 0.
func TestServeHTTPEnd(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	session := "Mcp-Session-Id: " + s.send("POST", helloLegacy).Header.Get("Mcp-Session-Id")
	legacy := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"silent"}}`
	modern, headers := modernCall("silent")
	listen := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	bodies := make(chan string, 4)
	for _, stream := range []struct {
		method, body string
		headers      []string
	}{
		{"GET", "", []string{session}},
		{"POST", listen, []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"}},
	} {
		r, err := s.open(context.Background(), stream.method, stream.body, stream.headers...) // the headers are there: it streams
		if err != nil || r.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%v, %v", r, err)
		}
		defer r.Body.Close()
		go func() {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			bodies <- string(body)
		}()
	}
	go func() { bodies <- s.send("POST", legacy, session).body }()
	go func() { bodies <- s.send("POST", modern, headers...).body }()
	s.awaitLine("waiting")
	s.awaitLine("waiting")

	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	interrupted, acknowledged := 0, 0
	for range cap(bodies) {
		body := <-bodies
		interrupted += strings.Count(body, "Tool 'silent' interrupted")
		acknowledged += strings.Count(body, "notifications/subscriptions/acknowledged")
	}
	if interrupted != 2 || acknowledged != 1 {
		t.Errorf("%d calls are answered as interrupted, want 2; %d streams began, want 1", interrupted, acknowledged)
	}
	rest, err := io.ReadAll(s.lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, rest)
	}
}

// A call whose client goes away is given up: it does not run on for nobody.
func TestServeHTTPClientGone(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	body, headers := modernCall("silent")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := s.open(ctx, "POST", body, headers...)
		gone <- err
	}()
	s.awaitLine("waiting")
	cancel()
	if <-gone == nil {
		t.Error("the call was answered")
	}
	s.awaitLine("call of silent failed: Tool 'silent' interrupted")
}
