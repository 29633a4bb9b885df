package form

import (
	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// click moves the cursor to the clicked row; a click on the current row does what enter does.
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
	again := at == f.cursor || at.add
	back := at == f.cursor && at.field.turns() && x == f.screen.valueLeft // the "<" of "< value >"
	f.screen.loose = false
	f.cursor, f.onKey, f.typing = at, at.field.extra && !at.add && x < f.screen.valueLeft, true
	f.place()
	switched := x >= f.screen.valueLeft && at.field.switches() // a variant is a group
	if back {
		f.sideways(-1)
		return
	}
	if at.add && at.field.silent() {
		f.addRow()
		return
	}
	if again || switched || at.field.group() {
		f.activate()
		return
	}
	f.startEditing()
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
