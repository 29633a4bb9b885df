package form

import (
	"bytes"
	"encoding/json"
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

// toJSON turns the fields into JSON to edit. Text in a field that is not JSON is included as it is.
func (f *Form) toJSON() { f.openJSON(writeLines(f.root)) }

// Draft returns what is typed now as JSON to edit. Text that is not JSON yet is included as it is.
func (f *values) Draft() string { return indent(f.snapshot()) }

// EditText opens the JSON editor with a text, for instance from an external editor; it need not be JSON.
func (f *Form) EditText(text string) {
	if f.json == nil {
		f.toJSON()
	}
	f.openJSON(text)
}

func (f *Form) openJSON(text string) {
	before := text
	if f.json != nil {
		before = f.json.before
	}
	f.json = &jsonText{editor: newEditor(text), before: before}
	f.json.move(0)
	f.typing = true
	f.replaced()
}

// toFields returns from JSON to the fields. Broken JSON stays open, with the cursor at the error.
func (f *Form) toFields() {
	text := f.json.String()
	if text != f.json.before {
		if notObject([]byte(text)) != nil {
			if at, broken := brokenAt(text); broken {
				f.json.move(len([]rune(text[:at])))
			}
			f.edit()
			return
		}
		path := f.cursor.field.path()
		f.fill(json.RawMessage(bytes.TrimSpace([]byte(text))))
		if place := f.find(path, false); place >= 0 {
			f.cursor, f.onKey = f.visible()[place], false
		}
	}
	f.json, f.editor = nil, nil
	f.changed()
	f.place()
	f.startEditing()
	f.keepText() // typing goes on where it was
}
