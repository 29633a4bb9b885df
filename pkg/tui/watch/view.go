package watch

import (
	"sort"
	"time"

	"toolx/pkg/tui/pane"
)

// choice selects the rows to show: those that contain a text, given in lower case, and are in a span of time. A zero
// field selects every row.
type choice struct {
	text     string
	from, to time.Time
}

// lets reports whether a row is shown.
func (c choice) lets(row entry) bool {
	at := row.when()
	return !at.Before(c.from) && (c.to.IsZero() || !at.After(c.to)) && (c.text == "" || row.contains(c.text))
}

// view is the visible part of a ring: the rows that match the filter, a cursor, and a window. New rows
// are filtered once; all rows are only filtered again when the ring or the filter changes.
type view[T entry] struct {
	ring   *ring[T]
	filter choice

	hits []int // numbers of the rows that match the filter, if there is one
	lost int   // hits that were dropped
	seen int   // the number of the first row that was not filtered yet

	list    pane.List // of the rows that match and are not dropped
	dropped int       // how many of those that match were dropped when list was moved last
	stopped bool      // the cursor does not follow the newest row
}

// show sets the ring and the filter. The cursor stays on its row if that is still visible.
func (v *view[T]) show(r *ring[T], filter choice) {
	if r == v.ring && filter == v.filter {
		v.count()
		return
	}
	number := r.end()
	if r == v.ring && v.count() > 0 {
		number = v.number(v.list.Cursor)
	}
	*v = view[T]{ring: r, filter: filter, seen: r.first, stopped: v.stopped && r == v.ring}
	n := v.count()
	if filter == (choice{}) {
		v.list.Set(number-r.first, n)
	} else {
		v.list.Set(sort.SearchInts(v.hits, number), n)
	}
}

// count filters new rows, forgets dropped ones, and returns how many match.
func (v *view[T]) count() int {
	if v.ring == nil {
		return 0
	}
	n, dropped := v.ring.count, v.ring.first
	if v.filter != (choice{}) {
		for number := max(v.seen, v.ring.first); number < v.ring.end(); number++ {
			if v.filter.lets(v.ring.at(number)) {
				v.hits = append(v.hits, number)
			}
		}
		v.seen = v.ring.end()
		gone := sort.SearchInts(v.hits, v.ring.first)
		v.hits = v.hits[gone:]
		v.lost += gone
		n, dropped = len(v.hits), v.lost
	}
	v.list.Drop(dropped-v.dropped, n)
	v.dropped = dropped
	return n
}

// number returns the number of the row at a place.
func (v *view[T]) number(place int) int {
	if v.filter == (choice{}) {
		return v.ring.first + place
	}
	return v.hits[place]
}

func (v *view[T]) row(place int) T { return v.ring.at(v.number(place)) }

// current returns the row under the cursor as it was drawn last, whatever arrived since; ok is false if there is none.
func (v *view[T]) current() (row T, ok bool) {
	if v.count() == 0 {
		return row, false
	}
	return v.row(v.list.Cursor), true
}

// window returns the visible part at a height. It contains the cursor, which is on the newest row if the view follows.
func (v *view[T]) window(height int) (from, to int) {
	n := v.count()
	if !v.stopped {
		v.list.Move(n, n)
	}
	return v.list.Window(n, height)
}

// move moves the cursor by rows; on the newest row it follows again.
func (v *view[T]) move(by int) {
	n := v.count()
	v.list.Move(by, n)
	v.stopped = v.list.Cursor < n-1
}

// scroll scrolls by rows at a height, as a wheel does. The cursor stays on its row as long as that is
// visible; at the end the view follows again.
func (v *view[T]) scroll(by, height int) {
	v.window(height)
	n := v.count()
	if by == 0 || n <= height {
		return // all rows are visible
	}
	v.list.Scroll(by)
	from, to := v.list.Window(n, height)
	v.list.Move(max(from, min(v.list.Cursor, to-1))-v.list.Cursor, n)
	v.stopped = by < 0 || to < n
}
