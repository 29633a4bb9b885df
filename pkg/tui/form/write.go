package form

import (
	"context"
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
	case f.state == nullness:
		w.add("null")
	case f.kind == jsonschema.ShapeObject:
		w.object(f)
	case f.kind == jsonschema.ShapeArray:
		w.add("[")
		for i, child := range f.children {
			w.comma(i)
			w.value(child)
		}
		w.add("]")
	case f.kind == jsonschema.ShapeVariant && f.inner() != nil && f.inner().present():
		w.value(f.inner())
	case f.kind == jsonschema.ShapeVariant || f.state == unset:
		w.flaws = append(w.flaws, flaw{f, "no value yet"})
		w.add("null")
	case f.kind == jsonschema.ShapeNumber || f.kind == jsonschema.ShapeJSON:
		w.typed(f)
	case f.raw != nil:
		w.add(string(f.raw))
	default:
		w.add(string(rawjson.Quote(f.text)))
	}
}

func (w *writer) object(f *field) {
	w.add("{")
	seen, count := make(map[string]bool), 0
	for _, child := range f.children {
		if !child.present() {
			continue
		}
		if seen[child.name] {
			w.flaws = append(w.flaws, flaw{child, fmt.Sprintf("the key %q occurs twice", child.name)})
			if w.distinct {
				continue
			}
		}
		w.comma(count)
		count++
		seen[child.name] = true
		w.add(string(child.key) + ":")
		w.value(child)
	}
	w.add("}")
}

func (w *writer) comma(count int) {
	if count > 0 {
		w.add(",")
	}
}

// typed writes typed text as JSON.
func (w *writer) typed(f *field) {
	text := f.meant()
	if why := notJSON(text); why != "" {
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
	text := strings.TrimSpace(f.text)
	if !f.kindless() || text == "" || strings.ContainsAny(text[:1], `{["-0123456789`) || json.Valid([]byte(text)) {
		return text
	}
	return string(rawjson.Quote(text))
}

// kindless reports whether the schema allows any value of the field.
func (f *field) kindless() bool {
	return f.kind == jsonschema.ShapeJSON && f.shape.Kind == jsonschema.ShapeJSON && f.shape.Why == jsonschema.AnyValue
}

// notJSON returns why text is not exactly one JSON value that toolx accepts; empty if it is.
func notJSON(text string) string {
	if text == "" {
		return "JSON is expected here"
	}
	schema, err := jsonschema.Parse(nil).Compile(context.Background())
	if err != nil {
		return err.Error()
	}
	problems, err := schema.CheckValue(context.Background(), json.RawMessage(text))
	switch {
	case err != nil:
		return err.Error()
	case len(problems) > 0:
		return problems[0].Detail
	}
	return ""
}
