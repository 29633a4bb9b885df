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

// Bindings returns what the keys do now. While text is typed, keys without a binding go into the text.
func (f *Form) Bindings() []pane.Binding {
	if f.json != nil {
		return f.jsonBindings()
	}
	f.place()
	toJSON := bind("edit as JSON", f.toJSON, "f2")
	toJSON.Short = "JSON"
	return append(slices.Concat(f.valueBindings(), f.stateBindings(), f.rowBindings(), f.moveBindings()), toJSON)
}

func (f *Form) moveBindings() []pane.Binding {
	down, up := bind("next field", f.next, "tab"), bind("previous field", f.previous, "shift+tab")
	down.Off = pane.Off(f.last(), "this is the last field")
	up.Off = pane.Off(f.place() == 0 && !f.cursor.field.extra, "this is the first field")
	list := []pane.Binding{
		bind("next row", func() { f.vertical(1) }, "down"),
		bind("previous row", func() { f.vertical(-1) }, "up"),
		down, up,
		bind("a page down", func() { f.to(f.place() + f.screen.page()) }, "pgdown"),
		bind("a page up", func() { f.to(f.place() - f.screen.page()) }, "pgup"),
	}
	if f.editor != nil {
		return list
	}
	first, last := []string{"home"}, []string{"end"}
	if !f.letters() {
		first, last = append(first, "g"), append(last, "G")
		list = append(list,
			bind("next row, without typing", func() { f.step(1) }, "j"),
			bind("previous row, without typing", func() { f.step(-1) }, "k"))
	}
	return append(list,
		bind("first field", func() { f.to(0) }, first...),
		bind("last field", func() { f.to(len(f.visible())) }, last...))
}

// valueBindings returns the keys that change the value under the cursor.
func (f *Form) valueBindings() []pane.Binding {
	at := f.cursor.field
	stop := bind("stop typing", f.leave, "esc")
	if f.editor != nil {
		help := "next field"
		if f.editor.lines && !f.onKey {
			help = "new line"
		}
		list := []pane.Binding{bind(help, f.enterKey, "enter"), stop}
		if f.onKey || at.kind != jsonschema.ShapeText && at.kind != jsonschema.ShapeJSON {
			return list
		}
		return append(list, bind("new line", f.newLine, "ctrl+j", "alt+enter", "shift+enter"))
	}
	enter := bind(f.cursor.enterHelp(f.onKey), f.activate, "enter")
	enter.Off = f.cursor.noEnter()
	list := []pane.Binding{enter}
	if !f.cursor.add && (at.group() || at.switches()) {
		right, left := "next value", "previous value"
		if at.holdsFields() {
			right, left = "open", "close"
		}
		list = append(list,
			bind(f.cursor.spaceHelp(), f.setEmpty, "space"),
			bind(right, func() { f.sideways(1) }, "right"),
			bind(left, func() { f.sideways(-1) }, "left"))
	}
	if f.letters() {
		// No key is called "letters": they are taken by letter, and only explained here.
		list = append(list, bind(f.cursor.lettersHelp(), func() {}, "letters"), stop)
	}
	return list
}

func (r row) lettersHelp() string {
	switch {
	case r.add || r.field.takesRows():
		return "add a row and type"
	case r.field.words() != nil:
		return "choose a value by its first letters"
	}
	return "nothing here"
}

// noEnter returns why enter does nothing: there is nothing to fill in.
func (r row) noEnter() string {
	switch {
	case r.add && r.field.silent():
		return "the tool needs no parameters; ctrl+a adds one"
	case r.add && !r.field.takesRows():
		return "the tool takes no parameters"
	}
	return ""
}

func (r row) enterHelp(onKey bool) string {
	at := r.field
	switch {
	case r.add:
		return "add a row"
	case r.takesText(onKey):
		return "type"
	case at.kind == jsonschema.ShapeEnum && len(at.shape.Options) > fewOptions:
		return "search the values"
	case at.switches() && (at.kind != jsonschema.ShapeVariant || at.choice < 0 && (at.required || at.row())):
		return "next value"
	case at.open && at.state != nullness:
		return "close"
	}
	return "open"
}

func (r row) spaceHelp() string {
	if r.field.holdsFields() && r.field.state != valued {
		return "set it, empty"
	}
	return r.enterHelp(false)
}

// stateBindings returns the keys that make the field unset, null or an example.
func (f *Form) stateBindings() []pane.Binding {
	at := f.cursor.field
	null, unset := bind("null", f.setNull, "ctrl+n"), bind("unset", f.unset, "ctrl+u")
	example := bind("next example", f.offer, "ctrl+o")
	switch {
	case f.cursor.add || f.onKey:
		null.Off, unset.Off, example.Off = "this is not a value", "this is not a value", "this is not a value"
	default:
		null.Off = pane.Off(!at.shape.Nullable, "null is not allowed here")
		unset.Off = pane.Off(!at.present() && at.choice < 0, "it is already unset")
		if at.row() {
			unset.Off = "a row cannot be unset; ctrl+d removes it"
		}
		example.Off = pane.Off(len(offered(at.shape)) == 0, "the schema has no examples for it")
	}
	return []pane.Binding{null, unset, example}
}

// rowBindings returns the keys that add, remove and move rows.
func (f *Form) rowBindings() []pane.Binding {
	add, remove := bind("add a row", f.addRow, "ctrl+a"), bind("remove the row", f.removeRow, "ctrl+d")
	up := bind("move the row up", func() { f.moveRow(-1) }, "alt+up")
	down := bind("move the row down", func() { f.moveRow(1) }, "alt+down")
	within, _ := f.cursor.container()
	add.Off = pane.Off(within == nil, "there are no rows here")
	if child := f.cursor.own(); child == nil {
		remove.Off, up.Off, down.Off = "this is not a row", "this is not a row", "this is not a row"
	} else {
		up.Off = pane.Off(child.place <= child.parent.named(), "this is the first row")
		down.Off = pane.Off(child.place == len(child.parent.children)-1, "this is the last row")
	}
	return []pane.Binding{add, remove, up, down}
}

// insert types text at the cursor.
func (f *Form) insert(text string) {
	f.editor.insert(text)
	f.typed()
}

func (f *Form) newLine() { f.insert("\n") }

// jsonBindings returns the keys while the arguments are edited as JSON.
func (f *Form) jsonBindings() []pane.Binding {
	lines := func(by int) func() { return func() { f.json.down(by) } }
	list := []pane.Binding{bind("back to the fields", f.toFields, "f2")}
	list[0].Short = "fields"
	if f.editor == nil {
		return append(list,
			bind("type", f.edit, "enter"),
			bind("a line down", lines(1), "down", "j"), bind("a line up", lines(-1), "up", "k"))
	}
	page := f.screen.page()
	change := func(do func()) func() { return func() { do(); f.typed() } }
	undo := bind("undo", change(f.json.undo), "alt+u", "ctrl+_")
	undo.Off = pane.Off(len(f.json.past) == 0, "there is nothing to undo")
	return append(list,
		bind("select all", f.json.selectAll, "ctrl+a"), bind("clear", change(f.json.clear), "ctrl+u"), undo,
		bind("stop typing", f.leave, "esc"), bind("new line", f.newLine, "enter"),
		bind("indent", func() { f.insert("  ") }, "tab"),
		bind("a line down", lines(1), "down"), bind("a line up", lines(-1), "up"),
		bind("a page down", lines(page), "pgdown"), bind("a page up", lines(-page), "pgup"))
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

// letters reports whether letters belong to the field under the cursor although no text is open there.
// In a choice they begin one of its values, in an array or map they begin a row, and in an object they
// do nothing, because someone who types words does not mean commands. After esc they are commands.
func (f *entry) letters() bool {
	at := f.cursor.field
	switch {
	case !f.typing || f.json != nil || f.editor != nil:
		return false
	case f.cursor.add:
		return at.takesRows() && !at.silent()
	}
	return at.group() || at.switches()
}

// letter handles a letter for the field under the cursor.
func (f *Form) letter(msg tea.KeyPressMsg) {
	switch at := f.cursor.field; {
	case f.cursor.add || at.takesRows():
		f.addRow()
		f.key(msg)
	case at.switches():
		f.edit()
		f.key(msg)
	}
}
