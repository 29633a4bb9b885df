package tui

// rect is a part of the screen, in cells.
type rect struct{ x, y, w, h int }

// empty reports whether a pane has no space on the screen.
func (r rect) empty() bool { return r.w <= 0 || r.h <= 0 }

func (r rect) contains(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// area names a pane.
type area int

// The panes, in the order of tab.
const (
	areaTree area = iota
	areaPage
	areaResult
	areaTimeline
	areas
)

// The sizes at which the layout changes, in cells.
const (
	minWidth    = 40
	minHeight   = 12
	mediumWidth = 80
	wideWidth   = 150
	// roomyWidth is the minimum width for panes to have a left margin.
	roomyWidth = 110
)

// The sizes of panes, with their borders.
const (
	leastWidth  = 20
	leastHeight = 3
	leastResult = 4
	leastTree   = 24
	mostTree    = 40
)

// arrangement is what the layout depends on besides the size. Rows are those within borders.
type arrangement struct {
	focus    area
	zoomed   bool // the pane with focus has the whole screen
	result   bool // there is a result to show
	recorded bool // the timeline matters most
	watch    bool // the user wants to see the timeline
	names    int  // how many columns the tree can use
	form     int  // how many rows the page can use; 0 if unknown
	timeline int  // how many rows the timeline can use
	grown    sizes
}

// sizes are how many cells each pane is larger than its default size: the tree in width, the result in height, the
// timeline in whichever differs. The page gets the rest.
type sizes [areas]int

// layout is the position of each pane, with its border. A pane of one row is folded: only its title is visible. The
// last line is the status line. A narrow screen shows one pane at a time, below a line of tabs.
type layout struct {
	tabs   rect
	panes  [areas]rect
	margin int // within the border of panes, at their left
	status rect
	grown  sizes // as far as there was room
}

// size returns the size of a pane with a default of size cells, between least and most.
func (l *layout) size(a area, size, least, most int) int {
	got := max(least, min(size+l.grown[a], most))
	l.grown[a] = got - size
	return got
}

// inside returns the rectangle of a pane's content, within its border and its margin.
func (l *layout) inside(a area) rect {
	r := l.panes[a]
	return rect{r.x + 1 + l.margin, r.y + 1, r.w - 2 - l.margin, r.h - 2}
}

// arrange lays the panes out. They fill the screen.
func arrange(width, height int, a arrangement) layout {
	l := layout{status: rect{0, height - 1, width, 1}, grown: a.grown}
	body := rect{0, 0, width, height - 1}
	if width >= roomyWidth {
		l.margin = 1
	}
	if width < mediumWidth || a.zoomed {
		l.tabs, l.panes[a.focus] = body.cutTop(1)
		return l
	}
	names := max(leastTree, min(a.names+2+l.margin, mostTree+l.margin))
	tree, right := body.cutLeft(l.size(areaTree, names, leastWidth, body.w-2*leastWidth))
	l.panes[areaTree] = tree
	switch {
	case !a.watch:
	case width < wideWidth || a.recorded:
		right, l.panes[areaTimeline] = right.cutTop(right.h - l.timeline(body.h, a))
	default:
		column := l.size(areaTimeline, right.w*45/100, leastWidth, right.w-leastWidth)
		right, l.panes[areaTimeline] = right.cutLeft(right.w - column)
	}
	l.stack(right, a)
	return l
}

// timeline returns the height of the timeline below the others: that of its content, up to its share, which is larger
// while it has the focus.
func (l *layout) timeline(height int, a arrangement) int {
	const facts = 10 // rows for those of a server
	share := height * 3 / 10
	switch {
	case a.recorded && a.focus != areaPage:
		share = max(height*6/10, height-facts)
	case a.focus == areaTimeline:
		share = height * 6 / 10
	case a.timeline == 0 || share < leastHeight+1:
		return 1
	}
	return l.size(areaTimeline, min(a.timeline+2, share), leastHeight, height-leastHeight)
}

// stack puts the result below the page, which gets the rows that it can use, up to its share. If there is room for only
// one, it shows the result, unless the page has the focus.
func (l *layout) stack(r rect, a arrangement) {
	switch {
	case !a.result, r.h < leastHeight+leastResult && a.focus == areaPage:
		l.panes[areaPage] = r
		return
	case r.h < leastHeight+leastResult:
		l.panes[areaResult] = r
		return
	}
	page := r.h * 55 / 100
	if a.focus == areaResult {
		page = r.h * 35 / 100
	}
	if a.form > 0 {
		page = min(page, a.form+2)
	}
	result := l.size(areaResult, r.h-page, leastResult, r.h-leastHeight)
	l.panes[areaPage], l.panes[areaResult] = r.cutTop(r.h - result)
}

// column reports whether the timeline is a column, beside the others.
func (l *layout) column() bool { return l.panes[areaTimeline].y == l.panes[areaTree].y }

// borderAt returns the pane whose size a border at a place sets; areas if there is none.
func (l *layout) borderAt(x, y int) area {
	tree, page, result, watch := l.panes[areaTree], l.panes[areaPage], l.panes[areaResult], l.panes[areaTimeline]
	on := func(r rect) bool { return r.contains(x, y) }
	switch {
	case !l.tabs.empty() || tree.empty():
	case on(tree) && x == tree.x+tree.w-1:
		return areaTree
	case on(result) && y == result.y && !page.empty():
		return areaResult
	case on(watch) && (l.column() && x == watch.x || !l.column() && y == watch.y && watch.h > 1):
		return areaTimeline
	}
	return areas
}

// beyond returns how many cells a border of a pane has to move to reach a place. It is positive if the pane becomes
// larger.
func (l *layout) beyond(a area, x, y int) int {
	r := l.panes[a]
	switch {
	case a == areaTree:
		return x - (r.x + r.w - 1)
	case a == areaTimeline && l.column():
		return r.x - x
	}
	return r.y - y
}

func (r rect) cutLeft(w int) (left, rest rect) {
	return rect{r.x, r.y, w, r.h}, rect{r.x + w, r.y, r.w - w, r.h}
}

func (r rect) cutTop(h int) (top, rest rect) {
	return rect{r.x, r.y, r.w, h}, rect{r.x, r.y + h, r.w, r.h - h}
}
