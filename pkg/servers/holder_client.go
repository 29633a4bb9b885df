package servers

import (
	"context"
	"encoding/gob"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
)

// client is a process that uses the server of a holder.
type client struct {
	holder *holder
	conn   net.Conn

	// The holder's mutex guards these.
	attached, watches bool
	uses              bool      // it has attached, or watches
	running           int       // requests, and attaching
	since             time.Time // when running was last zero

	mu      sync.Mutex // guards what follows
	more    sync.Cond
	queue   []report
	size    int
	gone    bool
	cancels map[int64]context.CancelCauseFunc
}

// maxQueued is how many bytes may wait for a client that does not read, beside the largest message. A client that lets
// more come is cut off: nobody else waits for it.
const maxQueued = 16 << 20

// largeMessage is the size in bytes from which the memory of a message is given back to the system.
const largeMessage = 1 << 20

// put queues a report for the client. It does not block.
func (c *client) put(r report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	size := sizeOfReport(r)
	if c.size += size; c.size > maxQueued+2*int(c.holder.dial.maxMessage) {
		c.gone = true
		_ = c.conn.Close()
		c.more.Signal()
		return
	}
	c.queue = append(c.queue, r)
	c.more.Signal()
}

// write writes what is queued, until the client has gone and the queue is empty.
func (c *client) write() {
	registerEvents()
	out := gob.NewEncoder(c.conn)
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
			_ = c.conn.Close()
			return
		}
		for _, r := range queue {
			if err := out.Encode(r); err != nil {
				c.cut()
				_ = c.conn.Close()
				return
			}
			c.mu.Lock()
			c.size -= sizeOfReport(r)
			c.mu.Unlock()
		}
	}
}

// cut ends the connection when what is queued has been written.
func (c *client) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.more.Signal()
	// One that does not read is not waited for.
	_ = c.conn.SetWriteDeadline(time.Now().Add(heldPatience))
	_ = c.conn.SetReadDeadline(time.Now())
}

// read handles the client's demands, to their end, and cancels what is under way then.
func (c *client) read(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer c.cut()
	defer cancel(errors.New("the client has gone"))
	in := gob.NewDecoder(c.conn)
	for {
		var d demand
		if in.Decode(&d) != nil {
			return
		}
		if d.Version != 0 && d.Version != heldVersion {
			c.put(report{Kind: reportDone, Seq: d.Seq, Version: heldVersion})
			continue
		}
		c.handle(ctx, d)
	}
}

// handle does what a client demands, without blocking.
func (c *client) handle(ctx context.Context, d demand) {
	h := c.holder
	switch d.Kind {
	case demandAttach:
		c.run(ctx, d, c.attach)
	case demandRequest:
		c.run(ctx, d, c.request)
	case demandCancel:
		c.mu.Lock()
		if cancel := c.cancels[d.Seq]; cancel != nil {
			cancel(errors.New(d.Reason))
		}
		c.mu.Unlock()
	case demandSend, demandAnswer:
		c.send(ctx, d)
	case demandFailure:
		h.served.Go(func() { // this takes its time, and the client asks meanwhile whether anybody answers
			r := report{Kind: reportDone, Seq: d.Seq}
			if session := h.current(); session != nil {
				r.Failure = newFailureData(session.link.newFailure(d.Ending))
			}
			c.put(r)
		})
	case demandWatch:
		h.mu.Lock()
		h.use(c)
		h.mu.Unlock()
		c.put(report{Kind: reportDone, Seq: d.Seq, Info: h.info()})
	case demandInfo:
		c.put(report{Kind: reportDone, Seq: d.Seq, Info: h.info()})
	case demandStop:
		c.put(report{Kind: reportDone, Seq: d.Seq, Info: h.info()})
		h.stop()
	}
}

// current returns the session with the server, nil if there is none.
func (h *holder) current() *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// run handles a demand on a goroutine of its own, and tells its outcome. life ends with the connection or the holder.
func (c *client) run(life context.Context, d demand, do func(context.Context, demand) report) {
	ctx, cancel := context.WithCancelCause(life)
	c.mu.Lock()
	c.cancels[d.Seq] = cancel
	c.mu.Unlock()
	h := c.holder
	h.mu.Lock()
	if c.running++; c.running == 1 {
		c.since = time.Now()
	}
	h.mu.Unlock()
	h.served.Go(func() {
		defer cancel(nil)
		r := do(ctx, d)
		over := life.Err() != nil && (r.Err != nil || r.Failure != nil)
		r.Kind, r.Seq, r.Version = reportDone, d.Seq, heldVersion
		c.mu.Lock()
		delete(c.cancels, d.Seq)
		c.mu.Unlock()
		h.mu.Lock()
		c.running--
		if !over { // else the end of the connection says more: nobody has interrupted the client
			c.put(r)
		}
		h.mu.Unlock()
	})
}

// attach makes the server ready for the client.
func (c *client) attach(ctx context.Context, d demand) report {
	h := c.holder
	h.mu.Lock()
	c.watches, h.tried = d.Watch, true
	h.use(c)
	h.tellLoss(c)
	h.mu.Unlock()
	session, reused, err := h.open(ctx)
	if err != nil {
		return failedReport(err)
	}
	_, _, log := session.Stderr(0)
	h.mu.Lock()
	defer h.mu.Unlock()
	c.attached = true
	h.tellKept(c)
	return report{Welcome: h.welcome(session, reused, log)}
}

// failedReport tells an error.
func failedReport(err error) report {
	var failure *Failure
	if errors.As(err, &failure) {
		return report{Failure: newFailureData(failure)}
	}
	return report{Err: newHeldError(err)}
}

// request sends a request of the client, and returns its answer.
func (c *client) request(ctx context.Context, d demand) report {
	h := c.holder
	request := &heldRequest{client: c, safe: d.Safe}
	h.mu.Lock()
	session := h.session
	if session == nil {
		h.mu.Unlock()
		return report{Err: newHeldError(errors.New("the server has not been started"))}
	}
	token, params := h.token(request, d.Message)
	if d.Method == string(mcp.MethodToolsCall) {
		h.calls++
	}
	h.mu.Unlock()
	m, err := session.link.roundTrip(context.WithValue(ctx, heldRequestKey{}, request), d.Method, params, d.Header)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.requests, request.id)
	delete(h.tokens, token)
	if err != nil {
		return failedReport(err)
	}
	h.large = h.large || len(m.raw)+len(d.Message) > largeMessage
	return report{Message: m.raw, Received: request.received}
}

// send sends a message of the client's to the server as it is: a notification, or an answer to what the server asked.
func (c *client) send(ctx context.Context, d demand) {
	h := c.holder
	f := readFrame(d.Message)
	h.mu.Lock()
	session := h.session
	if d.Kind == demandAnswer {
		if h.asked[f.id] != c {
			session = nil // it has been answered, or asked by a server that has ended
		}
		delete(h.asked, f.id)
	}
	h.mu.Unlock()
	if session == nil {
		return
	}
	if d.Kind == demandAnswer {
		if !session.link.rpc().post(f) {
			h.bus.Emit(exec.Notice{Time: exec.Now(), Server: h.spec.Name, Text: "the server does not take an answer"})
		}
		return
	}
	h.served.Go(func() { _ = session.link.send(ctx, f) }) // the server's end is told elsewhere
}
