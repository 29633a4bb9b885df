package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// tree is the pane of servers and their tools.
type tree struct {
	*shared
	groups  []*group
	list    pane.List
	rows    []row
	focus   bool
	height  int // of the pane that was drawn last
	longest int // the width of the longest item in the rows
	ordered []*group
	// calling reports whether a call of an item is running, subscribed whether a resource's updates are subscribed to.
	calling, subscribed func(item) bool
	// silent reports whether an item, which is on the page, takes no parameters.
	silent func(item) bool
	// keys returns what the keys do now, moved shows the row under the cursor, toFailed goes to the next failed server.
	keys            func() []pane.Binding
	moved, toFailed func()
	// recent returns the names of used items, the latest first.
	recent func() []string
}

// group is a server with its tools; server is nil for the tools of the config and for toolx's own.
type group struct {
	server  *server
	builtIn bool // toolx's own
	tools   []item
	closed  bool
	chosen  bool // the user has opened or closed it
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

// rank orders groups: failed servers come first, then those that start.
func (g *group) rank() int {
	switch {
	case g.server == nil:
	case g.server.failed():
		return 0
	case g.server.status == statusStarting || g.server.status == statusRetrying:
		return 1
	}
	return 2
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

// order returns the groups in the order of their rows.
func (t *tree) order() []*group {
	shown := slices.DeleteFunc(slices.Clone(t.groups), func(g *group) bool { return !g.shown() })
	slices.SortStableFunc(shown, func(a, b *group) int { return cmp.Compare(a.rank(), b.rank()) })
	return shown
}

// arrange builds the rows: everything that is open.
func (t *tree) arrange() {
	within := t.selected()
	t.ordered = t.order()
	t.fold(within)
	t.rows, t.longest = t.rows[:0], 0
	for _, g := range t.ordered {
		t.rows = append(t.rows, row{group: g})
		if g.closed {
			continue
		}
		for _, s := range g.sections() {
			indent := itemIndent
			if s.list != nil {
				t.rows, indent = append(t.rows, row{group: g, serverList: s.list}), listIndent
				if s.list.closed {
					continue
				}
			}
			t.widen(s.items, indent)
			for _, one := range s.items {
				t.rows = append(t.rows, row{g, s.list, one})
			}
		}
	}
}

// fold closes groups if the tree would be longer than its pane, except those that the user has opened, the first failed
// one, the one used last, and the one with the cursor on one of its items. A single group stays open.
func (t *tree) fold(within row) {
	rows, several := 0, 0
	for _, g := range t.ordered {
		inside := len(g.tools) + len(g.sections()) - 1
		if rows++; !g.chosen || !g.closed {
			rows += inside
		}
		if inside > 0 && !g.builtIn {
			several++
		}
	}
	crowded, last := several > 1 && t.height > 0 && rows > t.height, t.lastUsed()
	for i, g := range t.ordered {
		kept := g == last || i == 0 && g.rank() == 0 || g == within.group && !within.item.none()
		if !g.chosen && !kept {
			g.closed = crowded
		}
	}
}

// lastUsed returns the group whose tool was used last, nil if there is none.
func (t *tree) lastUsed() *group {
	for _, name := range t.recent() {
		for _, g := range t.ordered {
			if slices.ContainsFunc(g.tools, func(one item) bool { return one.Name == name }) {
				return g
			}
		}
	}
	return nil
}

// renew arranges the tree again if its height or the order of its servers has changed.
func (t *tree) renew(height int) {
	if t.height == height && slices.Equal(t.ordered, t.order()) {
		return
	}
	t.height = height
	at := t.selected()
	t.arrange()
	t.find(at)
}

// widen makes room for items whose names begin at a column, and their signs.
func (t *tree) widen(items []item, indent int) {
	for _, one := range items[:min(len(items), 1000)] {
		t.longest = max(t.longest, ansi.StringWidth(one.label())+indent+2)
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
	if at.group.closed, at.group.chosen = false, true; at.serverList != nil {
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
		at.group.closed, at.group.chosen = closed, true
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
		g.closed, g.chosen = closed, true
	}
	t.arrange()
	t.find(at)
}

// Focus sets whether the pane has the focus.
func (t *tree) Focus(on bool) { t.focus = on }

// Editing reports whether letters are text now: never.
func (t *tree) Editing() bool { return false }

// Bindings returns what the keys do now.
func (t *tree) Bindings() []pane.Binding { return t.keys() }

// Extent returns the visible part of the rows.
func (t *tree) Extent() pane.Extent { return t.list.Extent() }

// Update handles clicks and the wheel.
func (t *tree) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		t.list.Scroll(pane.Wheel(msg))
	case tea.MouseClickMsg:
		t.click(msg.X, msg.Y)
		t.moved()
	}
	return nil
}

// ClickTitle goes to the next failed server if the click is on the counts.
func (t *tree) ClickTitle(x, _ int) {
	if x > len(t.nameOf(areaTree)) {
		t.toFailed()
	}
}

// Render draws the tree.
func (t *tree) Render(width, height int) string {
	t.renew(height)
	var lines []string
	from, to := t.list.Window(len(t.rows), height)
	for i := from; i < to; i++ {
		lines = append(lines, t.line(i, width))
	}
	if len(t.rows) == 0 {
		lines = append(lines, t.theme.Paint(pane.Dim, "no tools"))
	}
	return t.theme.Block(lines, width, height)
}

// wants returns how many columns the rows can use.
func (t *tree) wants() int {
	width := t.longest
	wide := func(left, right string) { width = max(width, t.theme.Width(left)+1+t.theme.Width(right)) }
	for _, g := range t.ordered {
		wide(t.groupCells(g))
		for _, s := range g.serverLists {
			if !g.closed && s.shown() {
				wide(t.listCells(s))
			}
		}
	}
	return width
}

// Title returns the name of the pane and counts of servers, as far as there is room: failed ones matter most.
func (t *tree) Title(room int) string {
	var ready, failed, starting int
	for _, g := range t.groups {
		switch {
		case g.server == nil:
		case g.rank() == 0:
			failed++
		case g.rank() == 1:
			starting++
		case g.server.status == statusReady:
			ready++
		}
	}
	part := func(role pane.Role, n int, what string) []string {
		if n == 0 {
			return nil
		}
		return []string{t.theme.Paint(role, fmt.Sprintf("%d %s", n, what))}
	}
	name := t.theme.Paint(pane.Dim, t.nameOf(areaTree))
	ok, bad := part(pane.Plain, ready, "ok"), part(pane.Bad, failed, t.theme.Glyphs.Bad)
	starts := part(pane.Accent, starting, "starting")
	for _, parts := range [][]string{slices.Concat(ok, bad, starts), slices.Concat(ok, bad), bad} {
		title := name + "  " + strings.Join(parts, t.theme.Paint(pane.Dim, " "+t.theme.Glyphs.Dot+" "))
		if len(parts) > 0 && t.theme.Width(title) <= room {
			return title
		}
	}
	return name
}

// Hint returns which row is under the cursor, and how many tools there are.
func (t *tree) Hint() string {
	if len(t.rows) == 0 {
		return ""
	}
	tools := 0
	for _, g := range t.ordered {
		if !g.builtIn {
			tools += len(g.tools)
		}
	}
	place := fmt.Sprintf("%d of %d", t.list.Cursor+1, len(t.rows))
	if tools > 0 {
		place = words.Count(tools, "tool") + " " + t.theme.Glyphs.Dot + " " + place
	}
	return t.theme.Paint(pane.Dim, place)
}

// line draws one row: its name, and at the right edge a number or a sign.
func (t *tree) line(i, width int) string {
	r := t.rows[i]
	var left, right string
	switch {
	case !r.item.none():
		left, right = t.itemCells(r)
	case r.serverList != nil:
		left, right = t.listCells(r.serverList)
	default:
		left, right = t.groupCells(r.group)
	}
	if right != "" {
		room := max(0, width-1-t.theme.Width(right))
		left = t.theme.Fit(left, room) + " " + right
	}
	line := t.theme.Cut(left, width)
	if i == t.list.Cursor {
		return t.theme.UnderCursor(line, t.focus, width)
	}
	return line
}

// The columns where the names of items begin.
const (
	itemIndent = 4
	listIndent = 6
)

// groupCells returns "▾ zwave" and the number of tools, or "✗ mail   API_KEY is not set".
func (t *tree) groupCells(g *group) (left, right string) {
	sign, name := t.foldSign(g.closed), t.theme.Paint(pane.Strong, render.Safe(g.name()))
	right = t.number(len(g.tools))
	if g.server == nil {
		return sign + " " + name, right
	}
	if g.server.status == statusReady {
		if g.server.polluted > 0 {
			right = t.theme.Paint(pane.Warn, fmt.Sprintf("%s%d", t.theme.Glyphs.Warn, g.server.polluted)) + " " + right
		}
		return sign + " " + name, right
	}
	role, sign := t.sign(g.server)
	left = t.theme.Paint(role, sign) + " " + t.theme.Fit(name, max(t.nameColumn(), t.theme.Width(name)))
	return left + "  " + t.theme.Paint(role, t.safe(g.server.summary(t.now()))), ""
}

// nameColumn returns how wide the names of servers are, as far as that leaves room for their states.
func (t *tree) nameColumn() int {
	const most = 10
	width := 0
	for _, g := range t.ordered {
		width = max(width, t.theme.Width(render.Safe(g.name())))
	}
	return min(width, most)
}

// number returns a number of items at the right edge.
func (t *tree) number(n int) string { return t.theme.Paint(pane.Dim, fmt.Sprint(n)) }

// foldSign returns the sign for open or closed.
func (t *tree) foldSign(closed bool) string {
	if closed {
		return t.theme.Glyphs.Closed
	}
	return t.theme.Glyphs.Open
}

// listCells returns "▸ resources" and their number, or why the list could not be read.
func (t *tree) listCells(s *serverList) (left, right string) {
	name := s.name()
	switch {
	case s.failure != "":
		text := t.theme.Glyphs.Bad + " " + name + "  " + render.Safe(s.failure)
		return "  " + t.theme.Paint(pane.Bad, text), ""
	case s.listed:
		right = t.number(len(s.items))
	case s.reading != nil:
		right = t.theme.Paint(pane.Accent, t.spinner())
	}
	return "  " + t.foldSign(s.closed) + " " + name, right
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

// itemCells returns an item's name, and what is worth knowing before it is used.
func (t *tree) itemCells(r row) (left, right string) {
	indent := itemIndent
	if r.serverList != nil {
		indent = listIndent
	}
	switch one := r.item; {
	case t.calling(one):
		right = t.theme.Paint(pane.Accent, t.spinner())
	case t.subscribed(one):
		right = t.theme.Paint(pane.Accent, t.theme.Glyphs.On)
	default:
		right = t.badge(one)
	}
	return strings.Repeat(" ", indent) + render.Safe(r.item.label()), right
}

// badge returns the sign of an item that may be destructive, or only reads.
func (s *shared) badge(of item) string {
	switch badges := render.Badges(of.Tool); {
	case slices.Contains(badges, "destructive"):
		return s.theme.Paint(pane.Warn, s.theme.Glyphs.Destructive)
	case slices.Contains(badges, "read-only"):
		return s.theme.Paint(pane.Dim, s.theme.Glyphs.ReadOnly)
	}
	return ""
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
// opens or closes it.
func (t *tree) click(x, y int) {
	at := t.list.Top() + y
	switch {
	case y < 0 || at >= len(t.rows):
	case t.rows[at].header() && (at == t.list.Cursor || x == t.rows[at].sign()):
		t.list.Set(at, len(t.rows))
		t.toggle()
	default:
		t.list.Set(at, len(t.rows))
	}
}
