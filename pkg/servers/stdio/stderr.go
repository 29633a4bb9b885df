package stdio

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/asyncwriter"
	"toolx/pkg/servers/wire"
	"toolx/pkg/state"
)

// The bounds on what is kept of a server's stderr.
const (
	stderrTailLines = 200
	stderrLineBytes = 4096
	stderrFileBytes = 16 << 20
	stderrFiles     = 20 // per server
)

// stderrLog keeps a server's stderr: the last lines in memory, everything (to a limit) in a file that is made with the
// first byte (MCP-2). Only memory is waited for: the file is written from a goroutine of its own.
type stderrLog struct {
	onLine func(string)
	file   *logFile // nil: none

	mu     sync.Mutex // guards what follows
	framer wire.Framer
	tail   []string
	lines  int
}

// newStderrLog keeps the file of a server in dir; an empty dir means that there is none.
func newStderrLog(dir, server string, onLine func(string)) *stderrLog {
	l := &stderrLog{onLine: onLine}
	l.framer = wire.Framer{Max: stderrLineBytes, Emit: l.line}
	if dir != "" {
		l.file = &logFile{dir: dir, server: server}
		// The queue is never longer than the file may be.
		l.file.queue = asyncwriter.New(l.file, math.MaxInt, nil)
	}
	return l
}

// read takes all of r, to its end.
func (l *stderrLog) read(r io.Reader) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		if l.file != nil {
			l.file.save(chunk[:n])
		}
		l.mu.Lock()
		l.framer.Feed(chunk[:n])
		l.mu.Unlock()
		if err != nil {
			l.finish()
			return
		}
	}
}

// line keeps a line, and of a long one the beginning, with a mark.
func (l *stderrLog) line(read wire.Line) {
	text := strings.TrimSuffix(string(read.Bytes[:min(len(read.Bytes), stderrLineBytes)]), "\r")
	if read.End == wire.EndTooLong {
		text += "…"
	}
	l.lines++
	if len(l.tail) == stderrTailLines {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	l.tail = append(l.tail, text)
	l.onLine(text)
}

// pending returns what has been read of a line that has not ended.
func (l *stderrLog) pending() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.framer.Pending())
}

func (l *stderrLog) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.framer.Flush(wire.EndEOF)
}

// close waits until the file has everything, or ctx ends, and closes it. read has returned before.
func (l *stderrLog) close(ctx context.Context) {
	if l.file == nil {
		return
	}
	_ = l.file.queue.Flush(ctx)
	if ctx.Err() == nil { // else it is being written
		l.file.close()
	}
}

// last returns the last n lines, how many there were in all, and where the whole
// log is; path is empty where there is no file.
func (l *stderrLog) last(n int) (lines []string, total int, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines = slices.Clone(l.tail)
	total = l.lines
	if pending := l.framer.Pending(); len(pending) > 0 {
		lines = append(lines, string(pending))
		total++
	}
	if l.file != nil {
		path = l.file.path()
	}
	return lines[max(0, len(lines)-n):], total, path
}

// logFile is the file of a stderrLog, readable by the user alone. A file that cannot be
// written costs the log, never the session.
type logFile struct {
	dir, server string
	queue       *asyncwriter.Writer // to this file
	saved       int64               // bytes that were queued

	mu   sync.Mutex
	name string // of the file, decided with the first byte; empty before, and where it cannot be made
	file *os.File
}

// save queues a chunk as far as the limit lets it.
func (f *logFile) save(chunk []byte) {
	if f.saved >= stderrFileBytes || len(chunk) == 0 {
		return
	}
	if f.saved == 0 {
		f.setName(filepath.Join(f.dir, fmt.Sprintf("%s.%s.%d.log", fileName(f.server),
			time.Now().UTC().Format("20060102T150405.000"), os.Getpid())))
	}
	_, _ = f.queue.Write(chunk)
	if f.saved += int64(len(chunk)); f.saved >= stderrFileBytes {
		fmt.Fprintf(f.queue, "\n[toolx stopped recording after %d bytes]\n", f.saved)
	}
}

// Write makes the file with the first chunk and appends to it. It is called on the goroutine of the queue.
func (f *logFile) Write(chunk []byte) (int, error) {
	if f.file == nil {
		if err := f.open(); err != nil {
			f.setName("")
			return 0, err
		}
	}
	return f.file.Write(chunk)
}

// open makes the file, and removes the oldest ones of the server.
func (f *logFile) open() (err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(f.dir, fileName(f.server)+".*.log"))
	slices.Sort(old) // the names begin with the time
	for _, path := range old[:max(0, len(old)-stderrFiles+1)] {
		_ = os.Remove(path)
	}
	f.file, err = state.Append(f.path())
	return err
}

// close closes the file; nothing is written to it then.
func (f *logFile) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

func (f *logFile) path() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

func (f *logFile) setName(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.name = name
}

// fileName makes a server's name fit for a file: a name can contain anything.
func fileName(server string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, server)
}
