package form

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// click moves the cursor to the clicked row; a click on the current row does what enter does. A switch or a choice
// changes only by a click on its value.
func (f *Form) click(x, y int) {
	if f.json != nil {
		f.edit()
		f.json.editor.click(y, x)
		return
	}
	if f.editor != nil && f.screen.inEditor(x, y) {
		f.editor.click(y-f.screen.editorTop, x-f.screen.editorLeft)
		return
	}
	if y < 0 || y >= len(f.screen.rows) || f.screen.rows[y].field == nil {
		return
	}
	at := f.screen.rows[y]
	again, onValue := at == f.cursor || at.add, !at.add && f.onValue(at, x)
	back := at == f.cursor && at.field.turns() && x == f.screen.valueLeft // the "<" of "< value >"
	f.screen.loose = false
	f.cursor, f.onKey, f.typing = at, at.field.extra && !at.add && x < f.screen.valueLeft, true
	f.place()
	if back {
		f.sideways(-1)
		return
	}
	if at.add && at.field.silent() {
		f.addRow()
		return
	}
	switches := at.field.switches() && !at.field.group() // a click beside its value sets nothing
	if at.add || at.field.group() || switches && onValue || again && !switches {
		f.activate()
		return
	}
	f.startEditing()
}

// onValue reports whether a column is within the value of a row as it was drawn last.
func (f *Form) onValue(at row, x int) bool {
	s := &f.screen
	p := &painter{form: f, theme: f.theme, width: s.width, verdict: f.check(), valueLeft: s.valueLeft}
	drawn := p.fit(strings.Repeat(" ", s.valueLeft) + p.value(at, at == f.cursor))
	return x >= s.valueLeft && x < f.theme.Width(drawn)
}

// wheel scrolls. The cursor and the text being typed stay where they are; the next key scrolls them back into view.
func (f *Form) wheel(msg tea.MouseWheelMsg) {
	by := pane.Wheel(msg)
	if f.json == nil {
		f.screen.top, f.screen.loose = max(0, f.screen.top+by), true
		return
	}
	f.json.down(by)
}
