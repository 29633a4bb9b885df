package form

import tea "charm.land/bubbletea/v2"

// click puts the cursor where the mouse is; on the row that has it already it does
// what enter does.
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
	f.cursor, f.onKey, f.typing = at, at.field.extra && !at.add && x < f.screen.valueLeft, true
	f.place()
	switched := x >= f.screen.valueLeft && (at.field.kind == kindBool || at.field.kind == kindEnum)
	if again || switched || at.field.group() {
		f.activate()
		return
	}
	f.startEditing()
}

func (f *Form) wheel(msg tea.MouseWheelMsg) {
	by := 0
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	}
	const lines = 3
	for range lines {
		if f.json != nil {
			f.json.editor.vertical(by > 0)
		}
	}
	if f.json == nil {
		f.to(f.place() + by)
	}
}
