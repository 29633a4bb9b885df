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
	areaWatch
	areas
)

// The sizes at which the layout changes, in cells.
const (
	minWidth    = 40
	minHeight   = 12
	leastWidth  = 20 // of a pane that the user has made smaller
	mediumWidth = 80
	wideWidth   = 150
	// roomyWidth is the minimum width for panes to have a left margin.
	roomyWidth  = 110
	leastResult = 4 // rows of the result, with its border
	// stackHeight is the minimum height of a medium screen for the watch pane to appear beside the others.
	stackHeight = 20
)

// headerHeight is the minimum height of a screen with a header.
const headerHeight = 18

// foldHeight is the height below which an empty watch pane is folded.
const foldHeight = 30

// arrangement is what the layout depends on besides the size.
type arrangement struct {
	focus  area
	zoomed bool // the pane with focus has the whole screen
	result bool // there is a result to show
	other  bool // the page is not about the result
	watch  bool // the user wants to see the watch pane
	empty  bool // the watch pane has nothing to show
	finds  bool // the finder replaces the tree
	wants  int  // how many rows the page can use within its border; 0 if unknown
	grown  sizes
}

// sizes are how many cells each pane is larger than its default size: the tree in width, the result in height, the
// watch pane in whichever differs. The page gets the rest.
type sizes [areas]int

// layout is the position of each pane, with its border. Neighbours share the border between them. A pane of one row is
// folded: only its title is visible, in the border above it. The first line is the header, the last one the status
// line. A narrow screen shows one pane at a time, below a line of tabs.
type layout struct {
	header rect
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

// arrange lays the panes out. They overlap on their borders only, and fill the screen.
func arrange(width, height int, a arrangement) layout {
	l := layout{status: rect{0, height - 1, width, 1}, grown: a.grown}
	body := rect{0, 0, width, height - 1}
	if width >= roomyWidth {
		l.margin = 1
	}
	if height >= headerHeight {
		l.header = rect{0, 0, width, 1}
		body = rect{0, 1, width, height - 2}
	}
	switch {
	case width < mediumWidth || a.zoomed:
		l.tabs = rect{0, body.y, width, 1}
		l.panes[a.focus] = rect{0, body.y + 1, width, body.h - 1}
	case a.finds:
		l.panes[areaTree], l.panes[areaPage] = body.cutLeft(body.w * 6 / 10)
	case width < wideWidth:
		l.medium(body, a)
	default:
		l.wide(body, a)
	}
	return l
}

// medium has the tree on the left, and page, result and watch stacked.
func (l *layout) medium(body rect, a arrangement) {
	tree, right := body.cutLeft(l.size(areaTree, max(26, body.w*3/10), leastWidth, body.w-leastWidth))
	l.panes[areaTree] = tree
	if a.watch {
		share := body.h * 3 / 10
		if a.focus == areaWatch {
			share = body.h * 6 / 10
		}
		if a.focus != areaWatch && (body.h < stackHeight || a.empty && body.h < foldHeight) {
			share = 1
		} else {
			share = l.size(areaWatch, max(5, share), 5, body.h-3)
		}
		right, l.panes[areaWatch] = right.cutBottom(share)
	}
	l.stack(right, a)
}

// wide has the watch pane as a column on the right.
func (l *layout) wide(body rect, a arrangement) {
	tree, rest := body.cutLeft(l.size(areaTree, max(32, body.w*2/10), leastWidth, body.w-2*leastWidth))
	l.panes[areaTree] = tree
	if a.watch {
		var watch rect
		rest, watch = rest.cutRight(l.size(areaWatch, rest.w*45/100, leastWidth, rest.w-leastWidth))
		l.panes[areaWatch] = watch
	}
	l.stack(rest, a)
}

// stack puts the result below the page. The one with the focus gets more room, and the result also gets what the page
// cannot use. If the page is about something else, the result shrinks to its first rows. If there is room for only one,
// it shows the result, unless the page has the focus.
func (l *layout) stack(r rect, a arrangement) {
	const least = 3 + 4 - 1 // rows of both, with their borders
	switch {
	case !a.result, r.h < least && a.focus == areaPage:
		l.panes[areaPage] = r
		return
	case r.h < least:
		l.panes[areaResult] = r
		return
	}
	share := r.h * 45 / 100
	if a.focus == areaResult {
		share = r.h * 65 / 100
	}
	if a.other && a.focus != areaResult {
		share = leastResult
	} else if a.wants > 0 && a.focus != areaPage && a.focus != areaTree { // where the page changes with every key
		share = max(share, r.h-a.wants-1)
	}
	l.panes[areaPage], l.panes[areaResult] = r.cutBottom(l.size(areaResult, share, leastResult, r.h-2))
}

// column reports whether the watch pane is a column, beside the others.
func (l *layout) column() bool { return l.panes[areaWatch].y == l.panes[areaTree].y }

// borderAt returns the pane whose size a border at a place sets; areas if there is none.
func (l *layout) borderAt(x, y int) area {
	tree, page, result, watch := l.panes[areaTree], l.panes[areaPage], l.panes[areaResult], l.panes[areaWatch]
	on := func(r rect) bool { return r.contains(x, y) }
	switch {
	case !l.tabs.empty() || tree.empty():
	case on(tree) && x == tree.x+tree.w-1:
		return areaTree
	case on(result) && y == result.y && !page.empty():
		return areaResult
	case on(watch) && (l.column() && x == watch.x || !l.column() && y == watch.y && watch.h > 1):
		return areaWatch
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
	case a == areaWatch && l.column():
		return r.x - x
	}
	return r.y - y
}

// cutLeft cuts off w columns. The last of them is also the first of the rest: the shared border.
func (r rect) cutLeft(w int) (left, rest rect) {
	w = min(w, r.w)
	return rect{r.x, r.y, w, r.h}, rect{r.x + w - 1, r.y, r.w - w + 1, r.h}
}

func (r rect) cutRight(w int) (rest, right rect) {
	w = min(w, r.w)
	return rect{r.x, r.y, r.w - w + 1, r.h}, rect{r.x + r.w - w, r.y, w, r.h}
}

func (r rect) cutBottom(h int) (rest, bottom rect) {
	h = min(h, r.h)
	return rect{r.x, r.y, r.w, r.h - h + 1}, rect{r.x, r.y + r.h - h, r.w, h}
}
