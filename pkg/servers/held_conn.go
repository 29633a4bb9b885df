package servers

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"time"

	"toolx/pkg/asyncwriter"
	"toolx/pkg/servers/wire"
)

// heldConn is one end of the connection between a holder and a client: messages of JSON-RPC, a line each.
type heldConn struct {
	net.Conn
	out *asyncwriter.Writer
}

// newHeldConn returns an end of a connection; at most limit bytes wait for an end that does not read.
func newHeldConn(conn net.Conn, limit int) heldConn {
	return heldConn{conn, asyncwriter.New(conn, limit, nil)}
}

// put queues a line, with its newline, for the other end, and owns it. It does not block: nobody waits for an end that
// does not read, and one that lets too much come is cut off.
func (c heldConn) put(line []byte) {
	if !c.out.Queue(line) {
		_ = c.Close()
	}
}

// cut ends the connection when what is queued has been written. One that does not read is not waited for.
func (c heldConn) cut() {
	_ = c.SetWriteDeadline(time.Now().Add(heldPatience))
	_ = c.SetReadDeadline(time.Now())
	_ = c.out.Flush(context.Background()) // whose error is the connection's
	_ = c.Close()
}

// maxHeldLine is the size in bytes of the longest line that is read.
const maxHeldLine = 1 << 30

// read passes on each message of the other end, until the connection ends. The error says how.
func (c heldConn) read(take func(wire.Message)) error {
	var foreign error
	lines := wire.Framer{Max: maxHeldLine, Emit: func(l wire.Line) {
		if foreign == nil && l.End == wire.EndNewline && bytes.HasPrefix(l.Bytes, []byte("{")) {
			take(wire.Read(l.Bytes)) // toolx wrote it: it is JSON
		} else {
			foreign = errOtherToolx
		}
	}}
	chunk := make([]byte, 64<<10)
	for {
		n, err := c.Read(chunk)
		lines.Feed(chunk[:n])
		if pending := lines.Pending(); len(pending) > 0 && pending[0] != '{' {
			foreign = errOtherToolx // its protocol may have no lines
		}
		if err = cmp.Or(foreign, err); err != nil {
			return err
		}
	}
}
