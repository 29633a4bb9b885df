package form

import (
	"bytes"
	"encoding/json"

	"toolx/pkg/tui/pane"
)

// jsonText is the whole form, typed as JSON.
type jsonText struct {
	*editor
	// before is the text that was made from the fields. If it did not change, the fields are kept,
	// with the state that JSON does not express.
	before string
}

// indent writes JSON over several lines; other text stays as it is.
func indent(text []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return out.String()
}

// AsJSON reports whether the form is edited as JSON.
func (f *values) AsJSON() bool { return f.json != nil }

// EditText opens the JSON editor with a text, for instance from an external editor; it need not be JSON.
func (f *Form) EditText(text string) {
	if f.json == nil {
		f.openJSON(writeLines(f.root))
	}
	f.json.editor = newEditor(text)
	f.openEditor()
}

// openJSON opens the JSON editor with the text of the fields.
func (f *Form) openJSON(text string) {
	f.json = &jsonText{newEditor(text), text}
	f.openEditor()
}

func (f *Form) openEditor() {
	f.json.move(0)
	f.typing = true
	f.replaced()
}

// toFields returns from JSON to the fields. Broken JSON stays open, with the cursor at the error.
func (f *Form) toFields() {
	text := f.json.String()
	if text != f.json.before {
		if notObject([]byte(text)) != nil {
			if at, broken := brokenAt([]byte(text)); broken {
				f.json.move(len([]rune(text[:at])))
			}
			f.edit()
			return
		}
		path := f.cursor.field.path()
		f.fill(json.RawMessage(bytes.TrimSpace([]byte(text))))
		f.changed()
		if place := f.find(path, false); place >= 0 {
			f.cursor, f.onKey = f.visible()[place], false
		}
	}
	f.json, f.editor = nil, nil
	f.replaced() // typing goes on where it was
}

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
	page := f.screen.list.Page()
	change := func(do func()) func() { return func() { do(); f.typed() } }
	noUndo := pane.Off(len(f.json.past) == 0, "there is nothing to undo")
	return append(list,
		bind("select all", f.json.selectAll, "ctrl+a"), bind("clear", change(f.json.clear), "ctrl+u"),
		bindUnless(noUndo, "undo", change(f.json.undo), "alt+u", "ctrl+_"),
		bind("stop typing", f.StopTyping, "esc"), bind("new line", func() { f.insert("\n") }, "enter"),
		bind("indent", func() { f.insert("  ") }, "tab"),
		bind("a line down", lines(1), "down"), bind("a line up", lines(-1), "up"),
		bind("a page down", lines(page), "pgdown"), bind("a page up", lines(-page), "pgup"))
}

// renderJSON draws the JSON editor, with the problems below it.
func (f *Form) renderJSON(width, height int) string {
	p := &painter{form: f, theme: f.theme, width: width, verdict: f.check()}
	var notes []string
	if height > 1 {
		place := "JSON, " + f.json.whereabouts() + "; f2 returns to the fields"
		notes = append(p.remarks(p.verdict.below, height/3), p.fit(p.theme.Paint(pane.Dim, place)))
	}
	room := max(1, height-len(notes))
	f.screen.list.Window(0, room)
	return f.theme.Block(append(fill(f.json.view(f.theme, width, room), room), notes...), width, height)
}
