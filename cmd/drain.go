package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// drainTime bounds how long serve waits for open calls once standard input has
// ended. A client that closes it wants the server to go.
const drainTime = time.Second

// openRequests are the requests that serve has read and not answered. The SDK
// gives calls up when standard input ends, and drops a last line without newline;
// with this between, "toolx serve FILE < requests" answers all of them.
type openRequests struct {
	mu       sync.Mutex
	ids      map[string]bool
	answered chan struct{} // holds one sign that an id has gone
}

func newOpenRequests() *openRequests {
	return &openRequests{ids: make(map[string]bool), answered: make(chan struct{}, 1)}
}

// read notes what a line from the client opens or gives up.
func (o *openRequests) read(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	// What is no request opens nothing; the SDK answers it.
	_ = json.Unmarshal(line, &m)
	switch {
	case m.Method == "notifications/cancelled":
		o.close(string(m.Params.RequestID))
	case m.Method != "" && len(m.ID) > 0:
		o.mu.Lock()
		o.ids[string(m.ID)] = true
		o.mu.Unlock()
	}
}

func (o *openRequests) close(id string) {
	o.mu.Lock()
	delete(o.ids, id)
	o.mu.Unlock()
	select {
	case o.answered <- struct{}{}:
	default:
	}
}

// wait returns when all requests are answered, or after drainTime, or with ctx.
func (o *openRequests) wait(ctx context.Context) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for {
		o.mu.Lock()
		left := len(o.ids)
		o.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-o.answered:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// requestReader is standard input that ends when what came on it is answered.
type requestReader struct {
	ctx   context.Context
	lines *bufio.Reader
	open  *openRequests
	rest  []byte
}

func (r *requestReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if len(line) == 0 {
			r.open.wait(r.ctx)
			return 0, err
		}
		if err != nil { // which the next read will meet again
			line = append(line, '\n')
		}
		r.open.read(line)
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// answerWriter is standard output, to which each message is written at once.
type answerWriter struct {
	out  io.Writer
	open *openRequests
}

// Write writes one message. The SDK gives an error that answers no request a null
// id, as JSON-RPC has it; MCP has no null ids, and leaves it out (2025-11-25 and
// later, JSONRPCErrorResponse).
func (w answerWriter) Write(message []byte) (int, error) {
	const orphan = `{"jsonrpc":"2.0","id":null,`
	if rest, is := bytes.CutPrefix(message, []byte(orphan)); is {
		_, err := fmt.Fprintf(w.out, `{"jsonrpc":"2.0",%s`, rest)
		return len(message), err
	}
	n, err := w.out.Write(message)
	w.open.close(idOf(message))
	return n, err
}

// idOf reads a message as far as its id, which stands before the result.
func idOf(message []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(message))
	if _, err := decoder.Token(); err != nil {
		return ""
	}
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return ""
		}
		if name == "id" {
			return string(value)
		}
	}
	return ""
}
