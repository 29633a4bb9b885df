package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// proxyReport tells on stderr, or in a file, what the proxy keeps from the client.
type proxyReport struct {
	foreign io.Writer // takes foreign lines; nil for -q
	stamped bool      // foreign is a file: each line gets its time
	safe    bool      // foreign is a terminal: what acts on it is made visible
	log     *slog.Logger
	stderr  *stderrQueue
	file    *os.File // nil without --log
	failed  bool     // the file could not be written; told once
	limit   int64    // on the size of a message, in bytes
}

// newProxyReport opens the file at path, which may be empty. Several proxies may
// append to one file.
func newProxyReport(app *App, path string, limit int64) (*proxyReport, error) {
	r := &proxyReport{limit: limit}
	if path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		r.file, r.foreign, r.stamped = file, file, true
	}
	r.stderr = newStderrQueue(app.Console.Err)
	if r.file == nil && !app.flags.quiet {
		r.foreign, r.safe = r.stderr, app.Console.ErrTTY
	}
	r.log = newLogger(r.stderr, app.screen(), app.flags, app.mask)
	return r, nil
}

// take takes one event of the proxy.
func (r *proxyReport) take(event exec.Event) {
	switch e := event.(type) {
	case servers.PollutedLine:
		r.polluted(e)
	case exec.Notice:
		r.log.Log(context.Background(), e.Level, e.Text)
	case servers.ProcessStarted:
		r.log.Info(fmt.Sprintf("server %q: process %d started", e.Server, e.PID))
	case servers.ProcessExited:
		r.exited(e)
	}
}

// polluted shows foreign text, and tells of messages that had to be repaired.
func (r *proxyReport) polluted(e servers.PollutedLine) {
	switch e.Class {
	case servers.ClassTooLong:
		r.log.Error(fmt.Sprintf("line %d of the server's stdout is over the limit of %s for one message and was dropped; --max-message raises it: %s",
			e.Line, exec.Bytes(r.limit), quote(shorten(string(e.Text), 80))))
	case servers.ClassBroken:
		r.log.Error(fmt.Sprintf("line %d of the server's stdout begins like a message, is not valid JSON, and was dropped", e.Line))
		r.show(e)
	case servers.ClassText, servers.ClassNotObject, servers.ClassNotRPC, servers.ClassBadShape, servers.ClassGlued, servers.ClassSplit:
		r.show(e)
	case servers.ClassCRLF, servers.ClassBlank, servers.ClassNoNewline:
		// Nothing is lost, nothing had to be done.
	default:
		r.log.Info(fmt.Sprintf("line %d of the server's stdout was repaired (%s); messages: %d", e.Line, e.Class, max(1, e.Salvaged)))
	}
}

// show writes the text of a polluted line as one or more lines.
func (r *proxyReport) show(e servers.PollutedLine) {
	if r.foreign == nil || len(bytes.TrimSpace(e.Text)) == 0 {
		return
	}
	prefix := "toolx proxy: "
	if r.stamped {
		prefix = e.At.Format("2006-01-02T15:04:05.000Z07:00 ")
	}
	var out bytes.Buffer
	for text := range bytes.Lines(e.Text) {
		text = bytes.TrimRight(text, "\r\n")
		if r.safe {
			text = []byte(render.Safe(string(text)))
		}
		out.WriteString(prefix)
		out.Write(text)
		out.WriteByte('\n')
	}
	if cut := e.Size - int64(len(e.Text)); cut > 0 {
		fmt.Fprintf(&out, "%s… and %s more\n", prefix, exec.Bytes(cut))
	}
	if _, err := r.foreign.Write(out.Bytes()); err != nil && !r.failed {
		r.failed = true
		r.log.Error("--log: " + err.Error())
	}
}

func (r *proxyReport) exited(e servers.ProcessExited) {
	if e.Forced != "" {
		r.log.Warn(fmt.Sprintf("server %q did not end after its client; %s was needed", e.Server, e.Forced))
		return
	}
	r.log.Info(fmt.Sprintf("server %q ended: %s", e.Server, e.How))
}

// close writes what is left, where stderr is read.
func (r *proxyReport) close() {
	r.stderr.close()
	if r.file != nil {
		_ = r.file.Close() // each write was seen
	}
}

// stderrQueue writes to stderr from a goroutine of its own. Not every client reads a
// server's stderr: when the pipe is full, foreign lines must not hold up messages.
type stderrQueue struct {
	out     io.Writer
	lines   chan []byte
	written chan struct{} // closed when all is written

	mu      sync.Mutex
	closed  bool
	stuck   bool // the last line found no room in time
	dropped int  // lines
}

// The bounds of a stderrQueue: how many writes may wait, and for how long one waits
// for room before it is dropped. After that none waits, until there is room again.
const (
	stderrQueueLength = 256
	stderrPatience    = time.Second
)

func newStderrQueue(out io.Writer) *stderrQueue {
	q := &stderrQueue{out: out, lines: make(chan []byte, stderrQueueLength), written: make(chan struct{})}
	go func() {
		defer close(q.written)
		for line := range q.lines {
			_, _ = q.out.Write(line) // nobody can be told
		}
	}()
	return q
}

// Write implements io.Writer; p is one or more whole lines. It never fails.
func (q *stderrQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return len(p), nil
	}
	line := bytes.Clone(p)
	if q.dropped > 0 {
		line = fmt.Appendf(nil, "toolx proxy: stderr was not read, lines dropped: %d\n%s", q.dropped, p)
	}
	patience := stderrPatience
	if q.stuck {
		patience = 0
	}
	if q.stuck = !q.enqueue(line, patience); q.stuck {
		q.dropped += bytes.Count(p, []byte("\n"))
	} else {
		q.dropped = 0
	}
	return len(p), nil
}

// enqueue waits for room, and says whether there was any.
func (q *stderrQueue) enqueue(line []byte, patience time.Duration) bool {
	select {
	case q.lines <- line:
		return true
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case q.lines <- line:
		return true
	case <-timer.C:
		return false
	}
}

// close waits until everything is written, at most stderrPatience. What is written
// after it is dropped.
func (q *stderrQueue) close() {
	q.mu.Lock()
	q.closed = true
	close(q.lines)
	q.mu.Unlock()
	timer := time.NewTimer(stderrPatience)
	defer timer.Stop()
	select {
	case <-q.written:
	case <-timer.C:
	}
}
