package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// The times of a stdio session. Each bounds a step that normally takes no time at all, so no user waits for one in
// vain.
const (
	// drainTime is how long the pipes of an ended server are read on.
	drainTime = 200 * time.Millisecond
	// exitTime is how long a server that has closed a pipe has to exit, before it is taken for one that lives on: on a
	// busy machine a process takes its time to end.
	exitTime = time.Second
	// stdinGrace, termGrace bound the steps of closing: stdin's end, SIGTERM,
	// then SIGKILL (MCP, basic/lifecycle, shutdown of stdio).
	stdinGrace = 2 * time.Second
	termGrace  = time.Second
	// flushTime is how long closing waits for messages that are still queued.
	flushTime = 200 * time.Millisecond
)

// failureLines is how many lines of stderr a failure shows.
const failureLines = 10

// DefaultMaxMessage is the size in bytes of the largest message that toolx accepts from a server, unless configured.
const DefaultMaxMessage = 64 << 20

// writeQueue is how many messages may wait for a server to read.
const writeQueue = 64

// stdio is the link to one server process, over its pipes.
type stdio struct {
	*wire.Peer
	launch *config.Resolved
	max    int64
	log    *stderrLog

	process *process
	writes  chan *outgoing

	// Each is closed when the goroutine that serves the pipe has ended.
	stdinEnded, stdoutEnded, stderrEnded chan struct{}

	stdoutRead, stderrRead countedPipe

	printed otherOutput // on stdout, besides answers

	stdinGrace time.Duration // how long shutdown waits after closing stdin

	// announced is closed when the session has been announced: the exit of its process is not reported earlier.
	announced chan struct{}

	closeOnce, exitOnce, drainOnce sync.Once

	stdout *wire.Stream
}

// outgoing is a message on its way to the server.
type outgoing struct {
	wire.Frame
	queued           time.Time
	writing, written atomic.Bool
	last             bool // close stdin instead of writing
}

// newStdio makes the link; begin starts the process.
func newStdio(d dial) *stdio {
	server, bus := d.server.Name, d.Bus
	t := &stdio{
		Peer:   wire.NewPeer(server, bus),
		launch: d.launch, max: d.MaxMessage, stdinGrace: cmp.Or(d.StdinGrace, stdinGrace),
		writes:      make(chan *outgoing, writeQueue),
		stdinEnded:  make(chan struct{}),
		stdoutEnded: make(chan struct{}),
		stderrEnded: make(chan struct{}),
		announced:   make(chan struct{}),
	}
	t.Post = t.offer
	t.log = newStderrLog(d.StderrDir, server, func(text string) {
		bus.Emit(wire.StderrLine{Head: wire.Now(server), Text: text})
	})
	t.stdout = wire.NewStream(d.MaxMessage, t.takeOwnMessage, t.takeFinding)
	t.stdout.OnRefused(t.Refuse)
	return t
}

// begin implements link: it starts the server's process.
func (t *stdio) Begin() error {
	p, err := startProcess(t.launch, nil)
	if err != nil {
		return diagnose.StartFailure(t.newFailure(diagnose.EndingNotStarted), err)
	}
	t.process, t.stdoutRead.file, t.stderrRead.file = p, p.stdout, p.stderr
	t.Bus.Emit(wire.ProcessStarted{
		Head: wire.Head{At: p.started, Server: t.Server}, PID: p.cmd.Process.Pid,
		Command: t.command(), Cwd: t.launch.Cwd,
	})
	go func() {
		defer close(t.stdoutEnded)
		t.stdout.Read(&t.stdoutRead)
	}()
	go func() {
		defer close(t.stderrEnded)
		t.log.read(&t.stderrRead)
	}()
	go t.write()
	go t.watch()
	return nil
}

func (t *stdio) roundTrip(
	ctx context.Context, method string, params json.RawMessage, _ http.Header,
) (wire.Message, error) {
	p, err := t.Register(ctx, method, params)
	if err != nil {
		return wire.Message{}, err
	}
	sent := &outgoing{Frame: p.Frame()}
	before := t.soFar()
	if err := t.enqueue(ctx, sent); err != nil {
		t.Settle(p.ID, wire.ClassIDUnknown)
		return wire.Message{}, err
	}
	select {
	case r := <-p.Reply:
		return r.Message, r.Err
	case <-ctx.Done():
		t.stdout.TakeDoubtful()
		select {
		case r := <-p.Reply:
			return r.Message, r.Err
		default:
			return wire.Message{}, t.abandon(ctx, p, sent, before)
		}
	case <-t.Done:
		select { // the answer may have come with the end
		case r := <-p.Reply:
			return r.Message, r.Err
		default:
			return wire.Message{}, diagnose.Of(t.Peer, method)
		}
	}
}

// abandon gives a request up after ctx has ended; before is how much the server had written when it was asked.
func (t *stdio) abandon(ctx context.Context, p *wire.Pending, sent *outgoing, before wrote) error {
	written, evidence := sent.written.Load(), t.evidenceSince(before)
	// A request that is still queued goes out all the same, and the notice after it.
	detail := t.GiveUp(ctx, p, true)
	if !written {
		detail = sent.stalled()
	}
	return &diagnose.Abandoned{Err: ctx.Err(), Why: detail, Printed: evidence}
}

// stalled returns why a message is not written yet; empty if it has only just been queued.
func (m *outgoing) stalled() string {
	if m.writing.Load() || time.Since(m.queued) >= wire.IdleTime {
		return diagnose.NotReading
	}
	return ""
}

// wrote is how much a server has written besides messages, in lines.
type wrote struct{ stderr, stdout int }

func (t *stdio) soFar() wrote {
	_, stderr, _ := t.log.last(0)
	return wrote{stderr, t.printed.lines()}
}

// evidenceSince returns what the server has written besides messages, if that is short, and where the whole log is: a
// line each, in the form of Failure.Details.
func (t *stdio) evidenceSince(before wrote) []string {
	stderr, total, path := t.log.last(failureLines)
	stderr = diagnose.LastOf(stderr, total-before.stderr)
	stdout := t.printed.since(before.stdout)
	if pending := t.stdout.Pending(); len(pending) > 0 {
		stdout = append(stdout, string(pending[:min(len(pending), lineBytes)])+" (and no newline yet)")
	}
	details := append(diagnose.Labelled("stdout", stdout), diagnose.Labelled("stderr", stderr)...)
	if path != "" {
		details = append(details, fmt.Sprintf("log      %s (%s)", path, words.Count(total, "line")))
	}
	return details
}

// offer queues a message that nobody waits for, unless the server does not read.
func (t *stdio) offer(f wire.Frame) bool {
	select {
	case t.writes <- &outgoing{Frame: f}:
		return true
	default:
		return false
	}
}

func (t *stdio) send(ctx context.Context, f wire.Frame) error {
	return t.enqueue(ctx, &outgoing{Frame: f})
}

// kill ends the processes of the server at once and does not wait.
func (t *stdio) kill() { t.process.group.kill() }

// enqueue hands a message to the writer, which waits for a server that does not
// read; this method waits no longer than ctx.
func (t *stdio) enqueue(ctx context.Context, message *outgoing) error {
	select {
	case <-t.Done:
		return diagnose.Of(t.Peer, "")
	default:
	}
	message.queued = time.Now()
	select {
	case t.writes <- message:
		return nil
	case <-ctx.Done():
		return &diagnose.Abandoned{Err: ctx.Err(), Why: message.stalled()}
	case <-t.Done:
		return diagnose.Of(t.Peer, "")
	}
}

// write runs the writer: it alone writes to the server's stdin.
func (t *stdio) write() {
	defer close(t.stdinEnded)
	for {
		select {
		case message := <-t.writes:
			if message.last {
				_ = t.process.stdin.Close()
				return
			}
			t.NoteSent(message.Frame)
			message.writing.Store(true)
			if _, err := writePipe(t.process.stdin, append(message.Bytes, '\n')); err != nil {
				t.stdinBroken(err)
				return
			}
			message.written.Store(true)
		case <-t.Done:
			return
		}
	}
}

// stdinBroken handles a server that no longer reads. Usually the server is about to exit, and its exit says more than
// the broken pipe, so only a server that lives on is failed.
func (t *stdio) stdinBroken(err error) {
	select {
	case <-t.Closing:
		return
	case <-t.Done:
		return
	case <-t.process.exited:
		return // watch reports it
	case <-time.After(exitTime):
	}
	failure := t.newFailure(diagnose.EndingClosedStdin)
	failure.Reason = err
	t.Fail(failure)
}

// watch waits for the process to end and fails the session with all that is known. It reports the exit at once where
// the session was announced, and leaves that to shutdown where the session is being closed.
func (t *stdio) watch() {
	select {
	case <-t.process.exited:
	case <-t.stdoutEnded:
		// Usually the exit follows at once and says more.
		if !t.process.ended(exitTime) {
			t.Fail(t.newFailure(diagnose.EndingClosedStdout))
			<-t.process.exited
		}
	}
	t.drain()
	ending := diagnose.EndingExited
	if signalName(t.process.state) != "" {
		ending = diagnose.EndingKilled
	}
	t.Fail(t.newFailure(ending))
	select {
	case <-t.Closing:
	case <-t.announced:
		if !wire.Closed(t.Closing) {
			t.tellExit(false, "")
		}
	}
}

func (t *stdio) Announce() { close(t.announced) }

// drain reads what an ended server left in its pipes, to their ends, and returns when that is done. Where a process
// that the server started holds them open, drain kills the group; it closes what a process outside of the group holds.
func (t *stdio) drain() {
	t.drainOnce.Do(func() {
		for _, pipe := range []struct {
			name  string
			read  *countedPipe
			ended chan struct{}
		}{{"stdout", &t.stdoutRead, t.stdoutEnded}, {"stderr", &t.stderrRead, t.stderrEnded}} {
			if pipe.read.settled(pipe.ended) {
				continue
			}
			t.Bus.Emit(wire.PipeHeld{Head: wire.Now(t.Server), Pipe: pipe.name})
			t.process.group.kill()
			if !pipe.read.settled(pipe.ended) {
				_ = pipe.read.file.Close()
				<-pipe.ended
			}
		}
	})
}

// maxDrain is how many times drainTime a pipe is read on while a process other than the ended server still writes to
// it.
const maxDrain = 5

// countedPipe is a pipe that counts what is read from it.
type countedPipe struct {
	file  *os.File
	bytes atomic.Int64 // that were read
}

// Read implements io.Reader.
func (p *countedPipe) Read(b []byte) (int, error) {
	n, err := readPipe(p.file, b)
	p.bytes.Add(int64(n))
	return n, err
}

// settled waits until the pipe of an ended server is read to its end; ended is closed then. While nobody holds the
// other side, that end is certain to come, however long toolx takes to read. Otherwise, and for a server that lives,
// settled returns false once nothing more has come for drainTime.
func (p *countedPipe) settled(ended <-chan struct{}) bool {
	tick := time.NewTicker(drainTime)
	defer tick.Stop()
	before := p.bytes.Load()
	for held := 0; ; {
		select {
		case <-ended:
			return true
		case <-tick.C:
		}
		state, now := pipeState(p.file), p.bytes.Load()
		if state.hungUp {
			continue
		}
		quiet := now == before && !state.readable
		if held++; quiet || held == maxDrain {
			return false
		}
		before = now
	}
}

// newFailure gathers what is known of the server now.
func (t *stdio) newFailure(ending diagnose.Ending) *diagnose.Failure {
	if ending == diagnose.EndingMalformed && t.process != nil {
		t.stderrRead.settled(t.stderrEnded) // what it wrote before its answer says why
	}
	failure := &diagnose.Failure{
		Server: t.Server, Ending: ending, Command: t.command(), Cwd: t.launch.Cwd,
		Withheld: t.launch.Withheld, Environ: t.launch.Env, Entry: entryOf(t.launch),
	}
	if failure.Cwd == "" {
		failure.Cwd, _ = os.Getwd() // a folder that is gone has no name
	}
	failure.FromOutput = sync.OnceValue(func() *cause.Cause { return cause.Diagnose(failure.Output()) })
	failure.StderrTail, failure.StderrLines, failure.StderrPath = t.log.last(stderrTailLines)
	failure.Stderr = cause.Telling(failure.StderrTail, failureLines)
	t.printed.mu.Lock()
	failure.Stdout = append(failure.Stdout, t.printed.first...)
	failure.Said = append(failure.Said, t.printed.said...)
	t.printed.mu.Unlock()
	if t.process == nil {
		return failure
	}
	failure.FromStart = sync.OnceValue(func() *cause.Cause {
		return failure.Explain(failure.FromOutput(), t.launch, t.process.started)
	})
	failure.Question = t.Question()
	failure.Lived = time.Since(t.process.started)
	if wire.Closed(t.process.exited) {
		failure.Lived = t.process.lived
		failure.How = exitText(t.process.state)
	} else if ending == diagnose.EndingSilent {
		t.lookAt(failure)
		if failure.State != nil {
			failure.Endpoint = diagnose.Endpoint(failure.State.Listening)
		}
	}
	return failure
}

// lookAt adds to a failure what the living server does.
func (t *stdio) lookAt(failure *diagnose.Failure) {
	failure.State = procs.StateOf(t.process.cmd.Process.Pid)
	failure.Unread = unreadIn(t.process.stdin)
}

func (t *stdio) Question() string {
	return cmp.Or(cause.Asks(string(t.Unfinished())), cause.Asks(t.log.pending()))
}

// doing implements link.
func (t *stdio) Doing() string {
	failure := t.newFailure(diagnose.EndingClosed)
	failure.Ending = diagnose.EndingSilent
	t.lookAt(failure)
	text := "server " + strconv.Quote(t.Server) + " has not answered after " + diagnose.Rounded(failure.Lived).String()
	if c := cmp.Or(failure.FromOutput(), failure.Doing(t.launch)); c != nil {
		text += ": " + c.What
	}
	return text
}

func (t *stdio) Unfinished() []byte { return t.stdout.Pending() }

func (t *stdio) ProcessID() int { return t.process.cmd.Process.Pid }

func (t *stdio) Stderr(n int) (lines []string, total int, path string) { return t.log.last(n) }

func (t *stdio) CloseLog(ctx context.Context) { t.log.close(ctx) }

// asks waits until the server has asked the same for two looks in a row, and reports whether it did before ctx ended.
func asks(ctx context.Context, l link, between time.Duration) bool {
	look := time.NewTicker(between)
	defer look.Stop()
	for before := ""; ; {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		question := l.Question()
		if question != "" && question == before {
			return true
		}
		before = question
	}
}

func exitText(state *os.ProcessState) string {
	if signal := signalName(state); signal != "" {
		return "signal: " + signal
	}
	return fmt.Sprintf("exit status %d", state.ExitCode())
}

func (t *stdio) command() []string { return commandOf(t.launch) }

// entryOf says how a server is started.
func entryOf(launch *config.Resolved) cause.Entry {
	return cause.Entry{Typed: launch.Typed, Variable: launch.Variable}
}

func commandOf(launch *config.Resolved) []string {
	return append([]string{launch.Command}, launch.Args...)
}
