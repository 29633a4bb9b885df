package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// At every size the panes that are shown fill the screen without overlapping, have room within their borders, and the
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
				{watch: true, timeline: 2},
				{result: true, watch: true, form: 2, timeline: 100},
				{result: true, form: 100, names: 100},
				{result: true, watch: true},
				{zoomed: true, watch: true},
				{result: true, watch: true, grown: sizes{500, 0, 500, 500}},
				{result: true, watch: true, grown: sizes{-500, 0, -500, -500}},
			} {
				flags.focus = focus
				if focus == areaResult {
					flags.result = true
				}
				if focus == areaTimeline {
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
	for i, r := range append(l.panes[:], l.tabs, l.status) {
		folded := area(i) == areaTimeline && a.focus != areaTimeline && r.h == 1
		if i < int(areas) && !r.empty() && !folded && (r.w < 3 || r.h < 3) {
			t.Errorf("%dx%d %+v: %s has no room within its border: %+v", width, height, a, area(i), r)
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
	for i, times := range covered {
		if times != 1 {
			t.Fatalf("%dx%d %+v: cell %d,%d is covered %d times: %+v", width, height, a, i%width, i/width, times, l)
		}
	}
	if l.panes[a.focus].empty() {
		t.Errorf("%dx%d %+v: the pane with focus is not shown", width, height, a)
	}
}

// Borders are moved by keys and by the mouse, as far as there is room, and what moved one way comes back the other.
func TestResize(t *testing.T) {
	d := drive(t, nil, lamp(t, says("it shines")))
	d.click("lamp")
	d.press("tab", "space")
	d.call()
	panes := func() [areas]rect { return d.m.layout().panes }
	keys := func(key string, times int) {
		for range times {
			d.press(key)
		}
	}
	drag := func(fromX, fromY, toX, toY int) {
		d.send(tea.MouseClickMsg{X: fromX, Y: fromY, Button: tea.MouseLeft},
			tea.MouseMotionMsg{X: (fromX + toX) / 2, Y: (fromY + toY) / 2, Button: tea.MouseLeft},
			tea.MouseMotionMsg{X: toX, Y: toY, Button: tea.MouseLeft},
			tea.MouseReleaseMsg{X: toX, Y: toY, Button: tea.MouseLeft},
			tea.MouseMotionMsg{X: 1, Y: 1})
	}
	for _, size := range [][2]int{{100, 40}, {180, 50}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, focus := range []string{"1", "3", "4"} {
			d.press(focus)
			before := panes()
			keys("}", 1)
			if panes() == before {
				t.Errorf("%v: } changes nothing in pane %s", size, focus)
			}
			keys("}", 100)
			d.frame()
			keys("{", 200)
			d.frame()
			keys("}", 1)
			d.m.grown = sizes{}
		}
		d.press("1")
		before := panes()
		edge := panes()[areaTree].w - 1
		drag(edge, 10, edge+9, 12)
		if got, was := panes()[areaTree].w, before[areaTree].w; got != was+9 {
			t.Errorf("%v: the tree has %d columns after it had %d and its border was moved by 9", size, got, was)
		}
		drag(edge+9, 10, 500, 10)
		drag(panes()[areaTree].w-1, 10, edge, 10)
		if panes() != before {
			t.Errorf("%v: the border is back, and panes have %v, not %v", size, panes(), before)
		}
		result := panes()[areaResult]
		drag(result.x+30, result.y, result.x+30, result.y+3)
		if got := panes()[areaResult]; got.y != result.y+3 || d.m.focus != areaResult {
			t.Errorf("%v: the result begins at %d, not at %d", size, got.y, result.y+3)
		}
		d.m.grown = sizes{}
	}
	d.press("z", "}")
	d.shows("make this pane larger: it fills the screen")
}
