package servers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds on what is kept of a server's stderr.
const (
	stderrTailLines = 200
	stderrLineBytes = 4096
	stderrFileBytes = 16 << 20
	stderrFiles     = 20 // per server
)

// stderrLog keeps a server's stderr: the last lines in memory, everything (to a
// limit) in a file that is made with the first byte (MCP-2).
type stderrLog struct {
	onLine func(string)
	open   func() (*os.File, error) // nil: no file

	mu      sync.Mutex
	partial []byte
	tail    []string
	lines   int
	file    *os.File
	fileErr error
	written int64
}

// read takes all of r, to its end.
func (l *stderrLog) read(r io.Reader) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		l.take(chunk[:n])
		if err != nil {
			l.finish()
			return
		}
	}
}

func (l *stderrLog) take(chunk []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.save(chunk)
	for len(chunk) > 0 {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			l.grow(chunk)
			return
		}
		l.grow(chunk[:i])
		l.endLine()
		chunk = chunk[i+1:]
	}
}

// grow appends to the unfinished line, of which only a limited part is kept.
func (l *stderrLog) grow(part []byte) {
	room := max(0, stderrLineBytes-len(l.partial))
	l.partial = append(l.partial, part[:min(room, len(part))]...)
}

func (l *stderrLog) endLine() {
	text := strings.TrimSuffix(string(l.partial), "\r")
	l.partial = l.partial[:0]
	l.lines++
	if len(l.tail) == stderrTailLines {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	l.tail = append(l.tail, text)
	l.onLine(text)
}

func (l *stderrLog) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.endLine()
	}
	if l.file != nil {
		_ = l.file.Close()
	}
}

// save appends to the file. A file that cannot be written costs the log, never
// the session.
func (l *stderrLog) save(chunk []byte) {
	if l.open == nil || l.fileErr != nil || l.written >= stderrFileBytes || len(chunk) == 0 {
		return
	}
	if l.file == nil {
		if l.file, l.fileErr = l.open(); l.fileErr != nil {
			return
		}
	}
	n, err := l.file.Write(chunk)
	l.fileErr = err
	if l.written += int64(n); l.written >= stderrFileBytes {
		fmt.Fprintf(l.file, "\n[toolx stopped recording after %d bytes]\n", l.written)
	}
}

// last returns the last n lines, how many there were in all, and where the whole
// log is; path is empty where there is no file.
func (l *stderrLog) last(n int) (lines []string, total int, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines = slices.Clone(l.tail)
	total = l.lines
	if len(l.partial) > 0 {
		lines = append(lines, string(l.partial))
		total++
	}
	if l.file != nil {
		path = l.file.Name()
	}
	return lines[max(0, len(lines)-n):], total, path
}

// stderrFile makes the log file of one run of a server in dir, readable by the
// user alone, and removes the oldest ones of that server.
func stderrFile(dir, server string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	base := fileName(server)
	old, _ := filepath.Glob(filepath.Join(dir, base+".*.log"))
	slices.Sort(old) // the names begin with the time
	for _, path := range old[:max(0, len(old)-stderrFiles+1)] {
		_ = os.Remove(path)
	}
	name := fmt.Sprintf("%s.%s.%d.log", base, time.Now().UTC().Format("20060102T150405.000"), os.Getpid())
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// fileName makes a server's name fit for a file: a name can hold anything.
func fileName(server string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, server)
}
