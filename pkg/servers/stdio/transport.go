// Package stdio runs the program of a server and talks to it over its pipes: process groups, descendants, stderr, and
// an orderly shutdown.
package stdio

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
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// The times of a stdio session. Each bounds a step that normally takes no time at all, so no user waits for one in
// vain.
const (
	// DrainTime is how long the pipes of an ended server are read on.
	DrainTime = 200 * time.Millisecond
	// exitTime is how long a server that has closed a pipe has to exit, before it is taken for one that lives on: on a
	// busy machine a process takes its time to end.
	exitTime = time.Second
	// StdinGrace, TermGrace bound the steps of closing: stdin's end, SIGTERM,
	// then SIGKILL (MCP, basic/lifecycle, shutdown of stdio).
	StdinGrace = 2 * time.Second
	TermGrace  = time.Second
	// FlushTime is how long closing waits for messages that are still queued.
	FlushTime = 200 * time.Millisecond
)

// failureLines is how many lines of stderr a failure shows.
const failureLines = 10

// writeQueue is how many messages may wait for a server to read.
const writeQueue = 64

// Transport is the transport to one server process, over its pipes.
type Transport struct {
	*rpc.Peer
	launch *config.Resolved
	max    int64
	log    *stderrLog

	Process *Process
	writes  chan *outgoing

	// Each is closed when the goroutine that serves the pipe has ended.
	stdinEnded, stdoutEnded, stderrEnded chan struct{}

	stdoutRead, stderrRead countedPipe

	printed otherOutput // on stdout, besides answers

	StdinGrace time.Duration // how long Close waits after closing stdin

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

// Options say how a server's process is started and talked to.
type Options struct {
	Server     string
	Bus        *exec.Bus
	Launch     *config.Resolved
	MaxMessage int64
	StdinGrace time.Duration // how long Close waits for a server whose stdin has ended; zero means 2 s
	StderrDir  string        // the folder of the logs of stderr; empty for none
}

// New makes the transport; Begin starts the process.
func New(d Options) *Transport {
	server, bus := d.Server, d.Bus
	t := &Transport{
		Peer:   rpc.NewPeer(server, bus),
		launch: d.Launch, max: d.MaxMessage, StdinGrace: cmp.Or(d.StdinGrace, StdinGrace),
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

// Begin starts the server's process.
func (t *Transport) Begin() error {
	p, err := Start(t.launch, nil)
	if err != nil {
		return diagnose.StartFailure(t.NewFailure(diagnose.EndingNotStarted), err)
	}
	t.Process, t.stdoutRead.file, t.stderrRead.file = p, p.Stdout, p.stderr
	t.Bus.Emit(wire.ProcessStarted{
		Head: wire.Head{At: p.Started, Server: t.Server}, PID: p.Cmd.Process.Pid,
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

// RoundTrip sends a request and waits for its response.
func (t *Transport) RoundTrip(
	ctx context.Context, method string, params json.RawMessage, _ http.Header,
) (wire.Message, error) {
	p, err := t.Register(ctx, method, params)
	if err != nil {
		return wire.Message{}, err
	}
	sent := &outgoing{Frame: p.Frame}
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
func (t *Transport) abandon(ctx context.Context, p *rpc.Pending, sent *outgoing, before wrote) error {
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

func (t *Transport) soFar() wrote {
	_, stderr, _ := t.log.last(0)
	return wrote{stderr, t.printed.lines()}
}

// evidenceSince returns what the server has written besides messages, if that is short, and where the whole log is: a
// line each, in the form of Failure.Details.
func (t *Transport) evidenceSince(before wrote) []string {
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

// offer queues a message that has no reply, unless the server does not read.
func (t *Transport) offer(f wire.Frame) bool {
	select {
	case t.writes <- &outgoing{Frame: f}:
		return true
	default:
		return false
	}
}

// Send queues a message for the server's stdin, and returns once it is written.
func (t *Transport) Send(ctx context.Context, f wire.Frame) error {
	return t.enqueue(ctx, &outgoing{Frame: f})
}

// Kill ends the processes of the server at once and does not wait.
func (t *Transport) Kill() { t.Process.Group.Kill() }

// enqueue hands a message to the writer, which waits for a server that does not
// read; this method waits no longer than ctx.
func (t *Transport) enqueue(ctx context.Context, message *outgoing) error {
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
func (t *Transport) write() {
	defer close(t.stdinEnded)
	for {
		select {
		case message := <-t.writes:
			if message.last {
				_ = t.Process.Stdin.Close()
				return
			}
			t.NoteSent(message.Frame)
			message.writing.Store(true)
			if _, err := WritePipe(t.Process.Stdin, append(message.Bytes, '\n')); err != nil {
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
func (t *Transport) stdinBroken(err error) {
	select {
	case <-t.Closing:
		return
	case <-t.Done:
		return
	case <-t.Process.Exited:
		return // watch reports it
	case <-time.After(exitTime):
	}
	failure := t.NewFailure(diagnose.EndingClosedStdin)
	failure.Reason = err
	t.Fail(failure)
}

// watch waits for the process to end and fails the session with all that is known. It reports the exit at once where
// the session was announced, and leaves that to Close where the session is being closed.
func (t *Transport) watch() {
	select {
	case <-t.Process.Exited:
	case <-t.stdoutEnded:
		// Usually the exit follows at once and says more.
		if !t.Process.Ended(exitTime) {
			t.Fail(t.NewFailure(diagnose.EndingClosedStdout))
			<-t.Process.Exited
		}
	}
	t.drain()
	ending := diagnose.EndingExited
	if signalName(t.Process.State) != "" {
		ending = diagnose.EndingKilled
	}
	t.Fail(t.NewFailure(ending))
	select {
	case <-t.Closing:
	case <-t.announced:
		if !wire.Closed(t.Closing) {
			t.tellExit(false, "")
		}
	}
}

// Announce lets events about the process out, which wait until the caller is ready for them.
func (t *Transport) Announce() { close(t.announced) }

// drain reads what an ended server left in its pipes, to their ends, and returns when that is done. Where a process
// that the server started has them open, drain kills the group; it closes what a process outside of the group has.
func (t *Transport) drain() {
	t.drainOnce.Do(func() {
		for _, pipe := range []struct {
			name  string
			read  *countedPipe
			ended chan struct{}
		}{{"stdout", &t.stdoutRead, t.stdoutEnded}, {"stderr", &t.stderrRead, t.stderrEnded}} {
			if pipe.read.settled(pipe.ended) {
				continue
			}
			t.Bus.Emit(wire.PipeInherited{Head: wire.Now(t.Server), Pipe: pipe.name})
			t.Process.Group.Kill()
			if !pipe.read.settled(pipe.ended) {
				_ = pipe.read.file.Close()
				<-pipe.ended
			}
		}
	})
}

// maxDrain is how many times DrainTime a pipe is read on while a process other than the ended server still writes to
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

// settled waits until the pipe of an ended server is read to its end; ended is closed then. While no process has the
// other side, that end is certain to come, however long toolx takes to read. Otherwise, and for a server that lives,
// settled returns false once nothing more has come for DrainTime.
func (p *countedPipe) settled(ended <-chan struct{}) bool {
	tick := time.NewTicker(DrainTime)
	defer tick.Stop()
	before := p.bytes.Load()
	for looks := 0; ; {
		select {
		case <-ended:
			return true
		case <-tick.C:
		}
		state, now := PipeState(p.file), p.bytes.Load()
		if state.HungUp {
			continue
		}
		quiet := now == before && !state.readable
		if looks++; quiet || looks == maxDrain {
			return false
		}
		before = now
	}
}

// NewFailure gathers what is known of the server now.
func (t *Transport) NewFailure(ending diagnose.Ending) *diagnose.Failure {
	if ending == diagnose.EndingMalformed && t.Process != nil {
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
	failure.Stderr = cause.RelevantLines(failure.StderrTail, failureLines)
	t.printed.mu.Lock()
	failure.Stdout = append(failure.Stdout, t.printed.first...)
	failure.Said = append(failure.Said, t.printed.said...)
	t.printed.mu.Unlock()
	if t.Process == nil {
		return failure
	}
	failure.FromStart = sync.OnceValue(func() *cause.Cause {
		return failure.Explain(failure.FromOutput(), t.launch, t.Process.Started)
	})
	failure.Question = t.Question()
	failure.Lived = time.Since(t.Process.Started)
	if wire.Closed(t.Process.Exited) {
		failure.Lived = t.Process.Lived
		failure.How = ExitText(t.Process.State)
	} else if ending == diagnose.EndingSilent {
		t.lookAt(failure)
		if failure.State != nil {
			failure.Endpoint = diagnose.Endpoint(failure.State.Listening)
		}
	}
	return failure
}

// lookAt adds to a failure what the living server does.
func (t *Transport) lookAt(failure *diagnose.Failure) {
	failure.State = procs.StateOf(t.Process.Cmd.Process.Pid)
	failure.Unread = unreadIn(t.Process.Stdin)
}

// Question returns the question that the process has printed and waits for an answer to; empty if there is none.
func (t *Transport) Question() string {
	return cmp.Or(cause.QuestionIn(string(t.Unfinished())), cause.QuestionIn(t.log.pending()))
}

// Doing says for how long the server has not answered, and what it does meanwhile.
func (t *Transport) Doing() string {
	failure := t.NewFailure(diagnose.EndingClosed)
	failure.Ending = diagnose.EndingSilent
	t.lookAt(failure)
	text := "server " + strconv.Quote(t.Server) + " has not answered after " + diagnose.Rounded(failure.Lived).String()
	if c := cmp.Or(failure.FromOutput(), failure.Doing(t.launch)); c != nil {
		text += ": " + c.What
	}
	return text
}

// Unfinished returns the line of stdout that has no end yet.
func (t *Transport) Unfinished() []byte { return t.stdout.Pending() }

// ProcessID returns the id of the server's process.
func (t *Transport) ProcessID() int { return t.Process.Cmd.Process.Pid }

// Stderr returns the last n lines of stderr, how many there were in all, and the file that has them.
func (t *Transport) Stderr(n int) (lines []string, total int, path string) { return t.log.last(n) }

// CloseLog waits until stderr has been read to its end, and closes its file.
func (t *Transport) CloseLog(ctx context.Context) { t.log.close(ctx) }

// Exited waits until the process has ended, or ctx has; it reports whether the process has ended.
func (t *Transport) Exited(ctx context.Context) bool {
	select {
	case <-t.Process.Exited:
		return true
	case <-ctx.Done():
		return false
	}
}

// Terminate asks the server's processes to end by a signal (SIGTERM; Ctrl-Break on Windows), its stdin being open.
func (t *Transport) Terminate() { t.Process.Group.Terminate() }

// ExitText returns how a process ended, such as "exit status 3" or "signal: killed".
func ExitText(state *os.ProcessState) string {
	if signal := signalName(state); signal != "" {
		return "signal: " + signal
	}
	return fmt.Sprintf("exit status %d", state.ExitCode())
}

func (t *Transport) command() []string { return CommandOf(t.launch) }

// entryOf says how a server is started.
func entryOf(launch *config.Resolved) cause.Entry {
	return cause.Entry{Typed: launch.Typed, Variable: launch.Variable}
}

// CommandOf returns the program of an entry with its arguments.
func CommandOf(launch *config.Resolved) []string {
	return append([]string{launch.Command}, launch.Args...)
}
