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
	rows      []row // by line; empty rows for lines that belong to no field
	top       int   // first visible line
	total     int   // lines, visible or not
	height    int   // of the part that scrolls
	loose     bool  // it was scrolled, so the cursor's field may be invisible
	width     int
	valueLeft int // where values begin
	// Where the open text was drawn: its cells from left up to right, its first line and how many lines it has.
	editorLeft, editorRight, editorTop, editorLines int
}

func (s *screen) inEditor(x, y int) bool {
	return y >= s.editorTop && y < s.editorTop+s.editorLines && x >= s.editorLeft && x < s.editorRight
}

// page returns how many lines a page key moves.
func (s *screen) page() int { return max(1, s.height-1) }

// Render draws the form into exactly width by height cells, scrolled to the field under the cursor.
func (f *Form) Render(width, height int) string {
	if f.json != nil {
		return f.renderJSON(width, height)
	}
	p := &painter{form: f, theme: f.theme, width: width, verdict: f.check()}
	at := f.place()
	footer := p.footer(height)
	p.height = max(1, height-len(footer))
	p.layout(f.visible())
	lines := p.draw(f.visible(), at)
	return f.theme.Block(append(fill(lines, p.height), footer...), width, height)
}

// Fields returns how many rows the form has.
func (f *Form) Fields() int { return len(f.visible()) }

// Lines returns how many lines the form would take without scrolling, with those that explain the field.
func (f *Form) Lines() int {
	const footer = 5
	return len(f.visible()) + footer
}

// Extent returns the visible part of the fields.
func (f *Form) Extent() pane.Extent {
	if f.json != nil {
		return pane.Extent{}
	}
	return pane.Extent{Top: f.screen.top, Height: f.screen.height, Rows: f.screen.total}
}

// AsJSON reports whether the form is edited as JSON.
func (f *Form) AsJSON() bool { return f.json != nil }

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

// maxIndent is how many levels are indented; there is no room for more.
const maxIndent = 6

func indentOf(r row) int {
	level := r.field.depth - 1
	if r.field.parent != nil && r.field.parent.kind == jsonschema.ShapeVariant && !r.field.group() {
		level++
	}
	if r.add {
		level++
	}
	return 2 * max(0, min(level, maxIndent))
}

// layout sets the column of the values: after the longest label, within limits.
func (p *painter) layout(rows []row) {
	longest := 0
	limit := max(8, min(p.width/2, 20+p.width/5))
	for _, r := range rows {
		if longest >= limit {
			break
		}
		if !r.add {
			longest = max(longest, indentOf(r)+ansi.StringWidth(safe(r.field.label(), limit)))
		}
	}
	// The cursor, the sign of a group, and the star of a required field.
	p.valueLeft = min(limit, longest+6)
	p.form.screen.width, p.form.screen.valueLeft = p.width, p.valueLeft
}

// draw returns the visible lines. Only those are drawn; of other rows the height suffices.
func (p *painter) draw(rows []row, at int) []string {
	s := &p.form.screen
	s.height, s.editorLines = p.height, 0
	current, below := p.block(rows[at], true), p.remarks(p.verdict.below, maxBelow)
	tops := make([]int, len(rows)+1) // the first line of each row, and of what is below them
	for i, r := range rows {
		tops[i+1] = tops[i] + p.rowHeight(r)
		if i == at {
			tops[i+1] = tops[i] + len(current)
		}
	}
	total, start, end := tops[len(rows)]+len(below), tops[at], tops[at+1]
	if at == len(rows)-1 {
		end = total
	}
	s.total, s.top = total, max(0, min(s.top, total-p.height))
	if !s.loose {
		s.top = min(max(s.top, end-p.height), start)
	}
	if s.editorLines > 0 {
		s.editorTop += start - s.top
	}
	var lines []string
	s.rows = s.rows[:0]
	for i, r := range rows {
		if tops[i+1] <= s.top || tops[i] >= s.top+p.height {
			continue
		}
		block := current
		if i != at {
			block = p.block(r, false)
		}
		block = block[max(0, s.top-tops[i]):]
		lines = append(lines, block...)
		s.rows = append(s.rows, slices.Repeat([]row{r}, len(block))...)
	}
	s.rows = s.rows[:min(len(s.rows), p.height)]
	return append(lines, below[min(len(below), max(0, s.top-tops[len(rows)])):]...)
}

// rowHeight returns how many lines a row takes while it is not under the cursor.
func (p *painter) rowHeight(r row) int {
	if r.add {
		return 1
	}
	return 1 + len(p.verdict.at[r.field])
}

// block draws all lines of one row; the row under the cursor shows its remarks in full.
func (p *painter) block(r row, current bool) []string {
	line := p.head(r, current)
	if r.add && current && p.theme.Fine {
		line = p.theme.UnderCursor(line, p.form.focused, p.width)
	}
	if r.add {
		return []string{line}
	}
	lines := []string{}
	if current && p.form.editor != nil && p.form.editor.several() {
		place := p.form.editor.whereabouts()
		lines = append(lines, p.fit(line+p.theme.Paint(pane.Dim, place)))
		lines = append(lines, p.openText()...)
	} else {
		line = p.fit(line + p.value(r, current))
		if current && p.theme.Fine {
			line = p.theme.UnderCursor(line, p.form.focused, p.width)
		}
		lines = append(lines, line)
	}
	for _, n := range p.verdict.at[r.field] {
		texts := []string{n.text}
		if current {
			texts = pane.Wrap(n.text, max(1, p.width-6))
		}
		lines = append(lines, p.noteLines(n, texts)...)
	}
	return lines
}

func (p *painter) fit(line string) string { return p.theme.Cut(line, p.width) }

// noteLines draws the lines of a remark, the first with its sign.
func (p *painter) noteLines(n note, texts []string) []string {
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
		wrapped := pane.Wrap(n.text, max(1, p.width-6))
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
		lines = append(lines, p.noteLines(n, wrapped)...)
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
	star := ""
	if r.field.required {
		star = p.theme.Paint(pane.Accent, "*")
	}
	if current && p.form.onKey && p.form.editor != nil {
		return p.openKey(before)
	}
	room := max(1, p.valueLeft-ansi.StringWidth(before)-2)
	label := p.theme.Cut(safe(r.field.label(), room), room)
	return p.theme.Fit(before+p.name(label, pane.Plain, current)+star, p.valueLeft-1) + " "
}

// openKey draws a key that is being typed.
func (p *painter) openKey(before string) string {
	left := ansi.StringWidth(before)
	view := p.form.editor.view(p.theme, max(2, p.valueLeft-left-1), 1)
	p.opened(left, p.valueLeft, 0, 1)
	return p.theme.Fit(before+view[0], p.valueLeft-1) + " "
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
	case f.open && f.state != nullness:
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
	rows := p.form.visible()
	place := fmt.Sprintf("%d/%d", p.form.place()+1, len(rows))
	if count := len(p.verdict.problems); count > 0 {
		place = words.Count(count, "problem") + " " + place
	}
	about := p.about(p.form.cursor)
	if count == 1 {
		return []string{p.ends(about[len(about)-1], place)}
	}
	lines := []string{p.ends(about[0], place)}
	if count > 2 {
		rule := p.theme.Paint(pane.Dim, strings.Repeat(p.theme.Glyphs.Horizontal, max(0, p.width)))
		lines = []string{rule, lines[0]}
	}
	if len(about) > 1 {
		room := count - len(lines)
		text := pane.Wrap(about[1], max(1, p.width))
		if len(text) > room {
			text = text[:room]
			text[room-1] = p.theme.Cut(text[room-1], p.width-1) + p.theme.Glyphs.More
		}
		lines = append(lines, text...)
	}
	return fill(lines, count)
}

// ends puts two texts at the ends of one line; the right one is never cut.
func (p *painter) ends(left, right string) string {
	room := p.width - p.theme.Width(right) - 1
	if room < 8 {
		return p.fit(left)
	}
	return p.theme.Fit(left, room) + " " + p.theme.Paint(pane.Dim, right)
}

// about describes a row: its path and what is allowed, then its description.
func (p *painter) about(r row) []string {
	at := r.field
	if r.add && (at.silent() || !at.takesRows()) {
		return []string{p.theme.Paint(pane.Dim, "F2 edits parameters anyway, as JSON")}
	}
	if r.add {
		return []string{p.theme.Paint(pane.Dim, "a new row of "+orWhole(at.path()))}
	}
	name := orWhole(at.path())
	if at.parent != nil && strings.TrimSpace(at.path()) == "" {
		name = at.label()
	}
	if title := safe(at.shape.Title, p.width); title != "" && title != name {
		name += " (" + title + ")"
	}
	lines := []string{p.theme.Paint(pane.Strong, name) + p.theme.Paint(pane.Dim, ": "+hint(at.shape))}
	// A long description is cut to what could be shown.
	const most = 8
	text := render.SafeBlock(clip(at.shape.Description, p.width*most))
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		lines = append(lines, text)
	}
	return lines
}

func orWhole(path string) string {
	if path == "" {
		return "arguments"
	}
	return render.Safe(clip(path, 200))
}

// renderJSON draws the JSON editor, with the problems below it.
func (f *Form) renderJSON(width, height int) string {
	p := &painter{form: f, theme: f.theme, width: width, verdict: f.check()}
	var notes []string
	if height > 1 {
		place := "JSON, " + f.json.whereabouts() + "; f2 returns to the fields"
		notes = append(p.remarks(p.verdict.below, height/3), p.fit(p.theme.Paint(pane.Dim, place)))
	}
	f.screen.height = max(1, height-len(notes))
	lines := f.json.view(f.theme, width, f.screen.height)
	return f.theme.Block(append(fill(lines, f.screen.height), notes...), width, height)
}

// safe makes text safe for one line of about so many cells.
func safe(text string, cells int) string { return render.Safe(clip(text, cells)) }

// clip shortens text that cannot fit into the cells, so that drawing a line does not scan a megabyte.
// The result is still too long, so that the cut is marked later.
func clip(text string, cells int) string {
	const perCell = 40 // bytes of the longest emoji, and of stacked marks
	return words.Head(text, (max(0, cells)+2)*perCell)
}
