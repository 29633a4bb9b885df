package fake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// process is the process of a server: its streams and its end.
type process struct {
	exit  chan int   // takes the code that Main returns
	outMu sync.Mutex // keeps frames whole
}

// finish lets Main return code; the first one counts.
func (p *process) finish(code int) {
	select {
	case p.exit <- code:
	default:
	}
}

// die ends the process here: unlike finish it never returns.
func (p *process) die(code int) {
	p.finish(code)
	select {}
}

// notify sends a notification, unspoilt. params is raw JSON; empty means none.
func (p *process) notify(method, params string) { p.write(notification(method, params)) }

func notification(method, params string) []byte {
	if params != "" {
		params = `,"params":` + params
	}
	return []byte(`{"jsonrpc":"2.0","method":` + quote(method) + params + "}\n")
}

// write puts bytes on stdout in one piece. A server without a reader exits.
func (p *process) write(data []byte) {
	p.outMu.Lock()
	_, err := os.Stdout.Write(data)
	p.outMu.Unlock()
	if err != nil && !errors.Is(err, os.ErrClosed) {
		p.die(1)
	}
}

// say prints a line on stderr and ignores errors.
func (p *process) say(line string) { _, _ = io.WriteString(os.Stderr, line+"\n") }

func (p *process) writeStderr(text string) { _, _ = os.Stderr.WriteString(text) }

// fill writes n bytes without a newline.
func (p *process) fill(n int) {
	chunk := bytes.Repeat([]byte(filler), 1024)
	for n > 0 {
		part := chunk[:min(n, len(chunk))]
		p.write(part)
		n -= len(part)
	}
}

// floodOf writes a text many times, in pieces of some size.
func (p *process) floodOf(count int, text string) {
	const piece = 1000
	chunk := strings.Repeat(text, piece)
	for ; count > 0; count -= piece {
		p.write([]byte(chunk[:min(count, piece)*len(text)]))
	}
}

// flood writes numbered lines in pieces of some size, as a busy logger would.
func (p *process) flood(lines int, write func([]byte)) {
	var out bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&out, "flood line %d of %d\n", i+1, lines)
		if out.Len() > 32<<10 {
			write(out.Bytes())
			out.Reset()
		}
	}
	write(out.Bytes())
}

// hold waits; the watchdog bounds it.
func (p *process) hold(d time.Duration) { <-time.After(d) }
