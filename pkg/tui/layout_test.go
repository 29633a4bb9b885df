package tui

import "testing"

// At every size the panes that are shown fill the screen, overlap on their borders only, with room within them, and the
// one with focus is among them.
func TestLayoutFillsTheScreen(t *testing.T) {
	for _, size := range [][2]int{
		{40, 12}, {79, 24}, {80, 12}, {80, 16}, {80, 19}, {80, 24}, {120, 40}, {149, 50}, {150, 24}, {400, 100},
	} {
		for focus := range areas {
			for _, flags := range []arrangement{
				{},
				{result: true},
				{watch: true},
				{watch: true, empty: true},
				{result: true, watch: true},
				{zoomed: true, watch: true},
			} {
				flags.focus = focus
				if focus == areaResult {
					flags.result = true
				}
				if focus == areaWatch {
					flags.watch = true
				}
				checkLayout(t, size[0], size[1], flags)
			}
		}
	}
}

func checkLayout(t *testing.T, width, height int, a arrangement) {
	t.Helper()
	l := arrange(width, height, a)
	covered, borders := make([]int, width*height), make([]int, width*height)
	count := func(r rect, counts []int) {
		for y := r.y; y < r.y+r.h; y++ {
			for x := r.x; x < r.x+r.w; x++ {
				if x < 0 || y < 0 || x >= width || y >= height {
					t.Fatalf("%dx%d %+v: %+v leaves the screen", width, height, a, r)
				}
				counts[y*width+x]++
			}
		}
	}
	for _, r := range append(l.panes[:], l.header, l.tabs, l.status) {
		count(r, borders)
	}
	for _, r := range []rect{l.header, l.tabs, l.status} {
		count(r, covered)
	}
	for i, r := range l.panes {
		folded := area(i) == areaWatch && a.focus != areaWatch && r.h == 1
		if !r.empty() && !folded && (r.w < 3 || r.h < 3) {
			t.Errorf("%dx%d %+v: %s has no room within its border: %+v", width, height, a, area(i), r)
		}
		count(l.inside(area(i)), covered)
	}
	for i := range covered {
		if covered[i] > 1 || borders[i] == 0 {
			t.Fatalf("%dx%d %+v: cell %d,%d is covered %d times, without borders %d times: %+v",
				width, height, a, i%width, i/width, borders[i], covered[i], l)
		}
	}
	if l.panes[a.focus].empty() {
		t.Errorf("%dx%d %+v: the pane with focus is not shown", width, height, a)
	}
}
