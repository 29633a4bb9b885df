// Package proxy runs a server behind a filter that keeps its stdout clean, and its tools behind guards.
package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// Options are what the proxy connects, and how.
type Options struct {
	// In is what the client says, Out what it hears. Out is closed when the server
	// closes its stdout, where it is an io.Closer.
	In  io.Reader
	Out io.Writer
	// Err takes the server's stderr; an *os.File becomes the server's own. It must not be nil.
	Err io.Writer
	// Signals are passed on to the server's processes; it may be nil.
	Signals <-chan os.Signal
	// MaxMessage is the size in bytes of the largest message that passes to the
	// client; zero means wire.DefaultMaxMessage. The other way has no limit.
	MaxMessage int64
	// Bus is told what happens: processes, messages to the client, and, as
	// PollutedLine, everything on stdout that is no message. It may be nil.
	Bus *exec.Bus
	// Trace reports messages to the server too, which costs looking for them.
	Trace bool
	// Record reports the lines of the server's stderr, which is then a pipe and not Err itself.
	Record bool
	// Secret is told every value that must not be shown; it may be nil.
	Secret func(values ...string)
}

// maxForeign is how many bytes of foreign text the events of the proxy keep: it stands in for a stdout that no other
// program sees.
const maxForeign = 64 << 10

// Run runs a server and stands between it and a client, which only messages reach: MCP allows nothing else on a
// server's stdout (basic/transports, stdio). It adds none of its own. A message's bytes stay as they are, unless they
// are no line of valid JSON; messages come one a line and as soon as they are complete. What the client says goes to
// the server as it comes.
//
// Where the entry has guards, lists lack the tools that they refuse, and calls of these, and of tools that are to be
// confirmed, are answered with an error and do not reach the server. Then what the client says goes on line by line.
//
// It returns when the server has ended, and nothing that it started is left. code is the server's exit status, or 128
// and the number of the signal that ended it. When In ends, so does the server's stdin; when the server is then silent
// for StdinGrace, or the client no longer reads, it is ended as a session's server is. err is a *diagnose.Failure where
// the server could not be started, else what writing to the client failed with. A read of In that blocks is left
// behind.
func Run(server *config.Server, launch *config.Resolved, options Options) (code int, err error) {
	if options.Secret != nil {
		options.Secret(launch.Secrets...)
	}
	if launch.URL != "" {
		return 0, &diagnose.Failure{
			Server: server.Name, Ending: diagnose.EndingUnsupported, URL: launch.URL,
			Reason: errors.New("the proxy stands before a program, and this server has a url"),
		}
	}
	p := newProxy(server.Name, options)
	p.protect(server)
	if err := p.start(launch); err != nil {
		failure := &diagnose.Failure{Server: server.Name, Command: stdio.CommandOf(launch), Cwd: launch.Cwd}
		return 0, diagnose.StartFailure(failure, err)
	}
	options.Bus.Emit(wire.ProcessStarted{
		Head: wire.Head{At: p.process.Started, Server: server.Name}, PID: p.process.Cmd.Process.Pid,
		Command: stdio.CommandOf(launch), Cwd: launch.Cwd,
	})
	go p.listen()
	go p.speak()
	forced := p.supervise()
	asked := p.closing.Load()
	p.deliver()
	wire.WaitFor(context.Background(), p.stderrEnded, stdio.DrainTime)
	options.Bus.Emit(wire.ProcessExited{
		Head: wire.Now(server.Name), How: stdio.ExitText(p.process.State),
		Lived: p.process.Lived, Asked: asked, Forced: forced,
	})
	return stdio.ExitCode(p.process.State), p.client.failure()
}

// proxy is one call of Run.
type proxy struct {
	Options
	server  string
	process *stdio.Process
	stdout  *wire.Stream
	times   wire.RequestTimes // of the client's requests, where they are traced
	client  *clientPipe
	guard   *Guard // nil where all tools may be used

	outMu   sync.Mutex
	out     *bufio.Writer // to client; flushed when stdout has nothing more for now
	largest int           // the size of the largest message since out was flushed
	outOver bool          // the end of stdout is with the client

	clientEnded chan struct{} // closed when the client has said its last
	endOnce     sync.Once
	stdoutEnded chan struct{} // closed when all of stdout is with the client
	stderrEnded chan struct{} // closed when nothing more of stderr is to be reported
	answered    atomic.Bool   // a message has come
	closing     atomic.Bool   // the server's stdin is closed
	signalled   bool          // a signal was passed on
}

func newProxy(server string, options Options) *proxy {
	p := &proxy{
		Options: options, server: server,
		client:      &clientPipe{out: options.Out, broken: make(chan struct{})},
		clientEnded: make(chan struct{}),
		stdoutEnded: make(chan struct{}),
		stderrEnded: make(chan struct{}),
	}
	p.out = bufio.NewWriterSize(p.client, 64<<10)
	p.stdout = wire.NewStream(cmp.Or(options.MaxMessage, wire.DefaultMaxMessage), p.takeMessage, p.takeFinding)
	p.stdout.Eager = true
	p.stdout.Keep(maxForeign)
	p.stdout.Settled = func() {
		p.outMu.Lock()
		defer p.outMu.Unlock()
		_ = p.out.Flush() // clientPipe keeps the error
		Release(p.largest)
		p.largest = 0
	}
	return p
}

// start starts the server. Its stderr is Err, or a pipe that copyStderr reads.
func (p *proxy) start(launch *config.Resolved) (err error) {
	if !p.Record {
		close(p.stderrEnded)
		p.process, err = stdio.Start(launch, p.Err)
		return err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer to.Close()
	if p.process, err = stdio.Start(launch, to); err != nil {
		_ = from.Close()
		return err
	}
	go p.copyStderr(from)
	return nil
}

// copyStderr passes the server's stderr on, and reports its lines. Where Err is not read, it is left behind.
func (p *proxy) copyStderr(from *os.File) {
	defer close(p.stderrEnded)
	defer from.Close()
	lines := framerWriter{&wire.Framer{Max: maxForeign, Emit: func(l wire.Line) {
		p.Bus.Emit(wire.StderrLine{Head: wire.Now(p.server), Text: string(bytes.TrimSuffix(l.Bytes, []byte("\r")))})
	}}}
	_, _ = io.Copy(p.Err, io.TeeReader(from, lines))
	lines.Flush(wire.EndEOF)
}

// protect keeps the client from tools that the guards of a server refuse.
func (p *proxy) protect(server *config.Server) {
	if !server.Guards.Says() {
		return
	}
	p.guard = NewGuard(server, cmp.Or(p.MaxMessage, wire.DefaultMaxMessage), func(message []byte) {
		p.write(message)
		p.stdout.Settled()
	}, func(text string) {
		p.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: text})
	})
}

// write gives the client a message, unless the client has seen the end.
func (p *proxy) write(message []byte) {
	p.outMu.Lock()
	defer p.outMu.Unlock()
	if p.outOver {
		return
	}
	_, _ = p.out.Write(message) // clientPipe keeps the error
	_ = p.out.WriteByte('\n')
	p.largest = max(p.largest, len(message))
}

// largeMessage is the size in bytes from which the memory of a message is worth a collection of garbage.
const largeMessage = 8 << 20

// Release gives the memory of a message that was passed on back to the system, if it is large: else it would still be
// there when the next one comes.
func Release(size int) {
	if size >= largeMessage {
		debug.FreeOSMemory()
	}
}

// listen passes the server's messages on, to the end of its stdout, which the client sees as the end of its own.
func (p *proxy) listen() {
	defer close(p.stdoutEnded)
	p.stdout.Read(&lastReader{file: p.process.Stdout, exited: p.process.Exited, left: maxPipe})
	p.outMu.Lock()
	defer p.outMu.Unlock()
	p.outOver = true
	if closer, ok := p.Out.(io.Closer); ok {
		_ = closer.Close()
	}
}

// takeMessage passes a message on. An object that only looks like one, such as a log record with a "method", is none;
// an answer is, whatever it lacks, since some clients take it.
func (p *proxy) takeMessage(m wire.Message, number int) {
	if m.Version == nil && m.Kind() != wire.KindReply {
		p.takeFinding(wire.Finding{
			Class: wire.ClassNotRPC, Number: number, Text: m.Raw[:min(len(m.Raw), maxForeign)],
			Size: int64(len(m.Raw)),
		})
		return
	}
	p.answered.Store(true)
	p.Bus.Emit(p.times.Received(p.server, number, m, string(m.ID)))
	if p.guard != nil {
		m.Raw = p.guard.Filter(m.Raw)
	}
	p.write(m.Raw)
}

// takeFinding reports what is not a message.
func (p *proxy) takeFinding(f wire.Finding) {
	phase := wire.PhaseIdle
	switch {
	case p.closing.Load():
		phase = wire.PhaseShutdown
	case !p.answered.Load():
		phase = wire.PhaseStart
	}
	p.Bus.Emit(f.Event(p.server, phase, p.process.Started))
}

// speak passes on what the client says, at the pace at which the server reads, and
// its end. Where the server no longer reads, the client's end is still waited for.
func (p *proxy) speak() {
	in := p.In
	if p.guard != nil {
		in = p.guard.Input(in)
	}
	if p.Trace {
		in = io.TeeReader(in, p.traced())
	}
	stopped := false
	chunk := make([]byte, 64<<10)
	for {
		n, err := in.Read(chunk)
		if n > 0 && !stopped {
			failure := p.pass(chunk[:n])
			stopped = failure != nil
			if stopped {
				p.tellNotReading(failure)
			}
		}
		if err != nil { // whatever it is, nothing more comes
			p.closeStdin()
			p.endClient()
			return
		}
	}
}

// pass writes to the server. While that does not read, the client's end stands
// after what cannot be written: it is looked for in another way.
func (p *proxy) pass(b []byte) error {
	for {
		_ = p.process.Stdin.SetWriteDeadline(time.Now().Add(wire.IdleTime))
		n, err := stdio.WritePipe(p.process.Stdin, b)
		if n > 0 {
			p.client.touch()
		}
		if !os.IsTimeout(err) {
			return err
		}
		if b = b[n:]; stdio.PipeState(p.In).HungUp {
			p.endClient()
		}
	}
}

// traced reports the lines that are written to it.
func (p *proxy) traced() io.Writer {
	return framerWriter{&wire.Framer{Max: wire.DefaultMaxMessage, Emit: func(l wire.Line) {
		if message := bytes.TrimSpace(l.Bytes); len(message) > 0 {
			p.Bus.Emit(p.times.Sent(p.server, wire.ReadFrame(message)))
		}
	}}}
}

// framerWriter feeds what is written to it.
type framerWriter struct{ *wire.Framer }

// Write implements io.Writer; it never fails.
func (w framerWriter) Write(b []byte) (int, error) {
	w.Feed(b)
	return len(b), nil
}

// tellNotReading reports a server that no longer reads, unless it is ending, which says more.
func (p *proxy) tellNotReading(err error) {
	if p.closing.Load() || p.process.Ended(stdio.DrainTime) {
		return
	}
	p.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelError, Text: fmt.Sprintf(
		"server %q closed its stdin; what the client says is lost: %v", p.server, err)})
}

// endClient begins the time that the server has to end.
func (p *proxy) endClient() { p.endOnce.Do(func() { close(p.clientEnded) }) }

func (p *proxy) closeStdin() {
	if p.closing.CompareAndSwap(false, true) {
		_ = p.process.Stdin.Close()
		p.Bus.Emit(wire.StdinClosed{Head: wire.Now(p.server)})
	}
}

// supervise returns when the server has ended, and says which signal of the proxy's
// own was needed. A server whose client is gone gets its time to end, which begins
// again with all that it still reads, and with every message that still has a reader.
func (p *proxy) supervise() (forced string) {
	grace := time.NewTimer(stdio.StdinGrace)
	grace.Stop()
	defer grace.Stop()
	ended, broken := p.clientEnded, p.client.broken
	for {
		select {
		case <-p.process.Exited:
			return forced
		case signal := <-p.Signals:
			p.signalled = true
			p.process.Group.Signal(signal)
		case <-ended:
			ended = nil
			grace.Reset(stdio.StdinGrace)
		case <-broken:
			broken = nil
			p.closeStdin()
			grace.Reset(stdio.StdinGrace)
		case <-grace.C:
			left := stdio.StdinGrace - p.client.quiet()
			switch {
			case forced == "" && left > 0:
				grace.Reset(left)
			case forced == "":
				forced = "SIGTERM"
				p.process.Group.Terminate()
				grace.Reset(stdio.TermGrace)
			default:
				forced = "SIGKILL"
				p.process.Group.Kill()
			}
		}
	}
}

// deliver gives the client what an ended server left in its pipe, however slowly it
// reads; a signal ends that. Then nothing of the server is left.
func (p *proxy) deliver() {
	_ = p.process.Stdout.SetReadDeadline(time.Now()) // lastReader goes on
	kill := time.AfterFunc(stdio.DrainTime, p.process.Group.Kill)
	defer kill.Stop()
	var enough <-chan time.Time
	if p.signalled {
		enough = time.After(stdio.TermGrace)
	}
	select {
	case <-p.stdoutEnded:
	case <-p.Signals:
	case <-enough:
	}
	p.process.Group.Kill()
	p.process.Release(context.Background(), p.Bus, p.server)
	p.closing.Store(true)
	_ = p.process.Stdin.Close()
	_ = p.process.Stdout.Close()
}

// clientPipe is the way to the client. When the client no longer reads, it takes and
// drops what comes, so that the server is not delayed in its shutdown.
type clientPipe struct {
	out    io.Writer
	broken chan struct{} // closed when writing has failed; err is why
	err    error

	writing atomic.Bool
	last    atomic.Int64 // when something last moved either way, in Unix nanoseconds
}

// Write implements io.Writer; it never fails.
func (c *clientPipe) Write(b []byte) (int, error) {
	if wire.Closed(c.broken) {
		return len(b), nil
	}
	c.writing.Store(true)
	_, err := c.out.Write(b)
	c.touch()
	c.writing.Store(false)
	if err != nil {
		c.err = err
		close(c.broken)
	}
	return len(b), nil
}

func (c *clientPipe) touch() { c.last.Store(time.Now().UnixNano()) }

// quiet is for how long nothing has moved; for no time where the client takes its
// time to read, and for long enough where it is gone.
func (c *clientPipe) quiet() time.Duration {
	switch {
	case wire.Closed(c.broken):
		return stdio.StdinGrace
	case c.writing.Load():
		return 0
	}
	return time.Since(time.Unix(0, c.last.Load()))
}

func (c *clientPipe) failure() error {
	if wire.Closed(c.broken) {
		return c.err
	}
	return nil
}

// maxPipe is the number of bytes that fit into a pipe at most (Linux, pipe-max-size).
const maxPipe = 1 << 20

// lastReader reads a process's stdout to its end. When the process has ended, it reads what that left in the pipe and
// no more: what it started may keep the pipe open for ever.
type lastReader struct {
	file   *os.File
	exited <-chan struct{}
	left   int // bytes that may be read after the end
}

// Read implements io.Reader. deliver ends a read that blocks at the process's end: then it is made again, and waits for
// DrainTime. (Windows has no deadlines for pipes; there the Job Object ends all that have one.)
func (r *lastReader) Read(b []byte) (int, error) {
	for again := false; ; again = true {
		late := wire.Closed(r.exited)
		if late {
			if r.left <= 0 {
				return 0, io.EOF
			}
			_ = r.file.SetReadDeadline(time.Now().Add(stdio.DrainTime))
		}
		n, err := r.file.Read(b)
		if late {
			r.left -= n
		}
		if again || !os.IsTimeout(err) {
			return n, err
		}
	}
}
