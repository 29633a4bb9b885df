package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/jsonschema"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// screen is what was drawn last, for the mouse and for paging.
type screen struct {
	list      pane.List // of lines; its cursor is the first line of the row under the cursor
	lines     []line
	drawn     []drawnLine // the visible lines
	valueLeft int         // where values begin
	// Where the open text was drawn: its cells from left up to right, its first line and how many lines it has.
	editorLeft, editorRight, editorTop, editorLines int
}

// drawnLine is a visible line: its row, which is empty if it belongs to no field, and how wide its text is.
type drawnLine struct {
	row
	width int
}

func (s *screen) inEditor(x, y int) bool {
	return y >= s.editorTop && y < s.editorTop+s.editorLines && x >= s.editorLeft && x < s.editorRight
}

// follow scrolls the cursor into view again.
func (s *screen) follow() { s.list.Move(0, s.list.Extent().Rows) }

// Render draws the form into exactly width by height cells, scrolled to the field under the cursor.
func (f *Form) Render(width, height int) string {
	if f.json != nil {
		return f.renderJSON(width, height)
	}
	p := &painter{form: f, theme: f.theme, width: width, verdict: f.check()}
	footer := p.footer(height)
	p.height = max(1, height-len(footer))
	p.layout(f.visible())
	return f.theme.Block(append(fill(p.draw(f.visible(), f.place()), p.height), footer...), width, height)
}

// Lines returns how many lines the form would take without scrolling, with those that explain the field.
func (f *Form) Lines() int {
	const footer = 5
	return f.Fields() + footer
}

// Extent returns the visible part of the fields.
func (f *Form) Extent() pane.Extent {
	if f.json != nil {
		return pane.Extent{}
	}
	return f.screen.list.Extent()
}

// fill cuts or pads lines to count.
func fill(lines []string, count int) []string {
	if len(lines) > count {
		return lines[:count]
	}
	return append(lines, make([]string, count-len(lines))...)
}

// painter draws one frame.
type painter struct {
	form          *Form
	theme         *pane.Theme
	verdict       *verdict
	width, height int
	valueLeft     int
}

// indentOf returns where the name of a row begins. Deep levels are not indented further: there is no room.
func indentOf(r row) int {
	const deepest = 6
	level := r.field.depth - 1
	variant := r.field.parent != nil && r.field.parent.kind == jsonschema.ShapeVariant
	if r.add || variant && !r.field.group() {
		level++
	}
	return 2 * max(0, min(level, deepest))
}

// layout sets the column of the values: after the longest label, within limits.
func (p *painter) layout(rows []row) {
	longest := 0
	limit := max(8, min(p.width/2, 20+p.width/5))
	for _, r := range rows {
		around := r.field.parent
		last := around == nil || around.kind != jsonschema.ShapeArray || r.field.place == len(around.children)-1
		if !r.add && last && longest < limit { // no row has a longer number than the last one
			longest = max(longest, indentOf(r)+ansi.StringWidth(safe(r.field.label(), limit)))
		}
	}
	p.valueLeft = min(limit, longest+6) // the cursor, the sign of a group, and the star of a required field
	p.form.screen.valueLeft = p.valueLeft
}

// line is a line of the form. It is only drawn if it is visible: there may be very many.
type line struct {
	row   row
	note  *note  // of the row; nil for the row itself
	drawn string // empty if it is yet to be drawn
}

// draw returns the visible lines.
func (p *painter) draw(rows []row, at int) []string {
	s := &p.form.screen
	lines := s.lines[:0]
	s.editorLines = 0
	for i, r := range rows {
		if i == at {
			s.list.Cursor = len(lines)
			for _, text := range p.current(r) {
				lines = append(lines, line{row: r, drawn: text})
			}
			s.list.Span = len(lines) - s.list.Cursor
			continue
		}
		lines = append(lines, line{row: r})
		notes := r.notes()
		for i := range notes {
			lines = append(lines, line{row: r, note: &notes[i]})
		}
	}
	for _, text := range p.remarks(p.verdict.below, maxBelow) {
		lines = append(lines, line{drawn: text})
	}
	if at == len(rows)-1 {
		s.list.Span = len(lines) - s.list.Cursor
	}
	from, to := s.list.Window(len(lines), p.height)
	s.lines, s.drawn = lines, s.drawn[:0]
	s.editorTop += s.list.Cursor - from
	var texts []string
	for _, l := range lines[from:to] {
		text := l.drawn
		switch {
		case text != "":
		case l.note != nil:
			text = p.noteLines(*l.note, l.note.text)[0]
		default:
			text = p.row(l.row)
		}
		texts = append(texts, text)
		s.drawn = append(s.drawn, drawnLine{l.row, p.theme.Width(strings.TrimRight(ansi.Strip(text), " "))})
	}
	return texts
}

// row draws a row that is not under the cursor.
func (p *painter) row(r row) string {
	line := p.head(r, false)
	if r.add {
		return line
	}
	return p.fit(line + p.closed(r.field, false, max(2, p.width-p.valueLeft)))
}

// current draws all lines of the row under the cursor, with its remarks in full.
func (p *painter) current(r row) []string {
	line, editor := p.head(r, true), p.form.editor
	room := max(2, p.width-p.valueLeft)
	switch {
	case editor != nil && editor.several():
		line = p.fit(line + p.theme.Paint(pane.Dim, editor.whereabouts()))
		return append([]string{line}, append(p.openText(), p.wrappedNotes(r)...)...)
	case r.add:
	case editor != nil && !p.form.onKey:
		line = p.fit(line + p.typing(r.field, room))
	default:
		line = p.fit(line + p.closed(r.field, true, room))
	}
	if p.theme.Fine {
		line = p.theme.UnderCursor(line, p.form.focused, p.width)
	}
	return append([]string{line}, p.wrappedNotes(r)...)
}

func (p *painter) fit(line string) string { return p.theme.Cut(line, p.width) }

func (p *painter) wrappedNotes(r row) []string {
	var lines []string
	for _, n := range r.notes() {
		lines = append(lines, p.noteLines(n, p.wrap(n)...)...)
	}
	return lines
}

func (p *painter) wrap(n note) []string { return pane.Wrap(n.text, max(1, p.width-6)) }

// noteLines draws the lines of a remark, the first with its sign.
func (p *painter) noteLines(n note, texts ...string) []string {
	role, sign := pane.Bad, p.theme.Glyphs.Bad
	if n.warning {
		role, sign = pane.Warn, p.theme.Glyphs.Warn
	}
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = p.fit("    " + p.theme.Paint(role, p.theme.Fit(sign, 2)+text))
		sign = ""
	}
	return lines
}

// maxBelow is the most lines for the remarks below the fields.
const maxBelow = 20

// remarks draws up to most lines of remarks, the last of which counts those left out.
func (p *painter) remarks(notes []note, most int) []string {
	var lines []string
	for at, n := range notes {
		wrapped := p.wrap(n)
		room := most - len(lines)
		if at < len(notes)-1 {
			room-- // for the count of the others
		}
		switch {
		case len(wrapped) <= room:
		case at == 0:
			wrapped = []string{n.text} // will be cut, with a mark
		default:
			more := fmt.Sprintf("    and %d more", len(notes)-at)
			return append(lines, p.fit(p.theme.Paint(pane.Dim, more)))
		}
		lines = append(lines, p.noteLines(n, wrapped...)...)
	}
	return lines
}

// head draws what comes before the value: cursor, indent, fold sign, name.
func (p *painter) head(r row, current bool) string {
	cursor := "  "
	if current {
		cursor = p.theme.Fit(p.theme.Glyphs.Cursor, 1) + " "
	}
	before := cursor + strings.Repeat(" ", min(indentOf(r), max(0, p.valueLeft-8)))
	if r.add {
		text := "+ add a row"
		switch {
		case r.field.silent():
			text = "needs no parameters; ctrl+a adds one"
		case !r.field.takesRows():
			text = "takes no parameters"
		case r.field.parent == nil:
			text = "+ add a parameter"
		}
		return p.fit(before + "  " + p.name(text, pane.Dim, current))
	}
	before += p.sign(r.field)
	left, star := ansi.StringWidth(before), ""
	if current && p.form.onKey && p.form.editor != nil {
		p.opened(left, p.valueLeft, 0, 1)
		return p.theme.Fit(before+p.form.editor.view(p.theme, max(2, p.valueLeft-left-1), 1)[0], p.valueLeft-1) + " "
	}
	if r.field.required {
		star = p.theme.Paint(pane.Accent, "*")
	}
	room := max(1, p.valueLeft-left-2)
	label := p.theme.Cut(safe(r.field.label(), room), room)
	return p.theme.Fit(before+p.name(label, pane.Plain, current)+star, p.valueLeft-1) + " "
}

// name draws a label, highlighted under the cursor unless the whole row is.
func (p *painter) name(text string, role pane.Role, current bool) string {
	switch {
	case p.theme.Fine:
	case current && p.form.focused:
		role = pane.Selected
	case current:
		role = pane.Tinted
	}
	return p.theme.Paint(role, text)
}

// sign draws whether a group is open.
func (p *painter) sign(f *field) string {
	switch {
	case !f.group():
		return "  "
	case f.open && !f.null():
		return p.theme.Fit(p.theme.Glyphs.Open, 1) + " "
	}
	return p.theme.Fit(p.theme.Glyphs.Closed, 1) + " "
}

// openText draws text of several lines that is being typed, below its label.
func (p *painter) openText() []string {
	const left = 4
	lines := p.form.editor.view(p.theme, max(2, p.width-left), max(1, p.height-2))
	for i := range lines {
		lines[i] = strings.Repeat(" ", left) + lines[i]
	}
	p.opened(left, p.width, 1, len(lines))
	return lines
}

// opened records where the open text was drawn, relative to its row.
func (p *painter) opened(left, right, top, lines int) {
	s := &p.form.screen
	s.editorLeft, s.editorRight, s.editorTop, s.editorLines = left, right, top, lines
}

// footer draws the description of the field under the cursor, in the lines that remain.
func (p *painter) footer(height int) []string {
	count := 0
	for _, size := range [][2]int{{4, 1}, {8, 2}, {12, 4}, {20, 5}} { // of the form, and of its footer
		if height >= size[0] {
			count = size[1]
		}
	}
	if count == 0 {
		return nil
	}
	place := fmt.Sprintf("%d/%d", p.form.place()+1, p.form.Fields())
	if problems := len(p.verdict.problems); problems > 0 {
		place = words.Count(problems, "problem") + " " + place
	}
	about, text := p.about(p.form.cursor)
	switch {
	case count == 1 && text != "":
		about = text
		fallthrough
	case count == 1:
		return []string{p.ends(about, place)}
	}
	lines := []string{p.ends(about, place)}
	if count > 2 {
		rule := p.theme.Paint(pane.Dim, strings.Repeat(p.theme.Glyphs.Horizontal, max(0, p.width)))
		lines = slices.Insert(lines, 0, rule)
	}
	room := count - len(lines)
	wrapped := pane.Wrap(text, max(1, p.width))
	if len(wrapped) > room {
		wrapped = wrapped[:room]
		wrapped[room-1] = p.theme.Cut(wrapped[room-1], p.width-1) + p.theme.Glyphs.More
	}
	return fill(append(lines, wrapped...), count)
}

// ends puts two texts at the ends of one line; the right one is never cut.
func (p *painter) ends(left, right string) string {
	room := p.width - p.theme.Width(right) - 1
	if room < 8 {
		return p.fit(left)
	}
	return p.theme.Fit(left, room) + " " + p.theme.Paint(pane.Dim, right)
}

// about describes a row: its path and what is allowed, and its description.
func (p *painter) about(r row) (line, text string) {
	at := r.field
	name := "arguments"
	if at.parent != nil {
		name = render.Safe(clip(at.path(), 200))
	}
	switch {
	case r.noRows() != "":
		return p.theme.Paint(pane.Dim, "F2 edits parameters anyway, as JSON"), ""
	case r.add:
		return p.theme.Paint(pane.Dim, "a new row of "+name), ""
	case at.parent != nil && strings.TrimSpace(name) == "":
		name = at.label()
	}
	for rest, deep := name, true; deep && p.theme.Width(name) > p.width/2; { // where it ends matters more
		if _, rest, deep = strings.Cut(rest, "."); deep {
			name = p.theme.Glyphs.More + rest
		}
	}
	if title := safe(at.shape.Title, p.width); title != "" && title != name {
		name += " (" + title + ")"
	}
	// A long description is cut to what could be shown.
	const most = 8
	text = render.SafeBlock(clip(at.shape.Description, p.width*most))
	line = p.theme.Paint(pane.Strong, name) + p.theme.Paint(pane.Dim, ": "+hint(at.shape))
	return line, strings.Join(strings.Fields(text), " ")
}

// safe makes text safe for one line of about so many cells.
func safe(text string, cells int) string { return render.Safe(clip(text, cells)) }

// clip shortens text that cannot fit into the cells, so that drawing a line does not scan a megabyte.
// The result is still too long, so that the cut is marked later.
func clip(text string, cells int) string {
	const perCell = 40 // bytes of the longest emoji, and of stacked marks
	return words.Head(text, (max(0, cells)+2)*perCell)
}
