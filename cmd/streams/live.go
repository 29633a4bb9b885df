package streams

import (
	"context"
	"io"
	"sync"

	"toolx/pkg/asyncwriter"
	"toolx/pkg/console"
)

// MaxBehind is how many bytes of the log may wait while stderr is not read.
const MaxBehind = 8 << 20

// LiveLine is stderr with a last line that is redrawn: the progress of a call. All output to stderr goes through it, so
// that the line moves out of the way. The line is drawn only on a terminal.
//
// Writing does not wait for stderr, because the goroutine that reads a server must not wait, and a stopped terminal
// must not delay a call. Flush waits.
type LiveLine struct {
	mu    sync.Mutex
	out   *asyncwriter.Writer
	moves bool
	line  string
	muted bool
	// paused reports whether output is collected in kept, as far as there is room.
	paused bool
	kept   []byte
	held   int // how many callers of Hold hide the line
}

// newLiveLine returns a line on the console's stderr. note returns the text that replaces dropped lines of the log.
func newLiveLine(c *console.Console, note func(lines int) string) *LiveLine {
	return &LiveLine{out: asyncwriter.New(c.Err, MaxBehind, note), moves: c.Motion}
}

// clearLine is the control sequence that clears a line.
const clearLine = "\r\x1b[K"

// Write writes whole lines above the live one. They are never dropped.
func (l *LiveLine) Write(p []byte) (int, error) { return l.write(p, l.out.Write) }

// Log returns a writer for output of which a server can cause any amount: if stderr is not read for a while, it drops
// and counts lines.
func (l *LiveLine) Log() io.Writer { return logLines{l} }

type logLines struct{ *LiveLine }

func (l logLines) Write(p []byte) (int, error) { return l.write(p, l.out.Offer) }

func (l *LiveLine) write(p []byte, to func([]byte) (int, error)) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		return len(p), nil
	}
	if l.paused {
		l.kept = append(l.kept, p[:min(len(p), max(0, MaxBehind-len(l.kept)))]...)
		return len(p), nil
	}
	if l.line == "" {
		return to(p)
	}
	_, err := to([]byte(clearLine + string(p) + l.line))
	return len(p), err
}

// Show replaces the live line. It must be safe for a terminal and fit its width.
func (l *LiveLine) Show(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.moves || l.muted || l.held > 0 || l.out.Behind() {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.out, clearLine+line)
}

// Flush waits until all output has reached stderr, or ctx ends.
func (l *LiveLine) Flush(ctx context.Context) { _ = l.out.Flush(ctx) }

// inOrder is a stdout that is the same file as stderr: earlier output on stderr precedes it, and nothing is written
// into a form.
type inOrder struct {
	out    io.Writer
	before *LiveLine
}

func (o inOrder) Write(p []byte) (int, error) {
	if o.before.keep(p) {
		return len(p), nil
	}
	o.before.Flush(context.Background())
	return o.out.Write(p)
}

// keep keeps p, of any length, until the end of a Pause, and reports whether there is one.
func (l *LiveLine) keep(p []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		l.kept = append(l.kept, p...)
	}
	return l.paused
}

// Clear removes the live line.
func (l *LiveLine) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line != "" {
		_, _ = io.WriteString(l.out, clearLine)
		l.line = ""
	}
}

// Stop removes the live line for good.
func (l *LiveLine) Stop() { l.Hold() }

// Hold hides the live line until the returned function is called, because the user is typing in its place.
func (l *LiveLine) Hold() (release func()) {
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

// Pause holds back output until the returned function is called, because something else uses the last lines of the
// terminal.
func (l *LiveLine) Pause() (resume func()) {
	l.Clear()
	l.mu.Lock()
	l.paused = true
	l.mu.Unlock()
	l.Flush(context.Background()) // earlier output stays above it
	return l.resume
}

// resume writes the output that was held back.
func (l *LiveLine) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = false
	if len(l.kept) > 0 {
		_, _ = l.out.Write(l.kept)
		l.kept = nil
	}
}

// Mute drops output until the returned function is called, because something else uses the terminal.
func (l *LiveLine) Mute() (unmute func()) {
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
