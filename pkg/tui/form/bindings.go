package form

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/jsonschema"
	"toolx/pkg/tui/pane"
)

// Bindings returns what the keys do now. While text is typed, keys without a binding go into the text.
func (f *Form) Bindings() []pane.Binding {
	if f.json != nil {
		return f.jsonBindings()
	}
	f.place()
	list := slices.Concat(f.valueBindings(), f.stateBindings(), f.rowBindings(), f.moveBindings())
	return append(list, pane.Binding{Keys: []string{"f2"}, Help: "edit as JSON", Do: f.toJSON})
}

func (f *Form) moveBindings() []pane.Binding {
	atEnd, atStart := "", ""
	if f.last() {
		atEnd = "this is the last field"
	}
	if f.place() == 0 && !f.cursor.field.extra {
		atStart = "this is the first field"
	}
	list := []pane.Binding{
		{Keys: []string{"down"}, Help: "next row", Do: func() tea.Cmd { return f.vertical(1) }},
		{Keys: []string{"up"}, Help: "previous row", Do: func() tea.Cmd { return f.vertical(-1) }},
		{Keys: []string{"tab"}, Help: "next field", Off: atEnd, Do: f.next},
		{Keys: []string{"shift+tab"}, Help: "previous field", Off: atStart, Do: f.previous},
		{Keys: []string{"pgdown"}, Help: "a page down", Do: func() tea.Cmd { return f.to(f.place() + f.screen.page()) }},
		{Keys: []string{"pgup"}, Help: "a page up", Do: func() tea.Cmd { return f.to(f.place() - f.screen.page()) }},
	}
	if f.editor == nil && !f.letters() {
		list = append(list,
			pane.Binding{Keys: []string{"j"}, Help: "next row, without typing", Do: func() tea.Cmd { return f.step(1) }},
			pane.Binding{Keys: []string{"k"}, Help: "previous row, without typing", Do: func() tea.Cmd { return f.step(-1) }})
	}
	if f.editor == nil {
		first, last := []string{"home"}, []string{"end"}
		if !f.letters() {
			first, last = append(first, "g"), append(last, "G")
		}
		list = append(list,
			pane.Binding{Keys: first, Help: "first field", Do: func() tea.Cmd { return f.to(0) }},
			pane.Binding{Keys: last, Help: "last field", Do: func() tea.Cmd { return f.to(len(f.visible())) }})
	}
	return list
}

// valueBindings returns the keys that change the value under the cursor.
func (f *Form) valueBindings() []pane.Binding {
	if f.editor != nil {
		help := "next field"
		if f.editor.lines && !f.onKey {
			help = "new line"
		}
		list := []pane.Binding{
			{Keys: []string{"enter"}, Help: help, Do: f.enterKey},
			{Keys: []string{"esc"}, Help: "stop typing", Do: f.leave},
		}
		if f.onKey || f.cursor.field.kind != jsonschema.ShapeText && f.cursor.field.kind != jsonschema.ShapeJSON {
			return list
		}
		return append(list, pane.Binding{Keys: []string{"ctrl+j", "alt+enter", "shift+enter"}, Help: "new line", Do: f.newLine})
	}
	list := []pane.Binding{{Keys: []string{"enter"}, Help: f.enterHelp(), Off: f.noEnter(), Do: f.activate}}
	if at := f.cursor.field; !f.cursor.add && (at.group() || at.kind == jsonschema.ShapeBool || at.kind == jsonschema.ShapeEnum) {
		list = append(list,
			pane.Binding{Keys: []string{"space"}, Help: f.spaceHelp(), Do: f.setEmpty},
			pane.Binding{Keys: []string{"right"}, Help: sideHelp(at, "next value", "open"), Do: func() tea.Cmd { return f.sideways(1) }},
			pane.Binding{Keys: []string{"left"}, Help: sideHelp(at, "previous value", "close"), Do: func() tea.Cmd { return f.sideways(-1) }})
	}
	if f.letters() {
		// No key is called "letters": they are taken by letter, and only told here.
		list = append(list,
			pane.Binding{Keys: []string{"letters"}, Help: f.lettersHelp(), Do: func() tea.Cmd { return nil }},
			pane.Binding{Keys: []string{"esc"}, Help: "stop typing", Do: f.leave})
	}
	return list
}

func (f *Form) lettersHelp() string {
	switch {
	case f.cursor.add || f.cursor.field.takesRows():
		return "add a row, and type there"
	case f.cursor.field.words() != nil:
		return "choose a value by how it begins"
	}
	return "nothing here"
}

func (f *Form) newLine() tea.Cmd {
	f.editor.insert("\n")
	f.typed()
	return nil
}

// noEnter returns why enter does nothing: there is nothing to fill in.
func (f *Form) noEnter() string {
	switch at := f.cursor.field; {
	case f.cursor.add && at.silent():
		return "the tool needs no parameters; ctrl+a adds one"
	case f.cursor.add && !at.takesRows():
		return "the tool takes no parameters"
	}
	return ""
}

func (f *Form) enterHelp() string {
	at := f.cursor.field
	switch {
	case f.cursor.add:
		return "add a row"
	case f.takesText():
		return "type"
	case at.kind == jsonschema.ShapeEnum && len(at.shape.Options) > fewOptions:
		return "search the values"
	case at.kind == jsonschema.ShapeBool || at.kind == jsonschema.ShapeEnum || at.kind == jsonschema.ShapeVariant && at.choice < 0:
		return "next value"
	case at.open && at.state != nullness:
		return "close"
	}
	return "open"
}

func (f *Form) spaceHelp() string {
	if at := f.cursor.field; (at.kind == jsonschema.ShapeObject || at.kind == jsonschema.ShapeArray) && at.state != valued {
		return "set it, empty"
	}
	return f.enterHelp()
}

func sideHelp(at *field, value, group string) string {
	if at.kind == jsonschema.ShapeObject || at.kind == jsonschema.ShapeArray {
		return group
	}
	return value
}

// stateBindings returns the keys that make the field unset, null or an example.
func (f *Form) stateBindings() []pane.Binding {
	at := f.cursor.field
	noNull, noUnset, noExample := "", "", ""
	switch {
	case f.cursor.add || f.onKey:
		noNull, noUnset, noExample = "this is no value", "this is no value", "this is no value"
	default:
		if !at.shape.Nullable {
			noNull = "null is not allowed here"
		}
		if at.row() {
			noUnset = "a row cannot be left out; ctrl+d removes it"
		} else if !at.present() && at.choice < 0 {
			noUnset = "it is unset"
		}
		if len(at.offered()) == 0 {
			noExample = "the schema has no examples of it"
		}
	}
	return []pane.Binding{
		{Keys: []string{"ctrl+n"}, Help: "null", Off: noNull, Do: f.setNull},
		{Keys: []string{"ctrl+u"}, Help: "unset", Off: noUnset, Do: f.unset},
		{Keys: []string{"ctrl+o"}, Help: "next example", Off: noExample, Do: f.offer},
	}
}

// rowBindings returns the keys that add, remove and move rows.
func (f *Form) rowBindings() []pane.Binding {
	noAdd, noRemove, noUp, noDown := "", "", "", ""
	if within, _ := f.container(); within == nil {
		noAdd = "there are no rows here"
	}
	if child := f.ownRow(); child == nil {
		noRemove, noUp, noDown = "this is no row", "this is no row", "this is no row"
	} else {
		if child.place <= child.parent.named() {
			noUp = "this is the first row"
		}
		if child.place == len(child.parent.children)-1 {
			noDown = "this is the last row"
		}
	}
	return []pane.Binding{
		{Keys: []string{"ctrl+a"}, Help: "add a row", Off: noAdd, Do: f.addRow},
		{Keys: []string{"ctrl+d"}, Help: "remove the row", Off: noRemove, Do: f.removeRow},
		{Keys: []string{"alt+up"}, Help: "move the row up", Off: noUp, Do: func() tea.Cmd { return f.moveRow(-1) }},
		{Keys: []string{"alt+down"}, Help: "move the row down", Off: noDown, Do: func() tea.Cmd { return f.moveRow(1) }},
	}
}
