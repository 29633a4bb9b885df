package watch

import (
	"fmt"
	"time"

	"toolx/pkg/exec"
)

// The bounds of what is kept. A subject is one tab of one server, or of all servers together; both hold the same rows.
const (
	maxRows   = 10_000
	maxBytes  = 16 << 20
	maxText   = 64 << 10 // bytes of one frame or line
	rowWeight = 200      // approximate bytes that a row takes besides its text
)

// entry is a row that is kept.
type entry interface {
	// subject returns the server of the row, or empty.
	subject() string
	// when returns the time of the row.
	when() time.Time
	// weight returns the row's size in memory, in bytes; it never changes.
	weight() int
	// contains reports whether its text contains a text, which is in lower case.
	contains(lower string) bool
}

// line is what most rows hold.
type line struct {
	at     time.Time
	server string
	text   string // at most maxText bytes of size
	size   int
}

func newLine(at time.Time, server, text string) line {
	return line{at, server, cutText(text, maxText), len(text)}
}

func (l *line) subject() string            { return l.server }
func (l *line) when() time.Time            { return l.at }
func (l *line) weight() int                { return rowWeight + len(l.text) }
func (l *line) contains(lower string) bool { return holds(l.text, lower) }

// cutSize returns the size of the whole text for the end of a row; empty if nothing was cut.
func (l *line) cutSize() string {
	if l.size <= len(l.text) {
		return ""
	}
	return exec.Bytes(int64(l.size))
}

// cutNote returns how much of the text was kept; empty if nothing was cut.
func (l *line) cutNote() string {
	if l.size <= len(l.text) {
		return ""
	}
	return fmt.Sprintf(", the first %s of %s", exec.Bytes(int64(len(l.text))), exec.Bytes(int64(l.size)))
}

// ring keeps the newest rows within the bounds. Each row has a number, counted from 0, that it keeps
// when older rows are dropped. The zero value is empty.
type ring[T entry] struct {
	slots []T
	start int // the slot of the oldest row
	count int
	first int // the number of the oldest row: as many were dropped
	bytes int
}

// end returns the number of the next row.
func (r *ring[T]) end() int { return r.first + r.count }

// at returns the row with a number from first up to end.
func (r *ring[T]) at(number int) T {
	return r.slots[(r.start+number-r.first)%len(r.slots)]
}

// push adds a row and drops old ones beyond the bounds.
func (r *ring[T]) push(row T) {
	for r.count > 0 && (r.count >= maxRows || r.bytes+row.weight() > maxBytes) {
		r.drop()
	}
	if r.count == len(r.slots) {
		r.grow()
	}
	r.slots[(r.start+r.count)%len(r.slots)] = row
	r.count++
	r.bytes += row.weight()
}

func (r *ring[T]) drop() {
	var none T
	r.bytes -= r.slots[r.start].weight()
	r.slots[r.start] = none // for the garbage collector
	r.start = (r.start + 1) % len(r.slots)
	r.first++
	r.count--
}

func (r *ring[T]) grow() {
	slots := make([]T, min(maxRows, max(64, 2*len(r.slots))))
	for i := range r.count {
		slots[i] = r.at(r.first + i)
	}
	r.slots, r.start = slots, 0
}

// journal keeps the rows of every server separately, so that a busy server displaces no other's rows,
// and the rows of all servers together.
type journal[T entry] struct {
	all      ring[T]
	byServer map[string]*ring[T]
	none     ring[T] // of servers without rows
}

func (j *journal[T]) add(row T) {
	if j.byServer == nil {
		j.byServer = make(map[string]*ring[T])
	}
	server := row.subject()
	if j.byServer[server] == nil {
		j.byServer[server] = &ring[T]{}
	}
	j.byServer[server].push(row)
	j.all.push(row)
}

// of returns the rows of one server.
func (j *journal[T]) of(server string) *ring[T] {
	if r := j.byServer[server]; r != nil {
		return r
	}
	return &j.none
}
