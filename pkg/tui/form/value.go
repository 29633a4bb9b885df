package form

import (
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// typing draws a line of text that is being typed: for a choice with the option that it finds, and if
// it is empty with what is allowed.
func (p *painter) typing(f *field, room int) string {
	editor := p.form.editor
	var after string
	p.opened(p.valueLeft, p.width, 0, 1)
	switch text := editor.String(); {
	case f.switches() && text != "" && choice{f}.search(text) < 0:
		after = p.theme.Paint(pane.Warn, " matches no value; still ")
	case f.switches(), f.takesWords() && f.meant() != strings.TrimSpace(string(f.raw)):
		after = p.theme.Paint(pane.Dim, " = ")
	case text != "":
		return editor.view(p.theme, room, 1)[0]
	default:
		return editor.view(p.theme, room, 1)[0] + p.closed(f, true, room)
	}
	return editor.view(p.theme, max(2, room/2), 1)[0] + after + p.closed(f, true, room)
}

// closed draws a value that is not being typed.
func (p *painter) closed(f *field, current bool, room int) string {
	switch {
	case f.null():
		return "null"
	case f.group():
		return p.group(f, current) + p.trouble(f)
	case f.raw == nil:
		return p.absent(f)
	case f.switches():
		return p.chosen(choice{f}, current)
	case f.kind == jsonschema.ShapeJSON:
		return p.theme.Paint(pane.Dim, "JSON ") + safe(f.meant(), room)
	case f.kind == jsonschema.ShapeText && f.text() == "":
		return p.theme.Paint(pane.Dim, `""`)
	}
	return safe(f.text(), room)
}

// absent draws what is allowed where there is no value.
func (p *painter) absent(f *field) string {
	hint := p.theme.Paint(pane.Dim, hint(f.shape))
	if f.needed() {
		return p.theme.Paint(pane.Warn, "required") + p.theme.Paint(pane.Dim, ": ") + hint
	}
	return hint
}

// chosen draws one of several values, and under the cursor its number among them.
func (p *painter) chosen(c choice, current bool) string {
	at, _ := c.chosen()
	text := optionText(jsonschema.Option{Raw: c.raw})
	switch {
	case c.kind == jsonschema.ShapeBool && string(c.raw) == "true":
		return p.theme.Glyphs.On + " true"
	case c.kind == jsonschema.ShapeBool:
		return p.theme.Glyphs.Off + " " + text
	case at >= 0:
		text = optionText(c.shape.Options[at])
	}
	return p.turning(text, c, current)
}

// turning marks under the cursor what left and right change.
func (p *painter) turning(text string, c choice, current bool) string {
	if !current || !c.turns() {
		return text
	}
	at, count := c.chosen()
	dim := func(text string) string { return p.theme.Paint(pane.Dim, text) }
	return dim("< ") + text + dim(fmt.Sprintf(" > %d/%d", at+1, count))
}

// group draws how much an object or array contains, or the alternative of a variant.
func (p *painter) group(f *field, current bool) string {
	dim := func(text string) string { return p.theme.Paint(pane.Dim, text) }
	count := 0
	for _, child := range f.inside() {
		if child.present() {
			count++
		}
	}
	switch {
	case f.kind == jsonschema.ShapeVariant && f.alternative >= 0:
		text := p.theme.Paint(pane.Accent, safe(f.shape.Alternatives[f.alternative].Label, p.width))
		if !f.present() {
			text += dim(", not set")
		}
		return p.turning(text, choice{f}, current)
	case !f.present():
		return p.absent(f)
	case f.kind == jsonschema.ShapeArray:
		return dim(words.Count(count, "row"))
	case count == 0:
		return dim("{}")
	}
	return dim(fmt.Sprintf("%d set", count))
}

// trouble returns how many problems a closed group hides.
func (p *painter) trouble(f *field) string {
	if f.trouble == 0 || f.open && !f.null() {
		return ""
	}
	return " " + p.theme.Paint(pane.Bad, p.theme.Glyphs.Bad+" "+words.Count(f.trouble, "problem")+" inside")
}
