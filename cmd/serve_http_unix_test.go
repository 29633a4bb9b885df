//go:build unix

package cmd_test

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestServeHTTPEnd interrupts toolx while calls of both eras and a stream are open: the
// calls are answered, the stream ends, and so does toolx, with exit code 0.
func TestServeHTTPEnd(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	session := "Mcp-Session-Id: " + s.send("POST", helloLegacy).Header.Get("Mcp-Session-Id")
	legacy := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"silent"}}`
	modern, headers := modernCall("silent")
	bodies := make(chan string, 3)
	stream, err := s.open(context.Background(), "GET", "", session) //nolint:bodyclose // it is closed below
	if err != nil || stream.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", stream, err)
	}
	defer stream.Body.Close()
	go func() {
		body, err := io.ReadAll(stream.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
	}()
	go func() { bodies <- s.send("POST", legacy, session).body }()
	go func() { bodies <- s.send("POST", modern, headers...).body }()
	s.awaitLine("waiting")
	s.awaitLine("waiting")

	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for range cap(bodies) {
		interrupted += strings.Count(<-bodies, "Tool 'silent' interrupted")
	}
	if interrupted != 2 {
		t.Errorf("%d calls are answered as interrupted, want 2", interrupted)
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
		r, err := s.open(ctx, "POST", body, headers...)
		if err == nil {
			_ = r.Body.Close()
		}
		gone <- err
	}()
	s.awaitLine("waiting")
	cancel()
	if <-gone == nil {
		t.Error("the call was answered")
	}
	s.awaitLine("call of silent failed after ")
}
