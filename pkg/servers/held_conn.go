package servers

import (
	"bufio"
	"bytes"
	"cmp"
	"net"
	"sync"
	"time"

	"toolx/pkg/servers/wire"
)

// heldConn is one end of the connection between a holder and a client: messages of JSON-RPC, a line each.
type heldConn struct {
	net.Conn
	limit int // bytes that may wait for an end that does not read; the connection is cut when more come

	mu      sync.Mutex // guards what follows
	more    sync.Cond
	queue   [][]byte
	size    int
	gone    bool
	written chan struct{} // closed when nothing more is written
}

func newHeldConn(conn net.Conn, limit int) *heldConn {
	c := &heldConn{Conn: conn, limit: limit, written: make(chan struct{})}
	c.more.L = &c.mu
	return c
}

// put queues a line for the other end. It does not block: nobody waits for an end that does not read.
func (c *heldConn) put(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	if c.size += len(line); c.size > c.limit {
		c.gone = true
		_ = c.Close()
	} else {
		c.queue = append(c.queue, line)
	}
	c.more.Signal()
}

// write writes what is queued, until the connection is cut and the queue is empty.
func (c *heldConn) write() {
	defer close(c.written)
	defer func() { _ = c.Close() }()
	out := bufio.NewWriter(c)
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.gone {
			c.more.Wait()
		}
		queue := c.queue
		c.queue = nil
		over := c.gone && len(queue) == 0
		c.mu.Unlock()
		if over {
			return
		}
		for _, line := range queue {
			_, _ = out.Write(line) // Flush has the error
			_ = out.WriteByte('\n')
			c.mu.Lock()
			c.size -= len(line)
			c.mu.Unlock()
		}
		if out.Flush() != nil {
			c.cut()
			return
		}
	}
}

// cut ends the connection when what is queued has been written.
func (c *heldConn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.more.Signal()
	// One that does not read is not waited for.
	_ = c.SetWriteDeadline(time.Now().Add(heldPatience))
	_ = c.SetReadDeadline(time.Now())
}

// maxHeldLine is the size in bytes of the longest line that is read.
const maxHeldLine = 1 << 30

// read passes on each message of the other end, until the connection ends. The error says how.
func (c *heldConn) read(take func(message)) error {
	var foreign error
	lines := framer{max: maxHeldLine, emit: func(l line) {
		if foreign == nil && l.end == endNewline && bytes.HasPrefix(l.bytes, []byte("{")) {
			take(wire.Read(l.bytes)) // toolx wrote it: it is JSON
		} else {
			foreign = errOtherToolx
		}
	}}
	chunk := make([]byte, 64<<10)
	for {
		n, err := c.Read(chunk)
		lines.feed(chunk[:n])
		if pending := lines.pending(); len(pending) > 0 && pending[0] != '{' {
			foreign = errOtherToolx // its protocol may have no lines
		}
		if err = cmp.Or(foreign, err); err != nil {
			return err
		}
	}
}
