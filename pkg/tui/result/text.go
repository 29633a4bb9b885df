package result

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// text is a body of lines that are wrapped to the width, scroll, and can be searched.
type text struct {
	theme *pane.Theme
	// compose returns the styled, safe lines for a width.
	compose func(theme *pane.Theme, width int) []string

	lines  []string // that compose gave for width; nil where it is to be asked
	width  int
	height int // of what was drawn last
	top    int // the first line that is seen
	search search
}

// newRaw shows JSON byte for byte: lines are broken only at the width.
func newRaw(theme *pane.Theme, raw json.RawMessage) *text {
	var begin strings.Builder
	_ = render.EscapeJSON(&begin, raw[:min(len(raw), maxText)]) // a builder takes everything
	if len(raw) > maxText {
		begin.WriteString("\n\n" + cutRemark(maxText, len(raw)))
	}
	safe := ready(begin.String())
	return composed(theme, func(theme *pane.Theme, width int) []string {
		return theme.Break(safe, width)
	})
}

// composed shows lines that are made for a width.
func composed(theme *pane.Theme, compose func(*pane.Theme, int) []string) *text {
	return &text{theme: theme, compose: compose, search: newSearch()}
}

// ready prepares text for wrapping: safe, and without tabs, whose width varies.
func ready(content string) string {
	return strings.ReplaceAll(render.SafeBlock(content), "\t", "    ")
}

// SetTheme changes the look.
func (t *text) SetTheme(theme *pane.Theme) { t.theme, t.lines = theme, nil }

// Focus sets whether the text has the focus. Losing it ends a search that is being typed.
func (t *text) Focus(on bool) {
	if !on {
		t.search.stop()
	}
}

// Editing reports whether letters are text now.
func (t *text) Editing() bool { return t.search.typing }

// about says which lines are visible.
func (t *text) about() string {
	if len(t.lines) <= t.height {
		return ""
	}
	return fmt.Sprintf("lines %d-%d of %d", t.top+1, min(len(t.lines), t.top+t.height), len(t.lines))
}

// Bindings returns what the keys do now.
func (t *text) Bindings() []pane.Binding {
	if t.search.typing {
		return t.search.bindings(func() { t.find(1) })
	}
	to := func(row func() int) func() tea.Cmd {
		return func() tea.Cmd { t.goTo(row()); return nil }
	}
	noSearch := off(t.search.query == "", "nothing is searched for")
	return []pane.Binding{
		{Keys: []string{"down", "j"}, Help: "down", Do: to(func() int { return t.top + 1 })},
		{Keys: []string{"up", "k"}, Help: "up", Do: to(func() int { return t.top - 1 })},
		{Keys: []string{"pgdown", "space", "ctrl+d"}, Help: "a page down", Do: to(func() int { return t.top + t.page() })},
		{Keys: []string{"pgup", "ctrl+u"}, Help: "a page up", Do: to(func() int { return t.top - t.page() })},
		{Keys: []string{"home", "g"}, Help: "first", Do: to(func() int { return 0 })},
		{Keys: []string{"end", "G"}, Help: "last", Do: to(func() int { return len(t.lines) })},
		{Keys: []string{"/"}, Help: "search", Do: t.search.start},
		{Keys: []string{"n"}, Help: "next match", Off: noSearch, Do: func() tea.Cmd { t.find(1); return nil }},
		{Keys: []string{"N"}, Help: "previous match", Off: noSearch, Do: func() tea.Cmd { t.find(-1); return nil }},
		{Keys: []string{"esc"}, Help: "forget the search", Off: noSearch, Do: t.search.forget},
	}
}

// page returns how many lines a page key scrolls: one line of the last page stays visible.
func (t *text) page() int { return max(1, t.height-1) }

func (t *text) goTo(row int) { t.top = max(0, min(row, len(t.lines)-t.height)) }

// Update handles the keys of Bindings, text typed into a search, and the wheel.
func (t *text) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		t.goTo(t.top + pane.Wheel(msg))
		return nil
	case tea.KeyPressMsg:
		if binding := pane.Find(t.Bindings(), msg.String()); binding != nil && binding.Off == "" {
			return binding.Do()
		}
	}
	return t.search.update(msg)
}

// find goes to the next or previous line with a match.
func (t *text) find(by int) {
	from := t.search.row
	if from < t.top || from >= t.top+t.height {
		from = t.top - 1 // what is seen comes first
		if by < 0 {
			from = t.top + t.height
		}
	}
	if row, ok := t.search.find(len(t.lines), from, by, t.holds); ok && (row < t.top || row >= t.top+t.height) {
		t.goTo(row - t.height/3)
	}
}

// holds reports whether a match begins in a line; it may end in the next one, if it is broken at the
// width.
func (t *text) holds(row int) bool {
	line := t.lines[row]
	if t.search.holds(line) || row+1 == len(t.lines) {
		return t.search.holds(line)
	}
	next := t.lines[row+1]
	parted := t.search.holds(line+next) || t.search.holds(strings.TrimRight(line, " ")+" "+next)
	return parted && !t.search.holds(next)
}

// Render draws the visible lines.
func (t *text) Render(width, height int) string {
	if t.lines == nil || t.width != width {
		t.layout(width)
	}
	below := ""
	if height > 1 {
		below = t.search.line(t.theme, width)
	}
	if below != "" {
		height--
	}
	t.height = height
	t.goTo(t.top)
	shown := make([]string, 0, height)
	for row := t.top; row < len(t.lines) && row < t.top+height; row++ {
		shown = append(shown, t.search.mark(t.theme, t.lines[row], row))
	}
	block := t.theme.Block(shown, width, height)
	if below != "" {
		return block + "\n" + below
	}
	return block
}

// layout lays the lines out again. The position in the text stays about the same.
func (t *text) layout(width int) {
	before := max(1, len(t.lines))
	t.lines, t.width = t.compose(t.theme, width), width
	if t.lines == nil {
		t.lines = []string{}
	}
	t.top = t.top * len(t.lines) / before
	t.search.row = -1
}
