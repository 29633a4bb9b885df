package daemon

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/mask"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
)

// tracing returns a connection that has asked for a recording, and the client's end of it.
func tracing(h *Server, limit int) (*conn, net.Conn) {
	near, far := net.Pipe()
	c := &conn{lineConn: newLineConn(near, limit), server: h}
	c.trace()
	return c, far
}

// TestTraceDelaysNothing proves that a client which reads nothing holds up neither the server's messages nor other
// clients that come and go, that it is told later how many lines it has missed, and that secrets do not reach it.
func TestTraceDelaysNothing(t *testing.T) {
	t.Parallel()
	const secret, emitters, each = "hunter2hunter2", 4, 200
	h := NewServer(Spec{Record: Record{Name: "s"}, Launch: config.Resolved{Secrets: []string{secret}}})
	stopped, unread := tracing(h, 4<<10)
	var wait sync.WaitGroup
	for range emitters {
		wait.Go(func() {
			for range each {
				h.Bus.Emit(wire.FrameReceived{Head: wire.Now("s"), Bytes: []byte(`{"result":"` + secret + `"}`)})
			}
		})
	}
	for range emitters {
		wait.Go(func() {
			c, far := tracing(h, 4<<10)
			go func() { _, _ = io.Copy(io.Discard, far) }()
			c.endTrace()
			c.cut()
		})
	}
	wait.Wait() // nobody has read a byte of unread

	stopped.endTrace()
	go func() {
		_ = stopped.out.Flush(context.Background())
		_ = stopped.Close()
	}()
	var lines strings.Builder
	shown, dropped := 0, 0
	_ = lineConn{Conn: unread}.read(func(m wire.Message) {
		if m.Method != methodRecorded {
			t.Errorf("a client that traces got %s", m.Method)
		}
		shown++
		lines.Write(asLine(m.Params))
	})
	skip := func(line int, why error) { t.Errorf("line %d cannot be read: %v", line, why) }
	err := recording.Read(strings.NewReader(lines.String()), func(event wire.Event) {
		if e, is := event.(recording.Dropped); is {
			dropped += e.Lines
			shown--
		}
	}, skip)
	if err != nil || dropped == 0 || shown+dropped != emitters*each {
		t.Errorf("%d lines are shown and %d dropped of %d, %v", shown, dropped, emitters*each, err)
	}
	if strings.Contains(lines.String(), secret) || !strings.Contains(lines.String(), mask.Mask) {
		t.Errorf("the secret is not masked:\n%.300s", lines.String())
	}
}
