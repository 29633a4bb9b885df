package form

import (
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Typed returns the parameter whose text is under the cursor, and the text so far. It is a parameter
// of the tool, or a row in one that is a list. ok is false for anything else, and while the arguments
// are edited as JSON.
func (f *Form) Typed() (name, text string, ok bool) {
	if f.json != nil {
		return "", "", false
	}
	f.place()
	at := f.cursor.field
	if f.cursor.add || f.onKey || at.kind != jsonschema.ShapeText {
		return "", "", false
	}
	parameter := at
	if at.parent != nil && at.parent.kind == jsonschema.ShapeArray {
		parameter = at.parent
	}
	if parameter.parent != f.root || parameter.extra {
		return "", "", false
	}
	return parameter.name, at.text, true
}

// Type replaces the text under the cursor; it does nothing where Typed has no text.
func (f *Form) Type(text string) {
	if _, _, ok := f.Typed(); !ok {
		return
	}
	at := f.cursor.field
	at.enter()
	at.put(rawjson.Quote(text))
	f.replaced()
}
