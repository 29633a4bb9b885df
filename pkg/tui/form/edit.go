package form

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// key does what a key does now: what the bindings say, else it goes to the text
// under the cursor.
func (f *Form) key(msg tea.KeyPressMsg) tea.Cmd {
	if binding := pane.Find(f.Bindings(), msg.String()); binding != nil {
		if binding.Off != "" {
			return nil
		}
		return binding.Do()
	}
	if f.editor == nil {
		return nil
	}
	if _, changed := f.editor.key(msg.Keystroke(), msg.Text); changed {
		f.typed()
	}
	return nil
}

// paste puts text in at the cursor. Terminals send a line's end as a carriage
// return. Where no text is typed, JSON becomes the value.
func (f *Form) paste(text string) {
	if f.editor == nil {
		f.typing = true
		f.startEditing()
	}
	if f.editor == nil {
		if at := f.cursor.field; !f.cursor.add && at.parent != nil && notJSON(strings.TrimSpace(text)) == "" {
			at.enter()
			at.put(json.RawMessage(strings.TrimSpace(text)))
			f.changed()
		}
		return
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if f.json == nil && f.cursor.field.kind == kindNumber {
		text = strings.TrimSpace(text)
	}
	f.editor.insert(text)
	f.typed()
}

// takesText says whether the cursor stands where text can be typed right away.
func (f *Form) takesText() bool {
	if f.cursor.add {
		return false
	}
	kind := f.cursor.field.kind
	return f.onKey || kind == kindText || kind == kindNumber || kind == kindJSON
}

// startEditing opens the text under the cursor where typing is on; else it closes
// what is open.
func (f *Form) startEditing() {
	f.closeEditor()
	if !f.focused || !f.typing {
		return
	}
	if f.json != nil {
		f.editor = f.json.editor
		return
	}
	f.place()
	if !f.takesText() {
		return
	}
	text := f.cursor.field.text
	if f.onKey {
		text = f.cursor.field.name
	}
	f.editor = newEditor(text)
	f.editor.lines = f.editor.several()
}

// edit begins typing at the cursor; of a choice it is the search for an option.
func (f *Form) edit() tea.Cmd {
	f.typing = true
	f.startEditing()
	if f.editor == nil && !f.cursor.add && f.cursor.field.kind == kindEnum {
		f.editor = newEditor("")
	}
	return nil
}

// leave ends typing: letters are commands now.
func (f *Form) leave() tea.Cmd {
	f.typing = false
	f.closeEditor()
	return nil
}

// typed takes over what the editor holds.
func (f *Form) typed() {
	defer f.changed()
	if f.json != nil {
		return
	}
	at, text := f.cursor.field, f.editor.String()
	f.editor.lines = f.editor.several()
	switch {
	case f.onKey:
		at.name, at.key = text, rawjson.Quote(text)
	case at.kind == kindEnum:
		at.search(text)
	case at.kind == kindText:
		at.enter()
		at.state, at.text, at.raw = valued, text, nil
	case text == "" && !at.row():
		at.clear()
	default:
		at.enter()
		at.state, at.text = valued, text
	}
}

// search takes the first option that begins with text, else that holds it.
func (f *field) search(text string) {
	text = strings.ToLower(text)
	for _, fits := range []func(s, part string) bool{strings.HasPrefix, strings.Contains} {
		for _, o := range f.shape.options {
			if text != "" && fits(strings.ToLower(o.String()), text) {
				f.enter()
				f.state, f.raw = valued, o.raw
				return
			}
		}
	}
}

// String is an option as it is shown: its label, or its value, text without quotes.
func (o option) String() string {
	switch {
	case o.label != "":
		return render.Safe(o.label)
	case rawjson.IsString(o.raw) && len(o.raw) > 2:
		return render.Safe(rawjson.Unquote(o.raw))
	}
	return render.Safe(string(o.raw))
}

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

// enterKey is what enter does while text is typed: a new line where there are
// several, else on to the next field.
func (f *Form) enterKey() tea.Cmd {
	switch {
	case f.editor.lines && !f.onKey:
		f.editor.insert("\n")
		f.typed()
	case f.last():
		return f.leave()
	default:
		return f.next()
	}
	return nil
}

// activate is what enter does where no text is typed.
func (f *Form) activate() tea.Cmd {
	at := f.cursor.field
	switch {
	case f.cursor.add:
		return f.addRow()
	case f.takesText():
		return f.edit()
	case at.kind == kindBool || at.kind == kindEnum && len(at.shape.options) <= fewOptions:
		return f.cycle(1)
	case at.kind == kindEnum:
		return f.edit()
	case at.kind == kindVariant && at.choice < 0:
		return f.cycle(1)
	}
	f.toggle(!at.open || at.state == nullness)
	return nil
}

// fewOptions is how many options are gone through one by one; more are searched.
const fewOptions = 5

// toggle opens or closes a group.
func (f *Form) toggle(open bool) {
	at := f.cursor.field
	if open && at.state == nullness {
		at.enter()
		at.state = unset
	}
	at.open = open
	if open {
		at.grow()
	}
	f.changed()
}

// sideways is what left and right do: options by turns, groups closed and opened.
func (f *Form) sideways(by int) tea.Cmd {
	switch at := f.cursor.field; {
	case f.cursor.add:
	case at.kind == kindObject || at.kind == kindArray:
		f.toggle(by > 0)
	case at.kind == kindBool || at.kind == kindEnum || at.kind == kindVariant:
		return f.cycle(by)
	}
	return nil
}

// cycle takes the next of the values that a field can have; one of them is to be
// left out, where that is possible.
func (f *Form) cycle(by int) tea.Cmd {
	at := f.cursor.field
	count, now := at.turn()
	least := -1
	if at.required || at.row() || at.parent == nil {
		least = 0
	}
	next := now + by
	switch {
	case next >= count:
		next = least
	case next < least:
		next = count - 1
	}
	at.enter()
	at.takeTurn(next)
	f.changed()
	return nil
}

// turn is how many values a field can be switched between, and which one it has.
func (f *field) turn() (count, now int) {
	switch {
	case f.kind == kindVariant:
		return len(f.shape.alternatives), f.choice
	case f.state != valued && f.kind == kindBool:
		return 2, -1
	case f.state != valued:
		return len(f.shape.options), -1
	case f.kind == kindBool && string(f.raw) == "true":
		return 2, 0
	case f.kind == kindBool:
		return 2, 1
	}
	return len(f.shape.options), f.option()
}

func (f *field) takeTurn(turn int) {
	switch {
	case f.kind == kindVariant:
		f.pick(turn)
	case turn < 0:
		f.clear()
	case f.kind == kindBool:
		f.state, f.raw = valued, json.RawMessage([]string{"true", "false"}[turn])
	default:
		f.state, f.raw = valued, f.shape.options[turn].raw
	}
}

// pick makes a variant one of its alternatives, or none.
func (f *field) pick(choice int) {
	f.state, f.choice, f.open = unset, choice, true
	if choice < 0 {
		return
	}
	inner := f.choose(choice)
	constant := inner.kind == kindEnum && len(inner.shape.options) == 1
	if !inner.present() && (f.row() || inner.group() || constant) {
		inner.begin()
	}
}

// setEmpty gives a group that is left out an empty value, and takes it back.
func (f *Form) setEmpty() tea.Cmd {
	at := f.cursor.field
	if !at.group() || at.kind == kindVariant {
		return f.activate()
	}
	if at.state != valued {
		at.enter()
		at.begin()
	} else {
		at.open = !at.open
	}
	f.changed()
	return nil
}

func (f *Form) setNull() tea.Cmd {
	at := f.cursor.field
	at.enter()
	at.clear()
	at.state = nullness
	f.changed()
	f.startEditing()
	return nil
}

func (f *Form) unset() tea.Cmd {
	f.cursor.field.clear()
	f.changed()
	f.startEditing()
	return nil
}

// offered are the values that the schema shows for a field.
func (f *field) offered() []*node {
	list := f.shape.examples
	if f.shape.fallback != nil {
		list = append(slices.Clone(list), f.shape.fallback)
	}
	return list
}

// offer gives the field the next of the values that the schema shows.
func (f *Form) offer() tea.Cmd {
	at := f.cursor.field
	list, next := at.offered(), 0
	if at.present() {
		now := write(at, false).out
		next = 1 + slices.IndexFunc(list, func(n *node) bool { return sameJSON(n.raw, now) })
	}
	at.enter()
	at.put(list[next%len(list)].raw)
	f.changed()
	f.startEditing()
	return nil
}

// addRow adds a row behind the one under the cursor, and goes there.
func (f *Form) addRow() tea.Cmd {
	within, child := f.container()
	at := len(within.children)
	if child != nil {
		at = max(child.place+1, within.named())
	}
	row := within.addRow(at)
	row.enter()
	within.state, within.open = valued, true
	row.begin()
	f.changed()
	f.goTo(row)
	return nil
}

// goTo puts the cursor on a row that was just made; of an object, on the first of
// its fields that is still to be filled in.
func (f *Form) goTo(at *field) {
	if first := slices.IndexFunc(at.children, func(c *field) bool { return !c.present() }); first >= 0 && !at.extra {
		at = at.children[first]
	}
	f.cursor, f.onKey, f.typing = row{field: at}, at.extra, true
	f.startEditing()
}

// named is how many of an object's fields its schema names; they stay where they are.
func (f *field) named() int {
	return slices.IndexFunc(append(slices.Clone(f.children), &field{extra: true}), func(c *field) bool { return c.extra || f.kind == kindArray })
}

func (f *Form) removeRow() tea.Cmd {
	within, child := f.container()
	place := f.place()
	within.children = slices.Delete(within.children, child.place, child.place+1)
	within.number(child.place)
	f.changed()
	return f.to(place)
}

func (f *Form) moveRow(by int) tea.Cmd {
	within, child := f.container()
	from, to := child.place, child.place+by
	within.children[from], within.children[to] = within.children[to], within.children[from]
	within.number(min(from, to))
	f.changed()
	return nil
}

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
