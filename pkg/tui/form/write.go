package form

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// writer writes fields as JSON.
type writer struct {
	out []byte
	// flaws are the fields whose text is not JSON.
	flaws []flaw
	// stand returns a replacement for text that is not JSON.
	stand func(text string) string
	// distinct reports whether the second of two equal keys is left out.
	distinct bool
}

// flaw says why a field is not JSON.
type flaw struct {
	field *field
	text  string
}

// write writes the JSON of a field that is present. Text that is not JSON is written as it was typed.
func write(f *field) *writer {
	return (&writer{stand: func(text string) string { return text }}).write(f)
}

// writeCheckable writes null in place of text that is not JSON, so that the rest can be checked.
func writeCheckable(f *field) *writer {
	return (&writer{stand: func(string) string { return "null" }, distinct: true}).write(f)
}

// writeLines writes a line for each member and row. Text that is not JSON stays as it was typed.
func writeLines(f *field) string {
	var typed []string
	w := &writer{stand: func(text string) string {
		mark := fmt.Sprintf(`"\u0000 %d"`, len(typed)/2) // no one types this
		typed = append(typed, mark, text)
		return mark
	}}
	lines := indent(w.write(f).out)
	return strings.NewReplacer(typed...).Replace(lines)
}

func (w *writer) write(f *field) *writer {
	if f.parent == nil && f.kind == jsonschema.ShapeVariant && !f.present() {
		w.add("{}") // nothing is chosen
	} else {
		w.value(f)
	}
	return w
}

func (w *writer) value(f *field) {
	switch {
	case f.null():
		w.add("null")
	case f.holdsFields():
		w.members(f)
	case f.kind == jsonschema.ShapeVariant && f.present():
		w.value(f.inside()[0])
	case f.raw == nil:
		w.flaws = append(w.flaws, flaw{f, "no value yet"})
		w.add("null")
	case f.kind == jsonschema.ShapeNumber || f.kind == jsonschema.ShapeJSON:
		w.typed(f)
	default:
		w.add(string(f.raw))
	}
}

// members writes an object or an array.
func (w *writer) members(f *field) {
	object, brackets := f.kind == jsonschema.ShapeObject, "[]"
	if object {
		brackets = "{}"
	}
	w.add(brackets[:1])
	seen, separator := make(map[string]bool), ""
	for _, child := range f.children {
		if !child.present() {
			continue
		}
		if object && seen[child.name] {
			w.flaws = append(w.flaws, flaw{child, fmt.Sprintf("the key %q occurs twice", child.name)})
			if w.distinct {
				continue
			}
		}
		seen[child.name] = true
		w.add(separator)
		if separator = ","; object {
			w.add(string(child.key) + ":")
		}
		w.value(child)
	}
	w.add(brackets[1:])
}

// typed writes typed text as JSON.
func (w *writer) typed(f *field) {
	text := f.meant()
	if err := rawjson.Check([]byte(text)); err != nil {
		why := err.Error()
		if f.kind == jsonschema.ShapeNumber {
			why = "not a number"
		}
		w.flaws = append(w.flaws, flaw{f, why})
		if text != "" {
			text = w.stand(text)
		} else {
			text = "null"
		}
	}
	w.add(text)
}

func (w *writer) add(text string) { w.out = append(w.out, text...) }

// meant returns the JSON that text typed into a field stands for. If the field allows any value, words
// are strings without quotes, as on the command line; text that begins like JSON has to be JSON.
func (f *field) meant() string {
	text := strings.TrimSpace(string(f.raw))
	if !f.takesWords() || text == "" || strings.ContainsAny(text[:1], `{["-0123456789`) || json.Valid([]byte(text)) {
		return text
	}
	return string(rawjson.Quote(text))
}

// takesWords reports whether the schema allows any value of the field.
func (f *field) takesWords() bool {
	return f.kind == jsonschema.ShapeJSON && f.shape.Kind == jsonschema.ShapeJSON && f.shape.Why == jsonschema.AnyValue
}
