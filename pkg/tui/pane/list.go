package pane

// List is a cursor in a list of rows, and the visible part of the list. The zero value is on the first
// row.
type List struct {
	Cursor int
	top    int
	// loose says that the list was scrolled and may not show the cursor.
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

// Scroll scrolls by rows, as a wheel does; the cursor stays where it is.
func (l *List) Scroll(by int) { l.top, l.loose = max(0, l.top+by), true }

// Window returns the visible part of a list of n rows at a height: from is its first row, to the one
// after its last. It contains the cursor unless the list was scrolled away from it.
func (l *List) Window(n, height int) (from, to int) {
	height = max(1, height)
	l.Set(l.Cursor, n)
	l.top = max(0, min(l.top, n-height))
	if l.Cursor < l.top && !l.loose {
		l.top = l.Cursor
	}
	if l.Cursor >= l.top+height && !l.loose {
		l.top = l.Cursor - height + 1
	}
	return l.top, min(n, l.top+height)
}

// Top returns the first visible row of the last Window.
func (l *List) Top() int { return l.top }
