package tui

import "testing"

// At every size the panes that are shown fill the screen, without overlap, with room
// within their borders, and the one with focus is among them.
func TestLayoutFillsTheScreen(t *testing.T) {
	for _, size := range [][2]int{
		{40, 12}, {79, 24}, {80, 12}, {80, 16}, {80, 19}, {80, 24}, {120, 40}, {149, 50}, {150, 24}, {400, 100},
	} {
		for focus := range areas {
			for _, flags := range []arrangement{
				{},
				{result: true},
				{watch: true},
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
	covered := make([]int, width*height)
	all := append(l.panes[:], l.tabs, l.status)
	for _, r := range all {
		if r.empty() {
			continue
		}
		for y := r.y; y < r.y+r.h; y++ {
			for x := r.x; x < r.x+r.w; x++ {
				if x < 0 || y < 0 || x >= width || y >= height {
					t.Fatalf("%dx%d %+v: %+v leaves the screen", width, height, a, r)
				}
				covered[y*width+x]++
			}
		}
	}
	for i, r := range l.panes {
		if !r.empty() && (r.w < 3 || r.h < 3) {
			t.Errorf("%dx%d %+v: %s has no room within its border: %+v", width, height, a, area(i), r)
		}
	}
	for i, n := range covered {
		if n != 1 {
			t.Fatalf("%dx%d %+v: cell %d,%d is covered %d times: %+v", width, height, a, i%width, i/width, n, l)
		}
	}
	if l.panes[a.focus].empty() {
		t.Errorf("%dx%d %+v: the pane with focus is not shown", width, height, a)
	}
}
