package pane

// List is a cursor in a list of rows, and the visible part of the list. The zero value is on the first
// row. Where rows only scroll, the cursor is not used.
type List struct {
	Cursor int
	// Span is how many rows belong to the cursor and are scrolled into view with it; 0 counts as 1.
	Span   int
	top    int
	height int // of the last Window
	rows   int // of the list, at the last Window
	// loose reports whether the list was scrolled and may not show the cursor.
	loose bool
}

// Move moves the cursor by rows, within a list of n, and scrolls it into view.
func (l *List) Move(by, n int) {
	l.loose = false
	l.Set(l.Cursor+by, n)
}

// Set moves the cursor to a row, within a list of n, and scrolls it into view if it moved.
func (l *List) Set(row, n int) {
	before := l.Cursor
	l.Cursor = max(0, min(row, n-1))
	l.loose = l.loose && l.Cursor == before
}

// Drop forgets rows at the beginning of a list, which has n rows left.
func (l *List) Drop(rows, n int) {
	l.top -= rows
	l.Set(l.Cursor-rows, n)
}

// Scroll scrolls by rows, as a wheel does; the cursor stays where it is.
func (l *List) Scroll(by int) { l.top, l.loose = max(0, l.top+by), true }

// ScrollKeys returns the keys that scroll; further are keys for a page down besides the usual ones.
func (l *List) ScrollKeys(further ...string) []Binding { return Moves(l.Scroll, l.Page(), further...) }

// Page returns how many rows a page key moves: one row of the last page stays visible.
func (l *List) Page() int { return max(1, l.height-1) }

// Window returns the visible part of a list of n rows at a height: from is its first row, to the one
// after its last. It contains the cursor unless the list was scrolled away from it.
func (l *List) Window(n, height int) (from, to int) {
	height = max(1, height)
	l.height, l.rows = height, n
	l.Set(l.Cursor, n)
	l.top = max(0, min(l.top, n-height))
	if !l.loose {
		l.top = min(max(l.top, l.Cursor+max(1, l.Span)-height), l.Cursor)
	}
	return l.top, min(n, l.top+height)
}

// Visible returns the lines of the Window.
func (l *List) Visible(lines []string, height int) []string {
	from, to := l.Window(len(lines), height)
	return lines[from:to:to]
}

// Extent returns the visible part, as of the last Window.
func (l *List) Extent() Extent { return Extent{l.top, l.height, l.rows} }

// Top returns the first visible row of the last Window.
func (l *List) Top() int { return l.top }

// Height returns the number of rows that the last Window had room for.
func (l *List) Height() int { return l.height }
