package form

import tea "charm.land/bubbletea/v2"

// toFirst puts the cursor on the first field.
func (f *Form) toFirst() {
	f.cursor, f.onKey = f.visible()[0], false
	f.startEditing()
}

// to puts the cursor on a row by its place.
func (f *Form) to(place int) tea.Cmd {
	rows := f.visible()
	f.cursor, f.onKey = rows[max(0, min(place, len(rows)-1))], false
	f.startEditing()
	return nil
}

// vertical moves a line up or down: within text of several lines first.
func (f *Form) vertical(by int) tea.Cmd {
	if f.editor != nil && f.editor.vertical(by > 0) {
		return nil
	}
	return f.to(f.place() + by)
}

// step moves as vim does, and stays out of the text that it comes by.
func (f *Form) step(by int) tea.Cmd {
	f.typing = false
	return f.vertical(by)
}

// next goes to the next stop of tab: a key and its value are two.
func (f *Form) next() tea.Cmd {
	f.typing = true
	if f.onKey {
		f.onKey = false
		f.startEditing()
		return nil
	}
	if f.last() {
		return nil
	}
	f.to(f.place() + 1)
	f.onKey = f.cursor.field.extra && !f.cursor.add
	f.startEditing()
	return nil
}

// previous is next backwards.
func (f *Form) previous() tea.Cmd {
	f.typing = true
	if f.cursor.field.extra && !f.cursor.add && !f.onKey {
		f.onKey = true
		f.startEditing()
		return nil
	}
	return f.to(f.place() - 1)
}

func (f *Form) last() bool { return f.place() == len(f.visible())-1 && !f.onKey }
