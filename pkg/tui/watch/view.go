package watch

import "sort"

// view is the visible part of a ring: the rows that match the filter, a cursor, and a window. New rows
// are filtered once; all rows are only filtered again when the ring or the filter changes.
//
// Positions count the rows that match the filter, including those dropped since, so that a position
// stays the same while old rows are dropped.
type view[T entry] struct {
	ring   *ring[T]
	filter string // in lower case; empty lets everything through

	hits []int // numbers of the rows that the filter lets through, where there is one
	lost int   // hits that were dropped
	seen int   // the number of the first row that was not looked at yet

	cursor, top int
	stopped     bool // the cursor does not follow the newest row
}

// show sets the ring and the filter. The cursor stays on its row if that is still visible.
func (v *view[T]) show(r *ring[T], filter string) {
	if r == v.ring && filter == v.filter {
		v.catchUp()
		return
	}
	number := r.end()
	if first, end := v.bounds(); r == v.ring && v.cursor >= first && v.cursor < end {
		number = v.number(v.cursor)
	}
	if r != v.ring {
		v.stopped = false
	}
	v.ring, v.filter = r, filter
	v.hits, v.lost, v.seen, v.top = nil, 0, r.first, 0
	v.catchUp()
	v.cursor = v.positionOf(number)
}

// catchUp filters new rows, and forgets dropped ones.
func (v *view[T]) catchUp() {
	if v.filter == "" {
		return
	}
	for number := max(v.seen, v.ring.first); number < v.ring.end(); number++ {
		if v.ring.at(number).contains(v.filter) {
			v.hits = append(v.hits, number)
		}
	}
	v.seen = v.ring.end()
	gone := sort.SearchInts(v.hits, v.ring.first)
	v.hits = v.hits[gone:]
	v.lost += gone
}

// bounds returns the position of the oldest row and the one after the newest.
func (v *view[T]) bounds() (first, end int) {
	switch {
	case v.ring == nil:
		return 0, 0
	case v.filter == "":
		return v.ring.first, v.ring.end()
	}
	return v.lost, v.lost + len(v.hits)
}

// number returns the number of the row at a position.
func (v *view[T]) number(position int) int {
	if v.filter == "" {
		return position
	}
	return v.hits[position-v.lost]
}

// positionOf returns the position of a row, or of the next visible one.
func (v *view[T]) positionOf(number int) int {
	if v.filter == "" {
		return number
	}
	return v.lost + sort.SearchInts(v.hits, number)
}

func (v *view[T]) row(position int) T { return v.ring.at(v.number(position)) }

// current returns the row under the cursor as it was drawn last, whatever arrived since; ok is false
// if there is none.
func (v *view[T]) current() (row T, ok bool) {
	v.clamp()
	first, end := v.bounds()
	if first == end {
		return row, false
	}
	return v.row(v.cursor), true
}

// clamp moves the cursor to a row that still exists.
func (v *view[T]) clamp() {
	first, end := v.bounds()
	v.cursor = max(first, min(v.cursor, end-1))
}

// window returns the visible part at a height. It contains the cursor, which is on the newest row if
// the view follows.
func (v *view[T]) window(height int) (from, to int) {
	height = max(1, height)
	first, end := v.bounds()
	if !v.stopped {
		v.cursor = end - 1
	}
	v.clamp()
	v.top = max(first, min(v.top, end-height))
	if v.cursor < v.top {
		v.top = v.cursor
	}
	if v.cursor >= v.top+height {
		v.top = v.cursor - height + 1
	}
	return v.top, min(end, v.top+height)
}

// move moves the cursor by rows; on the newest row it follows again.
func (v *view[T]) move(by int) {
	v.clamp()
	v.set(v.cursor + by)
}

// scroll scrolls by rows at a height, as a wheel does. The cursor stays on its row as long as that is
// visible; at the end the view follows again.
func (v *view[T]) scroll(by, height int) {
	from, _ := v.window(height)
	first, end := v.bounds()
	last := max(first, end-height)
	if by == 0 || last == first {
		return // all of it is seen
	}
	v.top = max(first, min(from+by, last))
	if by > 0 && v.top == last {
		v.stopped = false
		return
	}
	v.cursor, v.stopped = max(v.top, min(v.cursor, v.top+height-1)), true
	v.clamp()
}

// set moves the cursor to a position.
func (v *view[T]) set(position int) {
	first, end := v.bounds()
	v.cursor = max(first, min(position, end-1))
	v.stopped = v.cursor < end-1
}
