package daemon

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"time"

	"toolx/pkg/asyncwriter"
	"toolx/pkg/servers/wire"
)

// lineConn is one end of the connection between the daemon and a client: messages of JSON-RPC, a line each.
type lineConn struct {
	net.Conn
	out *asyncwriter.Writer
}

// newLineConn returns an end of a connection; at most limit bytes wait for an end that does not read.
func newLineConn(conn net.Conn, limit int) lineConn {
	return lineConn{conn, asyncwriter.New(conn, limit, droppedLines)}
}

// put queues a line, with its newline, for the other end, and owns it. It does not block: an end that does not read
// delays nothing, and one that lets too much come is cut off.
func (c lineConn) put(line []byte) {
	if !c.out.Queue(line) {
		_ = c.Close()
	}
}

// cut ends the connection when what is queued has been written. One that does not read is not waited for.
func (c lineConn) cut() {
	_ = c.SetWriteDeadline(time.Now().Add(answerTime))
	_ = c.SetReadDeadline(time.Now())
	_ = c.out.Flush(context.Background()) // whose error is the connection's
	_ = c.Close()
}

// maxLine is the size in bytes of the longest line that is read.
const maxLine = 1 << 30

// read passes on each message of the other end, until the connection ends. The error says how.
func (c lineConn) read(take func(wire.Message)) error {
	var foreign error
	lines := wire.Framer{Max: maxLine, Emit: func(l wire.Line) {
		if foreign == nil && l.End == wire.EndNewline && bytes.HasPrefix(l.Bytes, []byte("{")) {
			take(wire.Read(l.Bytes)) // toolx wrote it: it is JSON
		} else {
			foreign = ErrOtherVersion
		}
	}}
	chunk := make([]byte, 64<<10)
	for {
		n, err := c.Read(chunk)
		lines.Feed(chunk[:n])
		if pending := lines.Pending(); len(pending) > 0 && pending[0] != '{' {
			foreign = ErrOtherVersion // its protocol may have no lines
		}
		if err = cmp.Or(foreign, err); err != nil {
			return err
		}
	}
}
