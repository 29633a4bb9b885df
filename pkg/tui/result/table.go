package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

const (
	maxColumns = 64   // of a table; objects with more names have no table
	maxBeside  = 16   // members beside a list in the caption
	maxSampled = 1000 // rows whose cells determine the widths of columns
	widest     = 40   // a column in cells, unless there is room for all
	narrowest  = 12   // a column, before others are hidden
	columnGap  = 2
)

// table is a body of rows and columns that shows a list of objects. Members that are objects or lists
// are shown only as a mark.
type table struct {
	pane.Rows
	theme   *pane.Theme
	rows    []json.RawMessage
	caption string // the members beside the list; safe
	columns []column
	first   int // the first column that is shown
}

// column holds the members of one name.
type column struct {
	name   string // as the server wrote it
	width  int    // of its widest cell, in cells of the terminal
	number bool   // all its values are numbers
}

// tableIn reports whether a value has a table, judged by its first rows, and whether that shows everything: cells only
// mark objects and lists.
func tableIn(value json.RawMessage) (found, flat bool) {
	rows, _ := listIn(value)
	names := make(map[string]bool)
	flat = true
	for _, row := range rows[:min(len(rows), maxSampled)] {
		for member := range rawjson.Each(row) {
			names[member.Name] = true
			flat = flat && scalar(member.Value)
		}
	}
	found = len(names) > 0 && len(names) <= maxColumns
	return found, found && flat
}

// newTable returns the table of a value that has one: of a list of objects, or of an object whose only non-scalar
// member is such a list.
func newTable(theme *pane.Theme, value json.RawMessage) *table {
	rows, caption := listIn(value)
	t := &table{theme: theme, rows: rows, caption: caption, Rows: pane.NewRows()}
	places := make(map[string]int) // indexes of columns, in the order in which names first appear
	for i, row := range rows {
		for member := range rawjson.Each(row) {
			at, known := places[member.Name]
			if !known {
				if at = len(t.columns); at == maxColumns {
					continue // it has fewer in its first rows
				}
				places[member.Name] = at
				width := theme.Width(render.Safe(member.Name))
				t.columns = append(t.columns, column{name: member.Name, width: width, number: true})
			}
			if i < maxSampled {
				t.columns[at].measure(theme, t.cell(member.Value), member.Value[0])
			}
		}
	}
	return t
}

// measure widens the column for a cell whose value begins with a byte.
func (c *column) measure(theme *pane.Theme, cell string, first byte) {
	c.width = max(c.width, theme.Width(cell))
	c.number = c.number && (first == '-' || '0' <= first && first <= '9')
}

// listIn returns the list, and a caption with the members beside it.
func listIn(value json.RawMessage) (rows []json.RawMessage, caption string) {
	if rows = listOf(value); rows != nil {
		return rows, ""
	}
	var beside []string
	for member := range rawjson.Each(value) {
		text := render.Safe(member.Name)
		switch {
		case len(beside) == maxBeside:
			return nil, ""
		case scalar(member.Value):
			text += ": " + cell(member.Value)
		case rows != nil:
			return nil, ""
		default:
			if rows = listOf(member.Value); rows == nil {
				return nil, ""
			}
		}
		beside = append(beside, text)
	}
	return rows, strings.Join(beside, "  ")
}

// listOf returns the elements of a list that holds only objects.
func listOf(value json.RawMessage) (rows []json.RawMessage) {
	for element := range rawjson.EachElement(value) {
		if element[0] != '{' {
			return nil
		}
		rows = append(rows, element)
	}
	return rows
}

func scalar(value json.RawMessage) bool {
	return len(value) > 0 && value[0] != '{' && value[0] != '['
}

// cell returns a value on one line, safe.
func cell(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return render.Safe(rawjson.UnquoteHead(value, maxCell))
	}
	return render.Safe(string(value[:min(len(value), maxCell)]))
}

// cell returns a member on one line; an object or a list is a mark between brackets.
func (t *table) cell(value json.RawMessage) string {
	if scalar(value) {
		return cell(value)
	}
	mark, last := "", len(value)-1
	if len(bytes.TrimSpace(value[1:last])) > 0 {
		mark = t.theme.Glyphs.More
	}
	return string(value[:1]) + mark + string(value[last:])
}

// About returns the row under the cursor, and how many there are.
func (t *table) About() string {
	return fmt.Sprintf("row %d of %d", t.List.Cursor+1, len(t.rows))
}

// Bindings returns what the keys do now.
func (t *table) Bindings() []pane.Binding {
	if t.Typing {
		return t.TypingKeys(func() { t.findFrom(t.List.Cursor-1, 1) })
	}
	turn := func(by int) func() tea.Cmd {
		return pane.Do(func() { t.first = max(0, min(t.first+by, len(t.columns)-1)) })
	}
	noRight := pane.Off(t.first == len(t.columns)-1, "this is the last column")
	noLeft := pane.Off(t.first == 0, "this is the first column")
	moves := pane.Moves(func(by int) { t.List.Move(by, len(t.rows)) }, t.List.Page(), "space")
	return slices.Concat(moves, []pane.Binding{
		{Keys: []string{"right", "l"}, Help: "columns to the right", Off: noRight, Do: turn(1)},
		{Keys: []string{"left", "h"}, Help: "columns to the left", Off: noLeft, Do: turn(-1)},
	}, t.Keys(t.find))
}

// find moves to the next row with a match in any column, shown or not.
func (t *table) find(by int) { t.findFrom(t.List.Cursor, by) }

// findFrom moves to the next row after from with a match.
func (t *table) findFrom(from, by int) {
	holds := func(row int) bool {
		for member := range rawjson.Each(t.rows[row]) {
			if t.Holds(t.cell(member.Value)) {
				return true
			}
		}
		return false
	}
	if row, ok := t.Find(len(t.rows), from, by, holds); ok {
		t.List.Set(row, len(t.rows))
	}
}

// Update handles the keys of Bindings, text typed into a search, clicks and the wheel.
func (t *table) Update(msg tea.Msg) tea.Cmd { return t.Handle(msg, t.Bindings, t.click) }

func (t *table) click(y int) {
	if row := y - t.headHeight(); row >= 0 && row < t.List.Height() {
		t.List.Set(t.List.Top()+row, len(t.rows))
	}
}

// headHeight returns how many lines are above the rows.
func (t *table) headHeight() int {
	if t.caption != "" {
		return 2
	}
	return 1
}

// Render draws the visible rows.
func (t *table) Render(width, height int) string {
	return t.Below(t.theme, width, height, func(height int) []string {
		shown, hidden := t.fit(width)
		var lines []string
		if t.caption != "" {
			lines = append(lines, t.theme.Paint(pane.Dim, t.theme.Cut(t.caption, width)))
		}
		lines = append(lines, t.header(shown, hidden, width))
		lines = lines[:max(0, min(len(lines), height-1))]
		from, to := t.List.Window(len(t.rows), height-len(lines))
		for row := from; row < to; row++ {
			lines = append(lines, t.row(row, shown, width))
		}
		return lines
	})
}

// header draws the names of the columns, and how many columns are hidden.
func (t *table) header(shown []column, hidden, width int) string {
	name := func(c column) string { return t.theme.Paint(pane.Strong, t.align(render.Safe(c.name), c)) }
	line := joined(shown, name)
	if hidden == 0 {
		return line
	}
	mark := t.mark(hidden)
	room := max(0, width-t.theme.Width(mark))
	return t.theme.Fit(line, room) + t.theme.Paint(pane.Warn, t.theme.Cut(mark, width))
}

// joined joins a text for each column.
func joined(columns []column, text func(column) string) string {
	return strings.Join(words.Texts(columns, text), strings.Repeat(" ", columnGap))
}

// mark returns the sign for columns that are not shown.
func (t *table) mark(hidden int) string {
	return fmt.Sprintf(" %s+%d", t.theme.Glyphs.More, hidden)
}

// row draws one object.
func (t *table) row(at int, shown []column, width int) string {
	values := make(map[string]string, len(shown))
	for member := range rawjson.Each(t.rows[at]) {
		values[member.Name] = t.cell(member.Value)
	}
	line := joined(shown, func(c column) string { return t.align(values[c.name], c) })
	if at == t.List.Cursor {
		return t.theme.UnderCursor(line, t.Focused, width)
	}
	return t.Mark(t.theme, line, at == t.Row)
}

// align pads a cell to the width of its column; numbers are right-aligned.
func (t *table) align(text string, c column) string {
	text = t.theme.Cut(text, c.width)
	space := strings.Repeat(" ", max(0, c.width-t.theme.Width(text)))
	if c.number {
		return space + text
	}
	return text + space
}

// fit chooses the columns that fit and makes them as wide as possible; hidden counts the others.
func (t *table) fit(width int) (shown []column, hidden int) {
	shown = append(shown, t.columns[t.first:]...)
	hidden = t.first
	if total(shown) > width || hidden > 0 {
		for i := range shown {
			shown[i].width = min(shown[i].width, widest)
		}
	}
	for {
		room := width
		if hidden > 0 {
			room -= t.theme.Width(t.mark(hidden))
		}
		if shrink(shown, room) {
			return shown, hidden
		}
		if len(shown) == 1 {
			shown[0].width = max(1, min(shown[0].width, room))
			return shown, hidden
		}
		shown, hidden = shown[:len(shown)-1], hidden+1
	}
}

// shrink narrows the widest columns until all fit, and reports whether they do.
func shrink(columns []column, room int) bool {
	for total(columns) > room {
		wide := 0
		for i := range columns {
			if columns[i].width > columns[wide].width {
				wide = i
			}
		}
		if columns[wide].width <= narrowest {
			return false
		}
		columns[wide].width--
	}
	return true
}

// total returns the width of columns with the gaps between them.
func total(columns []column) int {
	sum := columnGap * (len(columns) - 1)
	for _, c := range columns {
		sum += c.width
	}
	return sum
}
