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
	at   int  // the cursor, before text[at]
	all  bool // the whole text is selected: the next key replaces it
	top  int  // first visible line
	left int  // first visible character of the cursor's line
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

func newEditor(text string) *editor {
	runes := []rune(text)
	return &editor{text: runes, at: len(runes)}
}

func (e *editor) String() string { return string(e.text) }

// several reports whether there is more than one line.
func (e *editor) several() bool { return slices.Contains(e.text, '\n') }

// selectAll selects the whole text, with the cursor at its end.
func (e *editor) selectAll() { e.at, e.all = len(e.text), len(e.text) > 0 }

// clear removes the whole text.
func (e *editor) clear() { e.replace(0, len(e.text), nil) }

// insert types text at the cursor, in place of selected text.
func (e *editor) insert(text string) { e.replace(e.at, e.at, []rune(text)) }

// remove deletes the text between the cursor and another place.
func (e *editor) remove(to int) {
	to = max(0, min(to, len(e.text)))
	e.replace(min(e.at, to), max(e.at, to), nil)
}

// replace puts text in place of that between two places, or of all if that is selected.
func (e *editor) replace(from, to int, text []rune) {
	if e.all {
		from, to = 0, len(e.text)
	}
	if from == to && len(text) == 0 {
		return
	}
	e.keep(len(text) == 1)
	e.text = slices.Replace(e.text, from, to, text...)
	e.at, e.all = from+len(text), false
}

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
	if last := len(e.past) - 1; last >= 0 {
		e.text = e.past[last].text
		e.move(e.past[last].at)
		e.past = e.past[:last]
	}
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
	start, end := e.lineStart(e.at), e.lineEnd(e.at)
	column := e.at - start
	switch {
	case down && end < len(e.text):
		e.move(min(end+1+column, e.lineEnd(end+1)))
		return true
	case !down && start > 0:
		e.move(min(e.lineStart(start-1)+column, start-1))
		return true
	}
	e.move(e.at)
	return false
}

// down moves the cursor by lines.
func (e *editor) down(by int) {
	for range max(by, -by) {
		e.vertical(by > 0)
	}
}

// word returns the place one word to the left or right.
func (e *editor) word(right bool) int {
	at, by, next := e.at, -1, -1 // next is where the next character is, from at
	if right {
		by, next = 1, 0
	}
	for _, inside := range []bool{false, true} {
		for at+next >= 0 && at+next < len(e.text) && inWord(e.text[at+next]) == inside {
			at += by
		}
	}
	return at
}

func inWord(char rune) bool { return unicode.IsLetter(char) || unicode.IsDigit(char) }

// key applies a key to the text, and reports whether the text may have changed.
func (e *editor) key(key, text string) (changed bool) {
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
	default:
		return e.change(key, text)
	}
	return false
}

// change applies a key that changes the text, and reports whether it did.
func (e *editor) change(key, text string) bool {
	before := len(e.text)
	switch key {
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
		return text != ""
	}
	return len(e.text) != before
}

// place returns the cursor's line and the column in it, both from 0.
func (e *editor) place() (line, column int) {
	start := e.lineStart(e.at)
	return strings.Count(string(e.text[:start]), "\n"), e.at - start
}

// whereabouts returns the cursor's position for display, with lines and columns from 1.
func (e *editor) whereabouts() string {
	line, column := e.place()
	return fmt.Sprintf("line %d of %d, column %d", line+1, strings.Count(e.String(), "\n")+1, column+1)
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
	if e.left > 0 && e.lineStart(e.at) == at {
		at += min(e.left, end-at)
		cell-- // the mark
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
	all := strings.Split(e.String(), "\n")
	height = max(1, min(height, len(all)))
	e.top = max(0, min(e.top, len(all)-height))
	e.top = min(max(e.top, cursorLine-height+1), cursorLine)
	lines := make([]string, 0, height)
	for i, line := range all[e.top : e.top+height] {
		switch {
		case e.all:
			lines = append(lines, theme.Paint(pane.Inverse, theme.Cut(render.Safe(line)+" ", width)))
		case e.top+i == cursorLine:
			lines = append(lines, e.cursorLine(theme, []rune(line), column, width))
		default:
			lines = append(lines, theme.Cut(render.Safe(line), width))
		}
	}
	return lines
}

// cursorLine draws the line with the cursor, scrolled so that the cursor is visible.
func (e *editor) cursorLine(theme *pane.Theme, line []rune, column, width int) string {
	line = append(line, ' ') // where the cursor is at the end
	least, room := column, width-2-cellsOf(line[column])
	for least > 0 && room >= cellsOf(line[least-1]) {
		least--
		room -= cellsOf(line[least])
	}
	e.left = max(least, min(e.left, column))
	more := theme.Paint(pane.Dim, theme.Glyphs.More)
	var out strings.Builder
	used := 0
	if e.left > 0 {
		out.WriteString(more)
		used = 1
	}
	for i, char := range line[e.left:] {
		i += e.left
		used += cellsOf(char)
		switch {
		case used > width-1 && i < len(line)-1:
			out.WriteString(more)
			return out.String()
		case i == column:
			out.WriteString(theme.Paint(pane.Inverse, safeRune(char)))
		case i < len(line)-1:
			out.WriteString(safeRune(char))
		}
	}
	return out.String()
}

func cellsOf(char rune) int { return ansi.StringWidth(safeRune(char)) }

// safeRune shows one character; most need no check.
func safeRune(char rune) string {
	if char >= ' ' && char < 0x7f {
		return string(char)
	}
	return render.Safe(string(char))
}
