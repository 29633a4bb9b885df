package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
)

// trace sends the client a recording of what the server and all clients send from now on, beginning with the process
// that runs. Lines that the client does not read in time are dropped and counted.
func (c *conn) trace() {
	if c.endTrace != nil {
		return
	}
	h := c.server
	masks := mask.New(h.spec.Launch.Secrets...)
	lines := recording.Writer{Out: recordedLines{c.out.Offering()}, Text: masks.Text, JSON: masks.JSON}
	take := func(event exec.Event) { _ = lines.Write(event) } // the connection's end is seen where it is read
	h.mu.Lock()
	h.use(c)
	session, since := h.session, h.openedAt
	started := wire.ProcessStarted{Head: wire.Head{At: since, Server: h.spec.Name}}
	if session != nil && session.PID != 0 && !wire.Closed(session.Done()) {
		hello := h.hello(session, true, "")
		started.Command, started.PID, started.Cwd = hello.Command, session.PID, hello.Cwd
	}
	h.mu.Unlock()
	if started.PID != 0 {
		take(started)
	}
	c.endTrace = h.Bus.Subscribe(take)
}

// recordedLines makes a notification of each line of a recording.
type recordedLines struct{ io.Writer }

// Write writes a line.
func (r recordedLines) Write(line []byte) (int, error) {
	notification := rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", methodRecorded, "params",
		json.RawMessage(line[:len(line)-1]))
	_, err := r.Writer.Write(append(notification, '\n'))
	return len(line), err
}

// droppedLines returns the notification that lines of a recording are missing.
func droppedLines(lines int) string {
	return string(asLine(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", methodRecorded, "params",
		json.RawMessage(recording.DroppedLine(lines)))))
}

// errNotAnswering says that the process of a session is suspended, or hangs.
var errNotAnswering = errors.New("its process does not respond")

// Trace returns a recording, as it grows, of what passes between the server of a session and its clients. Reading ends
// when ctx or the session ends.
func (s *Sessions) Trace(ctx context.Context, record *Record) (io.ReadCloser, error) {
	out, in := io.Pipe()
	client, err := s.Connect(ctx, record.Key, ClientOptions{})
	if err != nil {
		return nil, err
	}
	client.recorded = in
	_ = client.Begin()
	bounded, stop := client.whileAnswering(ctx)
	defer stop()
	if _, err := client.info(bounded, methodTrace); err != nil {
		client.Close(ctx)
		if bounded.Err() != nil && ctx.Err() == nil {
			err = errNotAnswering
		}
		return nil, err
	}
	go func() {
		defer client.Close(ctx)
		defer func() { _ = in.Close() }() // never an error: it is a pipe in memory
		select {
		case <-client.Done:
		case <-ctx.Done():
		}
	}()
	return out, nil
}
