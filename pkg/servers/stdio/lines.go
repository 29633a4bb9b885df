package stdio

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// takeFinding reports a line that is not one message, and fails a request whose answer is lost with it.
func (t *Transport) takeFinding(f wire.Finding) {
	if !f.Class.Harmless() && f.Salvaged == 0 {
		t.printed.noteLine(string(f.Text[:min(len(f.Text), lineBytes)]))
		t.printed.note(f.Text)
	}
	t.Bus.Emit(f.Event(t.Server, t.Phase(), t.Process.Started))
	switch {
	case f.Class == wire.ClassTooLong && wire.BeginsMessage(f.Text):
		t.failLost(f, diagnose.TooLarge(fmt.Sprintf("line %d", f.Number), t.max))
	case f.Class == wire.ClassBroken && f.End != wire.EndEOF:
		// At the end of stdout, the server's exit says more than half a message does.
		t.failLost(f, fmt.Errorf("line %d is not JSON: %w", f.Number, f.Syntax))
	}
}

// takeOwnMessage takes a message and keeps what is not an answer: some servers log by notifications of their own.
func (t *Transport) takeOwnMessage(m wire.Message, number int) {
	if m.Kind() != wire.KindReply {
		t.printed.note(m.Raw)
	}
	t.TakeMessage(m, number)
}

// requestHead matches the beginning of a request, without blanks.
var requestHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{"jsonrpc":"2\.0",(?:"id":[^,]*,)?"method":`)
})

// failLost fails the request whose answer was cut off or over the limit, since no other answer will come. The id is
// looked for near the line's beginning and end; where it is not there and only one request waits, that request is
// failed.
func (t *Transport) failLost(f wire.Finding, reason error) {
	head := strings.ReplaceAll(string(f.Text), " ", "")
	if f.Class == wire.ClassBroken && requestHead().MatchString(head) {
		return // it is no answer: a prompt on the terminal draws again what it reads
	}
	t.Lose(reason, func(id int64) bool {
		mark := fmt.Sprintf(`"id":%d`, id)
		return strings.Contains(head, mark+",") || strings.Contains(string(f.Tail), mark+"}")
	})
}

// The bounds on what is kept of stdout: bytes of a line, and how many lines, for a person and for finding the cause.
const (
	lineBytes    = 200
	firstLines   = 5
	printedBytes = 4096
	printedLines = 200
)

// otherOutput keeps what a server wrote to stdout besides answers.
type otherOutput struct {
	mu     sync.Mutex
	first  []string // the first lines that are not messages
	last   []string // the last ones
	number int      // how many there were
	// said are the first lines that may say why the server fails: other lines, and its notifications.
	said []string
}

// note keeps a line for finding the cause of a failure.
func (p *otherOutput) note(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) < printedLines {
		p.said = append(p.said, string(text[:min(len(text), printedBytes)]))
	}
}

// noteLine keeps a line that is not a message.
func (p *otherOutput) noteLine(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	if len(p.first) < firstLines {
		p.first = append(p.first, text)
	}
	p.last = append(p.last, text)
	if len(p.last) > failureLines {
		p.last = slices.Delete(p.last, 0, 1)
	}
}

// lines returns how many lines were not messages.
func (p *otherOutput) lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}

// since returns the last of the lines that were not messages, without the first n.
func (p *otherOutput) since(n int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(diagnose.LastOf(p.last, p.number-n))
}
