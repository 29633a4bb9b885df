package form

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// value draws the value of a row, or the text being typed if it is open.
func (p *painter) value(r row, current bool) string {
	room := max(2, p.width-p.valueLeft)
	if current && p.form.editor != nil && !p.form.onKey {
		return p.typing(r.field, room)
	}
	return p.closed(r.field, current, room)
}

// typing draws a line of text that is being typed: for a choice with the option that it finds, and if
// it is empty with what is allowed.
func (p *painter) typing(f *field, room int) string {
	p.opened(p.valueLeft, p.width, 0, 1)
	if f.words() != nil {
		view := p.form.editor.view(p.theme, max(2, room/2), 1)
		sign := p.theme.Paint(pane.Dim, " = ")
		if text := p.form.editor.String(); text != "" && f.search(text) < 0 {
			sign = p.theme.Paint(pane.Warn, " matches no value; still ")
		}
		return view[0] + sign + p.closed(f, true, room)
	}
	if words := f.meant(); f.kindless() && words != strings.TrimSpace(f.text) {
		view := p.form.editor.view(p.theme, max(2, room/2), 1)
		return view[0] + p.theme.Paint(pane.Dim, " = ") + p.closed(f, true, room)
	}
	view := p.form.editor.view(p.theme, room, 1)
	if len(p.form.editor.text) == 0 {
		return view[0] + p.closed(f, true, room)
	}
	return view[0]
}

// closed draws a value that is not being typed.
func (p *painter) closed(f *field, current bool, room int) string {
	switch {
	case f.state == nullness:
		return "null"
	case f.kind == jsonschema.ShapeVariant:
		return p.variant(f, current) + p.trouble(f)
	case f.holdsFields():
		return p.group(f) + p.trouble(f)
	case f.state == unset:
		return p.absent(f)
	case f.kind == jsonschema.ShapeText && f.text == "":
		return p.theme.Paint(pane.Dim, `""`)
	case f.kind == jsonschema.ShapeText, f.kind == jsonschema.ShapeNumber:
		return safe(f.text, room)
	case f.kind == jsonschema.ShapeBool:
		return p.switched(f)
	case f.kind == jsonschema.ShapeEnum:
		return p.chosen(f, current)
	}
	return p.theme.Paint(pane.Dim, "JSON ") + safe(f.meant(), room)
}

// absent draws what is allowed where there is no value.
func (p *painter) absent(f *field) string {
	hint := p.theme.Paint(pane.Dim, hint(f.shape))
	if f.needed() {
		return p.theme.Paint(pane.Warn, "required") + p.theme.Paint(pane.Dim, ": ") + hint
	}
	return hint
}

// needed reports whether the call needs the field. A field that is required within an optional group
// is needed once the group is present.
func (f *field) needed() bool {
	around := f.parent
	if around == nil || !f.required && !f.row() {
		return false
	}
	return around.parent == nil || around.present() || around.needed()
}

func (p *painter) switched(f *field) string {
	sign := p.theme.Glyphs.Off
	if string(f.raw) == "true" {
		sign = p.theme.Glyphs.On
	}
	return sign + " " + safe(string(f.raw), 8)
}

// chosen draws one of several values, and under the cursor its number among them.
func (p *painter) chosen(f *field, current bool) string {
	at := f.option()
	text := optionText(jsonschema.Option{Raw: f.raw})
	if at >= 0 {
		text = optionText(f.shape.Options[at])
	}
	if !current {
		return text
	}
	return p.turning(text, at, len(f.shape.Options))
}

// optionText returns an option as it is shown: its label, or its value. Text is unquoted if it cannot
// be mistaken for another value.
func optionText(o jsonschema.Option) string {
	if o.Label != "" {
		return render.Safe(o.Label)
	}
	text := string(o.Raw)
	if rawjson.IsString(o.Raw) {
		if plain := rawjson.Unquote(o.Raw); plain != "" && !json.Valid([]byte(plain)) {
			text = plain
		}
	}
	return render.Safe(text)
}

// turns reports whether left and right change a field's value, as turning marks.
func (f *field) turns() bool {
	return f.kind == jsonschema.ShapeEnum && f.state == valued && len(f.shape.Options) > 1 ||
		f.kind == jsonschema.ShapeVariant && f.choice >= 0 && len(f.shape.Alternatives) > 1
}

// turning marks what left and right change.
func (p *painter) turning(text string, at, count int) string {
	if count < 2 {
		return text
	}
	dim := func(text string) string { return p.theme.Paint(pane.Dim, text) }
	return dim("< ") + text + dim(fmt.Sprintf(" > %d/%d", at+1, count))
}

func (p *painter) variant(f *field, current bool) string {
	if f.choice < 0 {
		return p.absent(f)
	}
	text := p.theme.Paint(pane.Accent, safe(f.shape.Alternatives[f.choice].Label, p.width))
	if !f.present() {
		text += p.theme.Paint(pane.Dim, ", not set")
	}
	if !current {
		return text
	}
	return p.turning(text, f.choice, len(f.shape.Alternatives))
}

// group returns how much an object or array contains.
func (p *painter) group(f *field) string {
	if !f.present() {
		return p.absent(f)
	}
	if f.kind == jsonschema.ShapeArray {
		return p.theme.Paint(pane.Dim, words.Count(len(f.children), "row"))
	}
	count := 0
	for _, child := range f.children {
		if child.present() {
			count++
		}
	}
	if count == 0 {
		return p.theme.Paint(pane.Dim, "{}")
	}
	return p.theme.Paint(pane.Dim, fmt.Sprintf("%d set", count))
}

// trouble returns how many problems a closed group hides.
func (p *painter) trouble(f *field) string {
	count := p.verdict.inside[f]
	if count == 0 || f.open && f.state != nullness {
		return ""
	}
	return " " + p.theme.Paint(pane.Bad, p.theme.Glyphs.Bad+" "+words.Count(count, "problem")+" inside")
}
