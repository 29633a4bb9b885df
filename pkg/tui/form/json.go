package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// writer makes JSON of fields.
type writer struct {
	out []byte
	// flaws are the fields of which no JSON can be made.
	flaws []flaw
	// mend puts null in place of what is no JSON, so that the rest can be checked;
	// else it is written as it was typed.
	mend bool
	// pretty writes a line for each member and row, depth how far in.
	pretty bool
	depth  int
}

// flaw is why a field is not JSON.
type flaw struct {
	field *field
	text  string
}

// write makes the JSON of a field that is there.
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
	case kindObject:
		w.object(f)
	case kindArray:
		w.array(f)
	case kindVariant:
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
	case f.kind == kindNumber || f.kind == kindJSON:
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

// begin, next and end write what stands before, between and behind the parts of a
// group, with lines of their own where that is wanted.
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

// typed writes what was typed as JSON.
func (w *writer) typed(f *field) {
	text := strings.TrimSpace(f.text)
	if why := notJSON(text); why != "" {
		if f.kind == kindNumber {
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

func (w *writer) missing(f *field) {
	w.flaws = append(w.flaws, flaw{f, "no value yet"})
	w.add("null")
}

func (w *writer) add(text string) { w.out = append(w.out, text...) }

// notJSON says why text is not exactly one JSON value as toolx takes it; empty where
// it is one.
func notJSON(text string) string {
	if text == "" {
		return "empty where JSON is expected"
	}
	schema, err := exec.CompileSchema(nil)
	if err != nil {
		return err.Error()
	}
	problems, err := schema.CheckValue(json.RawMessage(text))
	switch {
	case err != nil:
		return err.Error()
	case len(problems) > 0:
		return problems[0].Detail
	}
	return ""
}

// put fills a field in. A value that the field's kind cannot show makes it a JSON
// field, so that nothing is lost.
func (f *field) put(raw json.RawMessage) {
	f.clear()
	switch {
	case f.kind == kindNumber || f.kind == kindJSON:
		f.state, f.text = valued, string(compact(raw))
	case f.shape.nullable && string(raw) == "null":
		f.state = nullness
	case f.kind == kindVariant:
		f.putVariant(raw)
	case !f.fits(raw):
		f.putJSON(raw)
	default:
		f.state = valued
		f.putValue(raw)
	}
}

// putJSON makes the field a JSON field until it is unset.
func (f *field) putJSON(raw json.RawMessage) {
	f.kind, f.state, f.text = kindJSON, valued, string(compact(raw))
}

// compact takes the spaces out of JSON, and nothing else.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// fits says whether the field's kind can show a value.
func (f *field) fits(raw json.RawMessage) bool {
	switch f.kind {
	case kindText:
		return typeOf(raw) == typeString
	case kindBool:
		return typeOf(raw) == typeBoolean
	case kindObject:
		return typeOf(raw) == typeObject
	case kindArray:
		return typeOf(raw) == typeArray
	}
	return true
}

func (f *field) putValue(raw json.RawMessage) {
	switch f.kind {
	case kindObject:
		f.putMembers(raw)
	case kindArray:
		elements, _ := rawjson.Elements(raw)
		for _, element := range elements {
			f.addRow(len(f.children)).put(element)
		}
	case kindText:
		f.raw, f.text = raw, rawjson.Unquote(raw)
	default:
		f.raw = compact(raw)
	}
	f.open = len(f.children) <= maxOpen
}

// maxOpen is how many rows a group may have to be shown at once.
const maxOpen = 50

// putMembers fills in the fields that the schema names, and keeps all other members
// as rows behind them.
func (f *field) putMembers(raw json.RawMessage) {
	f.grow()
	named := f.byName()
	for m := range rawjson.Each(raw) {
		if child := named[m.Name]; child != nil {
			child.key = m.Key
			child.put(m.Value)
			continue
		}
		f.addMember(m)
	}
}

// byName are the fields of an object by their names.
func (f *field) byName() map[string]*field {
	named := make(map[string]*field, len(f.children))
	for _, child := range f.children {
		named[child.name] = child
	}
	return named
}

// addMember adds a member that the schema does not name.
func (f *field) addMember(m rawjson.Member) {
	child := f.addRow(len(f.children))
	child.name, child.key = m.Name, m.Key
	child.put(m.Value)
}

// putVariant takes the alternative that a value fits best.
func (f *field) putVariant(raw json.RawMessage) {
	choice := f.alternative(raw)
	if choice < 0 {
		f.putJSON(raw)
		return
	}
	f.choose(choice).put(raw)
	f.open = true
}

// alternative is the one that a value fits best, -1 where it fits none.
func (f *field) alternative(raw json.RawMessage) int {
	best, choice := 0, -1
	for i, a := range f.shape.alternatives {
		if allowed(a.parts)&typeOf(raw) == 0 {
			continue
		}
		if points := score(a.parts, raw); choice < 0 || points > best {
			best, choice = points, i
		}
	}
	return choice
}

// score says how well a value of the right type fits an alternative: constants count
// most, then what is required, then names that are known.
func score(parts []*node, raw json.RawMessage) int {
	points := 0
	if choices := options(parts); choices != nil {
		points -= 100
		for _, choice := range choices {
			if sameJSON(choice.raw, raw) {
				points += 200
				break
			}
		}
	}
	if typeOf(raw)&typeNumber != 0 && strings.ContainsAny(string(raw), ".eE") && allowed(parts)&typeNumber == 0 {
		points -= 50
	}
	if typeOf(raw) == typeArray {
		return points + scoreElement(parts, raw)
	}
	return points + scoreMembers(parts, raw)
}

func scoreElement(parts []*node, raw json.RawMessage) int {
	elements, _ := rawjson.Elements(raw)
	items := first(parts, "items")
	if len(elements) > 0 && items != nil && own(items)&typeOf(elements[0]) == 0 {
		return -50
	}
	return 0
}

func scoreMembers(parts []*node, raw json.RawMessage) int {
	given := make(map[string]json.RawMessage)
	for m := range rawjson.Each(raw) {
		given[m.Name] = m.Value
	}
	points := 0
	for name := range requiredNames(parts) {
		if _, ok := given[name]; !ok {
			points -= 10
		}
	}
	for _, part := range parts {
		for _, m := range part.get("properties").all() {
			value, ok := given[m.name]
			if !ok {
				continue
			}
			points++
			if only := m.node.get("const"); only != nil && !sameJSON(only.raw, value) {
				points -= 100
			}
			if own(m.node)&typeOf(value) == 0 {
				points -= 5
			}
		}
	}
	return points
}
