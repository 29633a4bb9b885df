package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"toolx/pkg/tui/pane"
)

// styleAt returns the style of a cell of the screen.
func (d *driver) styleAt(x, y int) uv.Style {
	cells := uv.NewScreenBuffer(d.m.width, d.m.height)
	uv.NewStyledString(d.m.screen()).Draw(cells, cells.Bounds())
	return cells.CellAt(x, y).Style
}

// styled reports whether a cell has the style of a role.
func (d *driver) styled(x, y int, role pane.Role) bool {
	cells := uv.NewScreenBuffer(1, 1)
	uv.NewStyledString(d.m.theme.Paint(role, "x")).Draw(cells, cells.Bounds())
	want, got := cells.CellAt(0, 0).Style, d.styleAt(x, y)
	return got.Equal(&want)
}

// The frame of a tool that may destroy something warns before the call, that of the dialog is red, and what is behind
// the dialog is dim.
func TestFramesWarn(t *testing.T) {
	wipe := newTool(t, `{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`, says(""))
	look := newTool(t, `{"name":"look","inputSchema":{"type":"object"}}`, says(""))
	d := drive(t, nil, wipe, look)
	d.m.theme.Change(pane.NewTheme(true, true, false))
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	for tool, role := range map[string]pane.Role{"wipe": pane.Warn, "look": pane.Dim} {
		d.click(tool)
		if !d.styled(78, 0, role) {
			t.Errorf("the border of %s is %+v", tool, d.styleAt(78, 0))
		}
	}
	d.click("wipe")
	d.shows("ctrl+r calls wipe, asks first")
	d.press("ctrl+r")
	x, y := d.place("call wipe?")
	if !d.styled(x, y, pane.Bad) || !d.styled(x-3, y, pane.Bad) {
		t.Errorf("the dialog's border is %+v", d.styleAt(x-3, y))
	}
	for _, at := range [][2]int{{78, 0}, {0, 1}, {4, 3}} {
		if !d.styled(at[0], at[1], pane.Dim) {
			t.Errorf("behind the dialog %v is %+v", at, d.styleAt(at[0], at[1]))
		}
	}
}
