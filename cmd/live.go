package cmd

import (
	"io"
	"sync"

	"toolx/pkg/console"
)

// liveLine is stderr with one line at its bottom that is drawn over: the progress
// of a call. Whatever else is written to stderr goes through it, so that the line
// moves out of the way. Where stderr is no terminal the line is never drawn.
type liveLine struct {
	mu     sync.Mutex
	out    io.Writer
	moves  bool
	line   string
	frozen bool
	held   int // how many keep the line away for a while
}

func newLiveLine(c *console.Console) *liveLine {
	return &liveLine{out: c.Err, moves: c.Motion}
}

// clearLine returns to the line's beginning and clears it.
const clearLine = "\r\x1b[K"

// Write writes whole lines above the live one.
func (l *liveLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line == "" {
		return l.out.Write(p)
	}
	_, _ = io.WriteString(l.out, clearLine)
	n, err := l.out.Write(p)
	_, _ = io.WriteString(l.out, l.line)
	return n, err
}

// Show replaces the live line. It must be safe for a terminal and fit its width.
func (l *liveLine) Show(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.moves || l.frozen || l.held > 0 {
		return
	}
	l.line = line
	_, _ = io.WriteString(l.out, clearLine+line)
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
func (l *liveLine) Stop() {
	l.Clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = true
}

// Hold keeps the live line away until the returned function is called: a person is
// typing where it would be drawn.
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

// Mute drops what is written until the returned function is called: something else
// has the terminal.
func (l *liveLine) Mute() (unmute func()) {
	l.Clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.out
	l.out = io.Discard
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out = out
	}
}
