package form

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/jsonschema"
	"toolx/pkg/tui/pane"
)

// bind returns a binding of an action that works now.
func bind(help string, do func(), keys ...string) pane.Binding {
	return pane.Binding{Keys: keys, Help: help, Do: pane.Do(do)}
}

// bindUnless returns a binding of an action that is impossible for a reason, unless that is empty.
func bindUnless(off, help string, do func(), keys ...string) pane.Binding {
	return pane.Binding{Keys: keys, Help: help, Off: off, Do: pane.Do(do)}
}

// Bindings returns what the keys do now. While text is typed, keys without a binding go into the text.
func (f *Form) Bindings() []pane.Binding {
	if f.json != nil {
		return f.jsonBindings()
	}
	f.place()
	toJSON := bind("edit as JSON", func() { f.openJSON(writeLines(f.root)) }, "f2")
	toJSON.Short = "JSON"
	return append(slices.Concat(f.valueBindings(), f.stateBindings(), f.rowBindings(), f.moveBindings()), toJSON)
}

func (f *Form) moveBindings() []pane.Binding {
	first := f.place() == 0 && !f.cursor.field.extra
	list := []pane.Binding{
		bind("next row", func() { f.vertical(1) }, "down"),
		bind("previous row", func() { f.vertical(-1) }, "up"),
		bindUnless(pane.Off(f.last(), "this is the last field"), "next field", f.next, "tab"),
		bindUnless(pane.Off(first, "this is the first field"), "previous field", f.previous, "shift+tab"),
		bind("a page down", func() { f.to(f.place() + f.screen.list.Page()) }, "pgdown"),
		bind("a page up", func() { f.to(f.place() - f.screen.list.Page()) }, "pgup"),
	}
	if f.editor != nil {
		return list
	}
	home, end := []string{"home"}, []string{"end"}
	if !f.letters() {
		// As in vim, this does not start to type in the text that it passes.
		step := func(by int) func() { return func() { f.typing = false; f.vertical(by) } }
		home, end = append(home, "g"), append(end, "G")
		list = append(list,
			bind("next row, without typing", step(1), "j"), bind("previous row, without typing", step(-1), "k"))
	}
	return append(list,
		bind("first field", func() { f.to(0) }, home...),
		bind("last field", func() { f.to(len(f.visible())) }, end...))
}

// valueBindings returns the keys that change the value under the cursor.
func (f *Form) valueBindings() []pane.Binding {
	at := f.cursor.field
	stop := bind("stop typing", f.StopTyping, "esc")
	newLine := func() { f.insert("\n") }
	if f.editor != nil {
		enter := bind("next field", f.next, "enter")
		switch {
		case f.editor.several() && !f.onKey:
			enter = bind("new line", newLine, "enter")
		case f.last():
			enter = bind("next field", f.StopTyping, "enter")
		}
		list := []pane.Binding{enter, stop}
		if f.onKey || at.kind != jsonschema.ShapeText && at.kind != jsonschema.ShapeJSON {
			return list
		}
		return append(list, bind("new line", newLine, "ctrl+j", "alt+enter", "shift+enter"))
	}
	help, activate := f.enter()
	list := []pane.Binding{bindUnless(f.cursor.noRows(), help, activate, "enter")}
	noGroup := pane.Off(f.cursor.around() == nil, "no group is around it")
	around := bindUnless(noGroup, "to the group around it", f.leaveGroup, "left")
	around.Short = "out"
	switch {
	case f.cursor.add || !at.group() && !at.switches():
		list = append(list, around)
	case at.holdsFields():
		if at.raw == nil || at.null() {
			help, activate = "set it, empty", f.change(func() { at.enter(); at.begin() })
		}
		if at.open && !at.null() {
			around = bind("close", func() { f.sideways(-1) }, "left")
		}
		list = append(list, bind(help, activate, "space"), bind("open", func() { f.sideways(1) }, "right"), around)
	default:
		list = append(list, bind(help, activate, "space"), bind("next value", func() { f.sideways(1) }, "right"),
			bind("previous value", func() { f.sideways(-1) }, "left"))
	}
	// No key is called "letters": they are taken by letter, and only explained here. In an object they do nothing.
	switch letters := f.letters(); {
	case letters && (f.cursor.add || at.takesRows()):
		list = append(list, bind("add a row and type", func() {}, "letters"), stop)
	case letters && at.switches():
		list = append(list, bind("choose a value by its first letters", func() {}, "letters"), stop)
	}
	return list
}

// leaveGroup moves to the group around the row under the cursor.
func (f *entry) leaveGroup() {
	f.cursor = row{field: f.cursor.around()}
	f.to(f.place())
}

// enter returns what enter does while no text is typed.
func (f *entry) enter() (help string, do func()) {
	at, c := f.cursor.field, choice{f.cursor.field}
	none := at.kind == jsonschema.ShapeVariant && at.alternative < 0
	switch {
	case f.cursor.noRows() != "":
		return "add a row", func() {}
	case f.cursor.add:
		return "add a row", f.addRow
	case f.cursor.takesText(f.onKey):
		return "type", f.edit
	case c.searched():
		return "search the values", f.edit
	case none && !at.required && !at.row() && at.parent != nil:
		return "open", f.change(c.look)
	case none || at.switches() && !at.group():
		return "next value", f.change(func() { c.cycle(1) })
	case at.open && !at.null():
		return "close", f.change(func() { at.setOpen(false) })
	}
	return "open", f.change(func() { at.setOpen(true) })
}

// change returns a function that changes a field.
func (f *entry) change(do func()) func() {
	return func() { do(); f.changed() }
}

// sideways does what left and right do: it steps through options, or closes and opens groups.
func (f *entry) sideways(by int) {
	switch at := f.cursor.field; {
	case f.cursor.add:
		return
	case at.holdsFields():
		at.setOpen(by > 0)
	case at.switches():
		choice{at}.cycle(by)
	}
	f.changed()
}

// stateBindings returns the keys that make the field unset, null or an example.
func (f *Form) stateBindings() []pane.Binding {
	at := f.cursor.field
	replace := func(do func()) func() { return func() { do(); f.replaced() } }
	noNull := pane.Off(!at.shape.Nullable, "null is not allowed here")
	noUnset := pane.Off(!at.present() && at.alternative < 0, "it is already unset")
	noExample := pane.Off(len(at.offered()) == 0, "the schema has no examples for it")
	if at.row() {
		noUnset = "a row cannot be unset; ctrl+d removes it"
	}
	if f.cursor.add || f.onKey {
		const no = "this is not a value"
		noNull, noUnset, noExample = no, no, no
	}
	return []pane.Binding{
		bindUnless(noNull, "null", replace(at.setNull), "ctrl+n"),
		bindUnless(noUnset, "unset", replace(at.clear), "ctrl+u"),
		bindUnless(noExample, "next example", replace(at.offer), "ctrl+o"),
	}
}

// rowBindings returns the keys that add, remove and move rows.
func (f *Form) rowBindings() []pane.Binding {
	within, _ := f.cursor.container()
	child := f.cursor.own()
	noRow := pane.Off(child == nil, "this is not a row")
	noUp, noDown := noRow, noRow
	if child != nil {
		noUp = pane.Off(child.place <= child.parent.named(), "this is the first row")
		noDown = pane.Off(child.place == len(child.parent.children)-1, "this is the last row")
	}
	return []pane.Binding{
		bindUnless(pane.Off(within == nil, "there are no rows here"), "add a row", f.addRow, "ctrl+a"),
		bindUnless(noRow, "remove the row", f.removeRow, "ctrl+d"),
		bindUnless(noUp, "move the row up", f.change(func() { child.move(-1) }), "alt+up"),
		bindUnless(noDown, "move the row down", f.change(func() { child.move(1) }), "alt+down"),
	}
}

// addRow adds a row after the one under the cursor and moves there.
func (f *entry) addRow() {
	f.goTo(f.cursor.addRow())
}

// removeRow removes the row that the cursor is in.
func (f *entry) removeRow() {
	child := f.cursor.own()
	place := slices.Index(f.visible(), row{field: child})
	child.remove()
	f.changed()
	f.to(place)
}

// key handles a key: the bindings come first, then the text under the cursor.
func (f *Form) key(msg tea.KeyPressMsg) {
	if binding := pane.Find(f.Bindings(), msg.String()); binding != nil {
		if binding.Off == "" {
			binding.Do()
		}
		return
	}
	switch {
	case f.editor == nil && msg.Text != "" && f.letters():
		f.letter(msg)
	case f.editor != nil && f.editor.key(msg.Keystroke(), msg.Text):
		f.typed()
	}
}

// letter handles a letter for the field under the cursor.
func (f *Form) letter(msg tea.KeyPressMsg) {
	switch at := f.cursor.field; {
	case f.cursor.add || at.takesRows():
		f.addRow()
	case at.switches():
		f.edit()
	default:
		return
	}
	f.key(msg)
}
