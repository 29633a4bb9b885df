package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// tree is the pane of servers and their tools.
type tree struct {
	*shared
	groups  []*group
	list    pane.List
	rows    []row
	focus   bool
	longest int // the width of the longest item
	// calling reports whether a call of an item is running, subscribed whether a resource's updates are subscribed to.
	calling, subscribed func(item) bool
	// silent reports whether an item, which is on the page, takes no parameters.
	silent func(item) bool
}

// group is a server with its tools; server is nil for the tools of the config and for toolx's own.
type group struct {
	server  *server
	builtIn bool // toolx's own
	tools   []item
	closed  bool
	// serverLists are the server's lists besides its tools; nil where there is no server.
	serverLists []*serverList
}

// name returns what the group is called.
func (g *group) name() string {
	switch {
	case g.server != nil:
		return g.server.name
	case g.builtIn:
		return "toolx"
	}
	return "config"
}

// has reports whether a tool belongs to the group.
func (g *group) has(tool *exec.Tool) bool {
	if g.server != nil {
		return tool.Server == g.server.name
	}
	return tool.Server == "" && tool.BuiltIn == g.builtIn
}

// shown reports whether the tree has a row for the group.
func (g *group) shown() bool { return g.server != nil || len(g.tools) > 0 }

// section is a part of a group: its tools, where list is nil, or one of its server's lists.
type section struct {
	list  *serverList
	items []item
}

// sections returns the parts of the group that are shown.
func (g *group) sections() []section {
	all := []section{{nil, g.tools}}
	for _, s := range g.serverLists {
		if s.shown() {
			all = append(all, section{s, s.items})
		}
	}
	return all
}

// serverList returns the group's list of a kind.
func (g *group) serverList(of kind) *serverList {
	return g.serverLists[slices.IndexFunc(g.serverLists, func(s *serverList) bool { return s.kind == of })]
}

// row is one line of the tree: a group, a list in it, or an item in either.
type row struct {
	group      *group
	serverList *serverList // nil for the group itself and its tools
	item       item
}

// header reports whether the row can be opened and closed.
func (r row) header() bool { return r.group != nil && r.item.none() }

// sign returns the column of the fold sign of a row that can be opened and closed.
func (r row) sign() int {
	if r.serverList != nil {
		return 2
	}
	return 0
}

// failed reports whether the row is a list that could not be read.
func (r row) failed() bool { return r.header() && r.serverList != nil && r.serverList.failure != "" }

func newTree(s *shared) *tree {
	return &tree{shared: s}
}

// setTools replaces the tools of the groups.
func (t *tree) setTools(all []*exec.Tool) {
	for _, g := range t.groups {
		g.tools = nil
		for _, tool := range all {
			if g.has(tool) {
				g.tools = append(g.tools, toolItem(tool))
			}
		}
		slices.SortStableFunc(g.tools, func(a, b item) int { return cmp.Compare(a.Plain, b.Plain) })
	}
}

// find moves the cursor to a row by name, because a restart replaces the tools of a server. If the
// row is gone, the cursor moves to its server rather than to another item that was never chosen.
func (t *tree) find(wanted row) {
	for _, same := range []func(row) bool{
		func(r row) bool { return r.serverList == wanted.serverList && r.item.key() == wanted.item.key() },
		func(r row) bool { return r.serverList == nil && r.item.none() },
	} {
		if i := slices.IndexFunc(t.rows, func(r row) bool { return r.group == wanted.group && same(r) }); i >= 0 {
			t.list.Set(i, len(t.rows))
			return
		}
	}
	t.list.Move(0, len(t.rows))
}

// listed returns the row of an item, or the row that it would have if everything around it were open. ok
// is false if no list has the item.
func (t *tree) listed(wanted itemKey) (at row, ok bool) {
	for _, g := range t.groups {
		for _, s := range g.sections() {
			if i := slices.IndexFunc(s.items, func(one item) bool { return one.key() == wanted }); i >= 0 {
				return row{g, s.list, s.items[i]}, true
			}
		}
	}
	return row{}, false
}

// selected returns the row under the cursor, or the zero row.
func (t *tree) selected() row {
	if t.list.Cursor < len(t.rows) {
		return t.rows[t.list.Cursor]
	}
	return row{}
}

// server returns the server of the row under the cursor, or nil.
func (t *tree) server() *server {
	if at := t.selected(); at.group != nil {
		return at.group.server
	}
	return nil
}

// arrange builds the rows: everything that is open.
func (t *tree) arrange() {
	t.rows = t.rows[:0]
	for _, g := range t.groups {
		if !g.shown() {
			continue
		}
		t.widen(g.tools, 6) // also those of closed groups, so that opening one moves nothing
		t.rows = append(t.rows, row{group: g})
		if g.closed {
			continue
		}
		for _, s := range g.sections() {
			if s.list != nil {
				t.rows = append(t.rows, row{group: g, serverList: s.list})
			}
			if s.list != nil && s.list.closed {
				continue
			}
			if s.list != nil {
				t.widen(s.items, 8)
			}
			for _, one := range s.items {
				t.rows = append(t.rows, row{g, s.list, one})
			}
		}
	}
}

// widen makes room for items that have a number of cells beside their names.
func (t *tree) widen(items []item, beside int) {
	for _, one := range items[:min(len(items), 1000)] {
		t.longest = max(t.longest, ansi.StringWidth(one.label())+beside)
	}
}

// groupOf returns the group of a server, or nil.
func (t *tree) groupOf(server string) *group {
	for _, g := range t.groups {
		if g.server != nil && g.server.name == server {
			return g
		}
	}
	return nil
}

// reveal opens everything around an item, moves the cursor to it, and reports whether the tree has it.
func (t *tree) reveal(wanted itemKey) bool {
	at, ok := t.listed(wanted)
	if !ok {
		return false
	}
	if at.group.closed = false; at.serverList != nil {
		at.serverList.closed = false
	}
	t.arrange()
	t.find(at)
	return true
}

// enterHelp returns what enter does with the row under the cursor.
func (t *tree) enterHelp() string {
	at := t.selected()
	switch {
	case at.failed():
		return "list the " + at.serverList.name() + " again"
	case at.item.none():
		return "open the group"
	case t.silent(at.item):
		return at.item.kind.verb() + " the " + at.item.kind.String()
	}
	return "fill in the " + at.item.kind.String()
}

// toggle opens or closes the group or list that the cursor is on or in.
func (t *tree) toggle() {
	at := t.selected()
	if at.serverList != nil {
		t.setClosed(!at.serverList.closed)
		return
	}
	t.setClosed(!at.group.closed)
}

// setClosed closes or opens what the cursor is on or in. Closing a list that is closed already moves to its server.
func (t *tree) setClosed(closed bool) {
	at := t.selected()
	switch {
	case at.group == nil:
		return
	case at.serverList == nil:
		at.group.closed = closed
	case closed && at.serverList.closed:
		at.serverList = nil
	default:
		at.serverList.closed = closed
	}
	t.arrange()
	t.find(row{group: at.group, serverList: at.serverList})
}

// setAllClosed closes or opens all groups; the cursor stays in its group.
func (t *tree) setAllClosed(closed bool) {
	at := t.selected()
	for _, g := range t.groups {
		g.closed = closed
	}
	t.arrange()
	t.find(at)
}

// render draws the tree.
func (t *tree) render(width, height int) string {
	var lines []string
	room := height
	if len(t.rows) > room && room > 2 {
		room-- // for the count of the others
	}
	from, to := t.list.Window(len(t.rows), room)
	for i := from; i < to; i++ {
		lines = append(lines, t.line(i, width))
	}
	if more := len(t.rows) - to; more > 0 {
		lines = append(lines, t.theme.Paint(pane.Dim, fmt.Sprintf("%s %d more", t.theme.Glyphs.More, more)))
	}
	if len(t.rows) == 0 {
		lines = append(lines, t.theme.Paint(pane.Dim, "no tools"))
	}
	return t.theme.Block(lines, width, height)
}

// wants returns how many columns the tree can use.
func (t *tree) wants() int {
	width := t.longest
	for _, r := range t.rows {
		switch {
		case r.serverList != nil && r.item.none():
			width = max(width, t.theme.Width(t.listLine(r.serverList, mostTree)))
		case r.item.none():
			width = max(width, t.theme.Width(t.groupLine(r.group, mostTree)))
		}
	}
	return width
}

// position returns which row is under the cursor.
func (t *tree) position() string {
	if len(t.rows) == 0 {
		return ""
	}
	return t.theme.Paint(pane.Dim, fmt.Sprintf("%d of %d", t.list.Cursor+1, len(t.rows)))
}

// line draws one row.
func (t *tree) line(i, width int) string {
	r := t.rows[i]
	var text string
	switch {
	case !r.item.none():
		text = t.itemLine(r, width)
	case r.serverList != nil:
		text = t.listLine(r.serverList, width)
	default:
		text = t.groupLine(r.group, width)
	}
	if i == t.list.Cursor {
		return t.theme.UnderCursor(text, t.focus, width)
	}
	return text
}

// groupLine draws "▾ zwave ✓ 85 ms !3 stray (4)": the name, the state, the polluted lines, and the number of tools.
func (t *tree) groupLine(g *group, width int) string {
	fold := t.fold(g.closed)
	if g.server == nil {
		line := fold + " " + t.theme.Paint(pane.Strong, g.name()) + " " + t.theme.Paint(pane.Dim, count(len(g.tools)))
		return t.theme.Cut(line, width)
	}
	line := fold + " " + t.theme.Paint(pane.Strong, render.Safe(g.name())) + " " + t.state(g.server)
	parts := []string{t.polluted(g.server)}
	if g.server.status == statusReady {
		parts = append(parts, t.theme.Paint(pane.Dim, count(len(g.tools))))
	}
	for _, part := range parts { // leave out parts that do not fit
		if part != "" && ansi.StringWidth(line)+1+ansi.StringWidth(part) <= width {
			line += " " + part
		}
	}
	return t.theme.Cut(line, width)
}

// fold returns the sign for open or closed.
func (t *tree) fold(closed bool) string {
	if closed {
		return t.theme.Glyphs.Closed
	}
	return t.theme.Glyphs.Open
}

// listLine draws "▸ resources (7)", or why the list could not be read.
func (t *tree) listLine(s *serverList, width int) string {
	line := "  " + t.fold(s.closed) + " " + s.name()
	switch {
	case s.failure != "":
		line += " " + t.theme.Paint(pane.Bad, t.theme.Glyphs.Bad+" "+render.Safe(s.failure))
	case s.listed:
		line += " " + t.theme.Paint(pane.Dim, count(len(s.items)))
	case s.reading != nil:
		line += " " + t.theme.Paint(pane.Accent, t.spinner())
	}
	return t.theme.Cut(line, width)
}

// polluted returns the number of polluted lines of a server, as the tree shows it.
func (t *tree) polluted(s *server) string {
	if s.polluted == 0 {
		return ""
	}
	return t.theme.Paint(pane.Warn, fmt.Sprintf("%s%d stray", t.theme.Glyphs.Warn, s.polluted))
}

// state returns a server's state with its sign, in a few words.
func (s *shared) state(of *server) string {
	role, sign := s.sign(of)
	return s.theme.Paint(role, sign+" "+s.safe(of.summary(s.now())))
}

// sign returns the sign of a server's state and its role.
func (s *shared) sign(of *server) (pane.Role, string) {
	glyphs := s.theme.Glyphs
	sign, role := glyphs.Off, pane.Dim
	switch of.status {
	case statusStarting, statusRetrying:
		sign, role = s.spinner(), pane.Accent
	case statusReady:
		sign, role = glyphs.Good, pane.Good
	case statusFailed, statusEnded:
		sign, role = glyphs.Bad, pane.Bad
	}
	return role, sign
}

// itemLine draws an item with those of its badges that fit.
func (t *tree) itemLine(r row, width int) string {
	one, sign := r.item, t.theme.Glyphs.Bullet
	switch {
	case t.calling(one):
		sign = t.spinner()
	case t.subscribed(one):
		sign = t.theme.Glyphs.On
	}
	indent := "  "
	if r.serverList != nil {
		indent = "    "
	}
	name := indent + sign + " " + render.Safe(one.label())
	if badges := t.badges(one, width-t.theme.Width(name)-3); badges != "" {
		return name + "  " + badges
	}
	return t.theme.Cut(name, width)
}

// badges returns an item's annotations, as far as there is room. A destructive one is drawn as a warning.
func (s *shared) badges(of item, room int) string {
	line := ""
	for _, badge := range render.Badges(of.Tool) {
		role := pane.Dim
		if badge == "destructive" {
			role = pane.Warn
		}
		more := strings.TrimPrefix(line+" "+s.theme.Paint(role, badge), " ")
		if s.theme.Width(more) > room {
			break
		}
		line = more
	}
	return line
}

// click moves the cursor to the row at a place. A second click on a group, or a click on its sign,
// opens or closes it. A click on the line that says that there is more scrolls to it.
func (t *tree) click(x, y int) {
	at := t.list.Top() + y
	switch {
	case y < 0 || at >= len(t.rows):
	case y >= t.list.Height():
		t.list.Scroll(t.list.Height())
	case t.rows[at].header() && (at == t.list.Cursor || x == t.rows[at].sign()):
		t.list.Set(at, len(t.rows))
		t.toggle()
	default:
		t.list.Set(at, len(t.rows))
	}
}

// count returns a number of tools in parentheses.
func count(n int) string { return fmt.Sprintf("(%d)", n) }
