package cmd

import (
	"context"
	"io"
	"sync"
	"time"

	"toolx/pkg/asyncwriter"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// maxBehind is how many bytes of the log may wait for a stderr that is not read.
const maxBehind = 8 << 20

// liveLine is stderr with one line at its bottom that is redrawn: the progress of a call. All output to stderr goes
// through it, so that the line moves out of the way. The line is drawn only on a terminal.
//
// Writing does not wait for stderr: the goroutine that reads a server must not wait, and a call does not take longer
// because a terminal is stopped. Flush waits.
type liveLine struct {
	mu    sync.Mutex
	out   *asyncwriter.Writer
	moves bool
	line  string
	muted bool
	held  int // how many callers of Hold keep the line away
}

// newLiveLine returns a line on the console's stderr. note returns the text that replaces dropped lines of the log.
func newLiveLine(c *console.Console, note func(lines int) string) *liveLine {
	return &liveLine{out: asyncwriter.New(c.Err, maxBehind, note), moves: c.Motion}
}

// clearLine returns to the line's beginning and clears it.
const clearLine = "\r\x1b[K"

// Write writes whole lines above the live one. They are never dropped.
func (l *liveLine) Write(p []byte) (int, error) { return l.write(p, l.out.Write) }

// log returns a writer for output that a server can cause any amount of: where stderr is not read for long, it drops
// and counts lines.
func (l *liveLine) log() io.Writer { return logLines{l} }

type logLines struct{ *liveLine }

func (l logLines) Write(p []byte) (int, error) { return l.write(p, l.out.Offer) }

func (l *liveLine) write(p []byte, to func([]byte) (int, error)) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		return len(p), nil
	}
	if l.line == "" {
		return to(p)
	}
	_, err := to([]byte(clearLine + string(p) + l.line))
	return len(p), err
}

// Show replaces the live line. It must be safe for a terminal and fit its width.
func (l *liveLine) Show(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.moves || l.muted || l.held > 0 || l.out.Behind() {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.out, clearLine+line)
}

// Flush waits until all that was written has reached stderr, or ctx ends.
func (l *liveLine) Flush(ctx context.Context) { _ = l.out.Flush(ctx) }

// inOrder is a stdout that is the same file as stderr: what was written to stderr before stands before it.
type inOrder struct {
	out    io.Writer
	before *liveLine
}

func (o inOrder) Write(p []byte) (int, error) {
	o.before.Flush(context.Background())
	return o.out.Write(p)
}

// Clear takes the live line away.
func (l *liveLine) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line != "" {
		_, _ = io.WriteString(l.out, clearLine)
		l.line = ""
	}
}

// Stop takes the live line away for good.
func (l *liveLine) Stop() { l.Hold() }

// Hold keeps the live line away until the returned function is called: a person is typing where it would be drawn.
func (l *liveLine) Hold() (release func()) {
	l.Clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held--
	}
}

// Mute drops what is written until the returned function is called: something else has the terminal.
func (l *liveLine) Mute() (unmute func()) {
	l.Clear()
	l.Flush(context.Background())
	mute := func(muted bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.muted = muted
	}
	mute(true)
	return func() { mute(false) }
}

// The pace of the live line: it appears when a wait becomes noticeable.
const (
	progressDelay = 300 * time.Millisecond
	progressPace  = 100 * time.Millisecond
)

// progressLine shows a call that takes a while: one line on stderr that is redrawn.
type progressLine struct {
	out   *output
	began time.Time

	mu       sync.Mutex
	state    render.Progress
	reported exec.Progress
}

// showProgress draws the progress of a call of the tool until stop is called, which may be called twice. Where stderr
// is no terminal it draws nothing.
func (a *App) showProgress(tool string) (stop func()) {
	p := a.newProgress(tool)
	if p == nil {
		return func() {}
	}
	unsubscribe := a.bus.Subscribe(p.take)
	end := p.begin()
	return sync.OnceFunc(func() {
		unsubscribe()
		end()
	})
}

// showDoing draws what is being done, as doing says, until stop is called. Where stderr is no terminal it draws
// nothing.
func (o *output) showDoing(verb string) (doing func(what string), stop func()) {
	p := o.newProgress(verb)
	if p == nil {
		return func(string) {}, func() {}
	}
	return p.say, sync.OnceFunc(p.begin())
}

// showReached draws how far the reading of a whole has come, as reach says, until stop is called; whole is 0 where
// nobody knows it. Where stderr is no terminal it draws nothing, and reach is nil.
func (o *output) showReached(subject string, whole int64) (reach func(part int64, done string), stop func()) {
	p := o.newProgress(subject)
	if p == nil {
		return nil, func() {}
	}
	reach = func(part int64, done string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.state.Message = done
		if whole > 0 {
			p.state.Done, p.state.Total = float64(part), float64(whole)
		}
	}
	return reach, sync.OnceFunc(p.begin())
}

// newProgress returns nil where nothing is to be drawn.
func (o *output) newProgress(subject string) *progressLine {
	if !o.Console.Motion || o.flags.quiet {
		return nil
	}
	return &progressLine{out: o, began: time.Now(), state: render.Progress{Tool: subject, Message: "starting"}}
}

// say replaces the text after the time.
func (p *progressLine) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Message = what
}

// begin draws until end is called.
func (p *progressLine) begin() (end func()) {
	ended := make(chan struct{})
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		p.draw(ended)
	}()
	return func() {
		close(ended)
		<-drawn
		p.out.live.Clear()
	}
}

// draw shows the line at its pace until ended is closed.
func (p *progressLine) draw(ended <-chan struct{}) {
	pace := time.NewTimer(progressDelay)
	defer pace.Stop()
	for {
		select {
		case <-ended:
			return
		case <-pace.C:
			p.mu.Lock()
			state := p.state
			p.mu.Unlock()
			state.Elapsed = time.Since(p.began)
			p.out.live.Show(state.Line(p.out.Console.Width))
			pace.Reset(progressPace)
		}
	}
}

// take notes what an event says about how far the call is.
func (p *progressLine) take(event exec.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case servers.ProcessStarted:
		p.state.Message = "waiting for server " + e.Server
	case servers.Retry:
		p.state.Message = "waiting to start server " + e.Server + " again"
	case exec.CallStarted:
		p.state.Message = "running"
	case exec.CallProgress:
		p.reported = p.reported.Then(e.Progress)
		p.state.Done, p.state.Total, p.state.Message = p.reported.Progress, p.reported.Total, p.reported.Text()
	}
}
