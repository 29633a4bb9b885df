package timeline

import (
	"math"
	"slices"
	"sort"
	"time"

	"toolx/pkg/tui/pane"
)

// stream is a kind of rows that is kept within bounds of its own.
type stream uint

const (
	streamWire   stream = 1 << iota // frames, and other lines of stdout
	streamStderr                    //
	streamLog                       // log messages and notifications, which are frames too
	streamNotes                     // about processes and sessions, and toolx's notices
	streamCalls
)

// filter is the number of a filter, which selects rows by their kind.
type filter int

const (
	filterAll filter = iota
	filterWire
	filterStderr
	filterLog
	filterCalls
)

func filterNames() []string { return []string{"all", "wire", "stderr", "log", "calls"} }

const showsMessages = streamWire | streamStderr | streamLog | streamNotes

// shows returns the streams that a filter shows.
func (f filter) shows() stream {
	return [...]stream{
		showsMessages, streamWire | streamLog | streamNotes, streamStderr | streamNotes, streamLog | streamNotes,
		streamCalls,
	}[f]
}

// choice selects the rows to show. A zero field besides shows selects every row.
type choice struct {
	shows    stream
	server   string // unless all are shown
	all      bool
	tool     string // of calls
	from, to time.Time
	text     string // in lower case
}

// late is how long after a call's end rows count as its own: stderr is read separately from stdout.
const late = 50 * time.Millisecond

// during limits the rows to those of a call; all are shown if there is none.
func (c *choice) during(s *Subject) {
	if c.from, c.to = s.From, s.To; !c.to.IsZero() {
		c.to = c.to.Add(late)
	}
}

// looksAt reports whether a ring may have rows that are shown. toolx's notices without a server are shown with those of
// each server.
func (c choice) looksAt(of shelf) bool {
	return of.stream&c.shows != 0 && (c.all || of.server == c.server || of.server == "")
}

// lets reports whether a row of such a ring is shown.
func (c choice) lets(r *row) bool {
	if r.call != nil && (!c.all && r.server != c.server || c.tool != "" && r.call.Tool != c.tool) {
		return false
	}
	return !r.at.Before(c.from) && (c.to.IsZero() || !r.at.After(c.to)) && (c.text == "" || r.contains(c.text))
}

// view is the visible part of the rows: those that match the choice, a cursor, and a window. New rows are looked at
// once; all rows are only looked at again when the choice changes.
type view struct {
	choice  choice
	hits    []*row // that match, and were not dropped
	seen    int    // the number of the first row that was not looked at yet
	drops   int    // of the store, when dropped rows were removed last
	begun   bool
	list    pane.List
	stopped bool // the cursor does not follow the newest row
}

// show updates the rows, and sets the choice. The cursor stays on its row if that is still visible. It follows the
// newest row again if the choice is about something else.
func (v *view) show(s *store, c choice) {
	if c == v.choice && v.begun {
		v.update(s)
		return
	}
	number, same := math.MaxInt, c
	same.text, same.to = v.choice.text, v.choice.to
	if r := v.current(); r != nil && same == v.choice {
		number = r.number
	}
	*v = view{choice: c, begun: true, seen: math.MinInt, drops: s.drops, stopped: v.stopped && same == v.choice}
	v.update(s)
	at := sort.Search(len(v.hits), func(i int) bool { return v.hits[i].number >= number })
	v.list.Set(at, len(v.hits))
}

// update removes dropped rows, and adds new ones.
func (v *view) update(s *store) {
	if v.drops != s.drops {
		v.drops = s.drops
		above, gone := v.hits[:min(v.list.Cursor, len(v.hits))], 0
		for _, r := range above {
			if r.gone {
				gone++
			}
		}
		v.hits = slices.DeleteFunc(v.hits, func(r *row) bool { return r.gone })
		v.list.Drop(gone, len(v.hits))
	}
	if v.seen != s.next {
		v.hits = append(v.hits, s.since(v.seen, v.choice)...)
		v.seen = s.next
	}
}

// current returns the row under the cursor as it was drawn last, whatever arrived since; nil if there is none.
func (v *view) current() *row {
	if len(v.hits) == 0 {
		return nil
	}
	return v.hits[v.list.Cursor]
}

// window returns the visible part at a height. It contains the cursor, which is on the newest row if the view follows.
func (v *view) window(height int) (from, to int) {
	n := len(v.hits)
	if !v.stopped {
		v.list.Move(n, n)
	}
	return v.list.Window(n, height)
}

// move moves the cursor by rows; on the newest row it follows again.
func (v *view) move(by int) {
	n := len(v.hits)
	v.list.Move(by, n)
	v.stopped = v.list.Cursor < n-1
}

// scroll scrolls by rows at a height, as a wheel does. The cursor stays on its row as long as that is
// visible; at the end the view follows again.
func (v *view) scroll(by, height int) {
	v.window(height)
	n := len(v.hits)
	if by == 0 || n <= height {
		return // all rows are visible
	}
	v.list.Scroll(by)
	from, to := v.list.Window(n, height)
	v.list.Move(max(from, min(v.list.Cursor, to-1))-v.list.Cursor, n)
	v.stopped = by < 0 || to < n
}
