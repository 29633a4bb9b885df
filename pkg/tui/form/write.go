package form

import (
	"bytes"
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
	// mend writes null in place of text that is not JSON, so that the rest can be checked; else the
	// text is written as it was typed.
	mend bool
	// pretty writes a line for each member and row, depth how far in.
	pretty bool
	depth  int
}

// flaw says why a field is not JSON.
type flaw struct {
	field *field
	text  string
}

// write writes the JSON of a field that is present.
func write(f *field, mend bool) *writer {
	w := &writer{mend: mend}
	w.value(f)
	return w
}

func (w *writer) value(f *field) {
	if f.state == nullness {
		w.add("null")
		return
	}
	switch f.kind {
	case jsonschema.ShapeObject:
		w.object(f)
	case jsonschema.ShapeArray:
		w.array(f)
	case jsonschema.ShapeVariant:
		if inner := f.inner(); inner != nil && inner.present() {
			w.value(inner)
			return
		}
		w.missing(f)
	default:
		w.scalar(f)
	}
}

func (w *writer) scalar(f *field) {
	switch {
	case f.state == unset:
		w.missing(f)
	case f.kind == jsonschema.ShapeNumber || f.kind == jsonschema.ShapeJSON:
		w.typed(f)
	case f.raw != nil:
		w.add(string(f.raw))
	default:
		w.add(string(rawjson.Quote(f.text)))
	}
}

func (w *writer) object(f *field) {
	w.begin("{")
	seen, count := make(map[string]bool), 0
	for _, child := range f.children {
		if !child.present() {
			continue
		}
		if seen[child.name] {
			w.flaws = append(w.flaws, flaw{child, fmt.Sprintf("the key %q is there twice", child.name)})
			if w.mend {
				continue
			}
		}
		w.next(count)
		count++
		seen[child.name] = true
		w.add(string(child.key))
		w.add(w.colon())
		w.value(child)
	}
	w.end("}", count)
}

func (w *writer) array(f *field) {
	w.begin("[")
	for i, child := range f.children {
		w.next(i)
		w.value(child)
	}
	w.end("]", len(f.children))
}

// begin, next and end write what comes before, between and after the parts of a group, with line
// breaks if pretty is set.
func (w *writer) begin(sign string) {
	w.add(sign)
	w.depth++
}

func (w *writer) next(count int) {
	if count > 0 {
		w.add(",")
	}
	w.line()
}

func (w *writer) end(sign string, count int) {
	w.depth--
	if count > 0 {
		w.line()
	}
	w.add(sign)
}

func (w *writer) line() {
	if w.pretty {
		w.add("\n" + strings.Repeat("  ", w.depth))
	}
}

func (w *writer) colon() string {
	if w.pretty {
		return ": "
	}
	return ":"
}

// typed writes typed text as JSON.
func (w *writer) typed(f *field) {
	text := f.meant()
	if why := notJSON(text); why != "" {
		if f.kind == jsonschema.ShapeNumber {
			why = "not a number"
		}
		w.flaws = append(w.flaws, flaw{f, why})
		if w.mend || text == "" {
			text = "null"
		}
	}
	var lines bytes.Buffer
	if w.pretty && json.Indent(&lines, []byte(text), strings.Repeat("  ", w.depth), "  ") == nil {
		text = lines.String()
	}
	w.add(text)
}

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

func (w *writer) missing(f *field) {
	w.flaws = append(w.flaws, flaw{f, "no value yet"})
	w.add("null")
}

func (w *writer) add(text string) { w.out = append(w.out, text...) }

// notJSON returns why text is not exactly one JSON value that toolx accepts; empty if it is.
func notJSON(text string) string {
	if text == "" {
		return "empty where JSON is expected"
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
