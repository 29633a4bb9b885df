package form

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// editor is text with a cursor. It keeps every character, including control characters, and shows them as render.Safe
// does, so that users see what is sent. (The text fields of Bubbles drop or replace what they cannot draw.)
type editor struct {
	text []rune
	at   int // the cursor, before text[at]
	// lines reports whether enter makes a new line.
	lines bool
	top   int // first visible line
	left  int // first visible character of the cursor's line
	// all reports whether the whole text is selected: the next key replaces it.
	all bool
	// past holds the texts that undo goes back to, oldest first. writing reports whether the last change was a
	// character, so that a run of them is undone at once.
	past    []editorState
	writing bool
}

// editorState is a text that undo goes back to.
type editorState struct {
	text []rune
	at   int
}

// maxPast bounds how many characters undo keeps.
const maxPast = 1 << 20

// keep remembers the text before a change. Several characters that are typed one after the other are one change.
func (e *editor) keep(writing bool) {
	again := writing && e.writing && !e.all && len(e.past) > 0
	if e.writing = writing; again {
		return
	}
	e.past = append(e.past, editorState{slices.Clone(e.text), e.at})
	size := 0
	for i, one := range slices.Backward(e.past) {
		if size += len(one.text); size > maxPast {
			e.past = slices.Delete(e.past, 0, i+1)
			break
		}
	}
}

// undo goes back to the text before the last change.
func (e *editor) undo() {
	if len(e.past) == 0 {
		return
	}
	last := e.past[len(e.past)-1]
	e.past = e.past[:len(e.past)-1]
	e.text, e.at, e.all, e.writing = last.text, last.at, false, false
}

// selectAll selects the whole text, with the cursor at its end.
func (e *editor) selectAll() { e.at, e.all = len(e.text), len(e.text) > 0 }

// clear removes the whole text.
func (e *editor) clear() {
	if len(e.text) > 0 {
		e.keep(false)
		e.empty()
	}
}

func (e *editor) empty() { e.text, e.at, e.all = nil, 0, false }

func newEditor(text string) *editor {
	runes := []rune(text)
	return &editor{text: runes, at: len(runes)}
}

func (e *editor) String() string { return string(e.text) }

// several reports whether there is more than one line.
func (e *editor) several() bool { return slices.Contains(e.text, '\n') }

func (e *editor) insert(text string) {
	runes := []rune(text)
	if len(runes) == 0 {
		return
	}
	e.keep(len(runes) == 1)
	if e.all {
		e.empty()
	}
	e.text = slices.Insert(e.text, e.at, runes...)
	e.at += len(runes)
}

// remove deletes the text between the cursor and another place.
func (e *editor) remove(to int) {
	if e.all {
		e.clear()
		return
	}
	to = max(0, min(to, len(e.text)))
	from, to := min(e.at, to), max(e.at, to)
	if from == to {
		return
	}
	e.keep(false)
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

func (e *editor) move(to int) { e.at, e.all, e.writing = max(0, min(to, len(e.text))), false, false }

// lineStart and lineEnd return the bounds of the line around a place.
func (e *editor) lineStart(at int) int {
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *editor) lineEnd(at int) int {
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

// vertical moves the cursor a line up or down, and reports whether there is such a line.
func (e *editor) vertical(down bool) bool {
	e.all, e.writing = false, false
	start := e.lineStart(e.at)
	column := e.at - start
	if down {
		end := e.lineEnd(e.at)
		if end == len(e.text) {
			return false
		}
		e.at = min(end+1+column, e.lineEnd(end+1))
		return true
	}
	if start == 0 {
		return false
	}
	above := e.lineStart(start - 1)
	e.at = min(above+column, start-1)
	return true
}

// down moves the cursor by lines.
func (e *editor) down(by int) {
	for range max(by, -by) {
		e.vertical(by > 0)
	}
}

// word returns the place one word to the left or right.
func (e *editor) word(right bool) int {
	at := e.at
	if right {
		for at < len(e.text) && !inWord(e.text[at]) {
			at++
		}
		for at < len(e.text) && inWord(e.text[at]) {
			at++
		}
		return at
	}
	for at > 0 && !inWord(e.text[at-1]) {
		at--
	}
	for at > 0 && inWord(e.text[at-1]) {
		at--
	}
	return at
}

func inWord(char rune) bool { return unicode.IsLetter(char) || unicode.IsDigit(char) }

// key applies a key to the text, and reports whether the text changed.
func (e *editor) key(key, text string) (changed bool) {
	before := len(e.text)
	if e.all && text != "" { // the new text may be as long as the old one
		e.insert(text)
		return true
	}
	switch key {
	case "left", "ctrl+b":
		e.move(e.at - 1)
	case "right", "ctrl+f":
		e.move(e.at + 1)
	case "ctrl+left", "alt+left", "alt+b":
		e.move(e.word(false))
	case "ctrl+right", "alt+right", "alt+f":
		e.move(e.word(true))
	case "home":
		e.move(e.lineStart(e.at))
	case "end", "ctrl+e":
		e.move(e.lineEnd(e.at))
	case "ctrl+home":
		e.move(0)
	case "ctrl+end":
		e.move(len(e.text))
	case "backspace", "ctrl+h", "shift+backspace":
		e.remove(e.at - 1)
	case "delete":
		e.remove(e.at + 1)
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.remove(e.word(false))
	case "alt+d", "alt+delete", "ctrl+delete":
		e.remove(e.word(true))
	case "alt+k":
		e.remove(e.lineEnd(e.at))
	default:
		e.insert(text)
	}
	return len(e.text) != before
}

// place returns the cursor's line and the column in it, both from 0.
func (e *editor) place() (line, column int) {
	start := e.lineStart(e.at)
	for _, char := range e.text[:start] {
		if char == '\n' {
			line++
		}
	}
	return line, e.at - start
}

// whereabouts returns the cursor's position for display, with lines and columns from 1.
func (e *editor) whereabouts() string {
	line, column := e.place()
	return fmt.Sprintf("line %d of %d, column %d", line+1, strings.Count(string(e.text), "\n")+1, column+1)
}

// click moves the cursor to a clicked cell of the view.
func (e *editor) click(row, cell int) {
	at := 0
	for range e.top + row {
		if end := e.lineEnd(at); end < len(e.text) {
			at = end + 1
		}
	}
	end := e.lineEnd(at)
	if e.lineStart(e.at) == at {
		at += min(e.left, end-at)
		if e.left > 0 {
			cell--
		}
	}
	for ; at < end; at++ {
		if cell -= cellsOf(e.text[at]); cell < 0 {
			break
		}
	}
	e.move(at)
}

// view draws the lines around the cursor into width and height. Marks show that a line continues to the left or right.
func (e *editor) view(theme *pane.Theme, width, height int) []string {
	cursorLine, column := e.place()
	all := strings.Split(string(e.text), "\n")
	height = max(1, min(height, len(all)))
	e.top = max(0, min(e.top, len(all)-height))
	e.top = min(max(e.top, cursorLine-height+1), cursorLine)
	lines := make([]string, 0, height)
	for i := e.top; i < e.top+height; i++ {
		if e.all {
			lines = append(lines, theme.Paint(pane.Inverse, theme.Cut(render.Safe(all[i])+" ", width)))
			continue
		}
		if i == cursorLine {
			lines = append(lines, e.cursorLine(theme, []rune(all[i]), column, width))
			continue
		}
		lines = append(lines, theme.Cut(render.Safe(all[i]), width))
	}
	return lines
}

// cursorLine draws the line with the cursor, scrolled so that the cursor is visible.
func (e *editor) cursorLine(theme *pane.Theme, line []rune, column, width int) string {
	e.left = min(e.left, column)
	room := max(1, width-2) // a mark on each side
	for used := cellsBetween(line, e.left, column+1); used > room && e.left < column; e.left++ {
		used -= cellsOf(line[e.left])
	}
	var out strings.Builder
	used := 0
	if e.left > 0 {
		out.WriteString(theme.Paint(pane.Dim, theme.Glyphs.More))
		used = 1
	}
	for i := e.left; i <= len(line); i++ {
		cell := " "
		if i < len(line) {
			cell = safeRune(line[i])
		}
		wide := ansi.StringWidth(cell)
		if used+wide > width-1 && i < len(line) {
			out.WriteString(theme.Paint(pane.Dim, theme.Glyphs.More))
			break
		}
		if i == column {
			cell = theme.Paint(pane.Inverse, cell)
		} else if i == len(line) {
			cell = ""
		}
		out.WriteString(cell)
		used += wide
	}
	return out.String()
}

// cellsBetween counts the cells of line[from:to]; the place after the end is one.
func cellsBetween(line []rune, from, to int) int {
	cells := 0
	for i := from; i < to; i++ {
		if i < len(line) {
			cells += cellsOf(line[i])
		} else {
			cells++
		}
	}
	return cells
}

func cellsOf(char rune) int {
	if char >= ' ' && char < 0x7f {
		return 1
	}
	return ansi.StringWidth(safeRune(char))
}

// safeRune shows one character; most need no check.
func safeRune(char rune) string {
	if char >= ' ' && char < 0x7f {
		return string(char)
	}
	return render.Safe(string(char))
}
