package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// tree is the pane of servers and their tools.
type tree struct {
	theme  *pane.Theme
	groups []*group
	list   pane.List
	rows   []row
	filter textinput.Model
	typing bool
	focus  bool
	height int // of the rows, when they were drawn last
	// calling says whether a call of an item runs; nil where none can.
	calling func(item) bool
}

// group is a server with its tools; server is nil for toolx's own.
type group struct {
	server *server
	tools  []item
	closed bool
}

// row is what one line of the tree stands for: a group, or an item in it.
type row struct {
	group *group
	item  item
}

func newTree(theme *pane.Theme) *tree {
	filter := textinput.New()
	filter.Prompt = "/"
	filter.SetVirtualCursor(true)
	return &tree{theme: theme, filter: filter}
}

// setTools gives the groups their tools anew, and keeps the cursor on what it was.
func (t *tree) setTools(all []*exec.Tool) {
	selected := t.selected()
	for _, g := range t.groups {
		g.tools = nil
		name := ""
		if g.server != nil {
			name = g.server.name
		}
		for _, tool := range all {
			if tool.Server == name {
				g.tools = append(g.tools, toolItem(tool))
			}
		}
		slices.SortStableFunc(g.tools, func(a, b item) int { return cmp.Compare(a.Plain, b.Plain) })
	}
	t.arrange()
	t.find(selected)
}

// find puts the cursor on a row again, by name: tools are made anew when a server
// is.
func (t *tree) find(wanted row) {
	for i, r := range t.rows {
		if r.group == wanted.group && r.item.key() == wanted.item.key() {
			t.list.Set(i, len(t.rows))
			return
		}
	}
	t.list.Move(0, len(t.rows))
}

// selected is the row under the cursor, the zero row where there is none.
func (t *tree) selected() row {
	if t.list.Cursor < len(t.rows) {
		return t.rows[t.list.Cursor]
	}
	return row{}
}

// arrange makes the rows: all that is open, or what the filter finds, the best of
// each server first.
func (t *tree) arrange() {
	t.rows = t.rows[:0]
	pattern := t.filter.Value()
	for _, g := range t.groups {
		if pattern == "" {
			t.rows = append(t.rows, row{group: g})
			if !g.closed {
				for _, one := range g.tools {
					t.rows = append(t.rows, row{g, one})
				}
			}
			continue
		}
		if found := search(g.tools, pattern); len(found) > 0 {
			t.rows = append(t.rows, row{group: g})
			for _, hit := range found {
				t.rows = append(t.rows, row{g, hit.item})
			}
		}
	}
}

// setFilter filters anew and goes to the best match of all servers.
func (t *tree) setFilter() {
	t.arrange()
	t.list.Set(0, len(t.rows))
	best := 0
	for i, r := range t.rows {
		if score := scoreOf(r.item, t.filter.Value()); score > best {
			best = score
			t.list.Set(i, len(t.rows))
		}
	}
}

// update takes a key while the filter is typed.
func (t *tree) update(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc":
			t.filter.Reset()
			t.stopTyping()
			t.setFilter()
			return nil
		case "enter", "tab":
			t.stopTyping()
			return nil
		case "down", "up":
			t.list.Move(map[string]int{"down": 1, "up": -1}[key.String()], len(t.rows))
			return nil
		}
	}
	before := t.filter.Value()
	var cmd tea.Cmd
	t.filter, cmd = t.filter.Update(msg)
	if t.filter.Value() != before {
		t.setFilter()
	}
	return cmd
}

func (t *tree) startTyping() tea.Cmd {
	t.typing = true
	t.filter.Reset()
	t.setFilter()
	return t.filter.Focus()
}

func (t *tree) stopTyping() {
	t.typing = false
	t.filter.Blur()
}

// toggle opens or closes the group under the cursor.
func (t *tree) toggle() { t.setClosed(!t.selected().group.closed) }

func (t *tree) setClosed(closed bool) {
	at := t.selected()
	if at.group == nil {
		return
	}
	at.group.closed = closed
	t.arrange()
	t.find(row{group: at.group})
}

// render draws the tree at a time: a server that starts counts its seconds.
func (t *tree) render(width, height int, now time.Time) string {
	var lines []string
	if t.typing || t.filter.Value() != "" {
		t.filter.SetWidth(max(1, width-3))
		lines = append(lines, t.filter.View())
	}
	room := height - len(lines)
	if len(t.rows) > room && room > 2 {
		room-- // for what says that there is more
	}
	t.height = room
	from, to := t.list.Window(len(t.rows), room)
	for i := from; i < to; i++ {
		lines = append(lines, t.line(i, width, now))
	}
	if more := len(t.rows) - to; more > 0 {
		lines = append(lines, t.theme.Paint(pane.Dim, fmt.Sprintf("%s %d more", t.theme.Glyphs.More, more)))
	}
	if len(t.rows) == 0 {
		lines = append(lines, t.theme.Paint(pane.Dim, t.empty()))
	}
	return t.theme.Block(lines, width, height)
}

func (t *tree) empty() string {
	if t.filter.Value() != "" {
		return "nothing fits"
	}
	return "no tools"
}

// line draws one row.
func (t *tree) line(i, width int, now time.Time) string {
	r := t.rows[i]
	text := t.groupLine(r.group, width, now)
	if !r.item.none() {
		text = t.itemLine(r.item, width, now)
	}
	switch {
	case i != t.list.Cursor:
		return text
	case t.focus:
		return t.theme.Paint(pane.Selected, t.theme.Fit(stripped(text), width))
	}
	return t.theme.Paint(pane.Marked, stripped(text))
}

// groupLine is "▾ zwave ✓ 85 ms !3 stray (4)": the name, how it stands, its polluted
// lines, its tools.
func (t *tree) groupLine(g *group, width int, now time.Time) string {
	fold := t.theme.Glyphs.Open
	if g.closed && t.filter.Value() == "" {
		fold = t.theme.Glyphs.Closed
	}
	if g.server == nil {
		return t.theme.Cut(fold+" "+t.theme.Paint(pane.Strong, "toolx")+" "+t.theme.Paint(pane.Dim, count(len(g.tools))), width)
	}
	line := fold + " " + t.theme.Paint(pane.Strong, render.Safe(g.server.name)) + " " + t.state(g.server, now)
	parts := []string{t.stray(g.server)}
	if g.server.status == statusReady {
		parts = append(parts, t.theme.Paint(pane.Dim, count(len(g.tools))))
	}
	for _, part := range parts { // what there is no room for is left out
		if part != "" && ansi.StringWidth(line)+1+ansi.StringWidth(part) <= width {
			line += " " + part
		}
	}
	return t.theme.Cut(line, width)
}

// stray counts the lines of a server's stdout that are no messages.
func (t *tree) stray(s *server) string {
	if s.polluted == 0 {
		return ""
	}
	return t.theme.Paint(pane.Warn, fmt.Sprintf("%s%d stray", t.theme.Glyphs.Warn, s.polluted))
}

// state is a server's state with its sign.
func (t *tree) state(s *server, now time.Time) string {
	glyphs := t.theme.Glyphs
	sign, role := glyphs.Off, pane.Dim
	switch s.status {
	case statusStarting, statusRetrying:
		sign, role = spin(t.theme, now), pane.Accent
	case statusReady:
		sign, role = glyphs.Good, pane.Good
	case statusFailed, statusEnded:
		sign, role = glyphs.Bad, pane.Bad
	}
	return t.theme.Paint(role, sign+" "+render.Safe(s.summary(now)))
}

// itemLine is an item with what it says of itself; badges go before the name is cut.
func (t *tree) itemLine(one item, width int, now time.Time) string {
	sign := t.theme.Glyphs.Bullet
	if t.calling != nil && t.calling(one) {
		sign = spin(t.theme, now)
	}
	name := "  " + sign + " " + render.Safe(one.label())
	badges := strings.Join(render.Badges(one.Tool), " ")
	if badges == "" || len(name)+len(badges)+2 > width {
		return t.theme.Cut(name, width)
	}
	return name + "  " + t.theme.Paint(pane.Badge, badges)
}

// click puts the cursor on the row that is drawn at a place; a second click on a group,
// or one on its sign, opens or closes it. The line that says that there is more shows it.
func (t *tree) click(x, y int) {
	if t.typing || t.filter.Value() != "" {
		y--
	}
	at := t.list.Top() + y
	switch {
	case y < 0 || at >= len(t.rows):
	case y >= t.height:
		t.list.Scroll(t.height)
	case t.rows[at].item.none() && (at == t.list.Cursor || x == 0):
		t.list.Set(at, len(t.rows))
		t.toggle()
	default:
		t.list.Set(at, len(t.rows))
	}
}

// stripped is text without its look, for a row that has one look as a whole.
func stripped(text string) string { return ansi.Strip(text) }

// count is a number of tools in brackets.
func count(n int) string { return fmt.Sprintf("(%d)", n) }
