package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/form"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// leaf is one of the leaves of an item's page.
type leaf int

const (
	leafForm leaf = iota
	leafAbout
	leafSchema // as a tree
	leafJSON   // the same as text
)

// page is the pane in the centre: an item, a list of such, or a server.
type page struct {
	theme  *pane.Theme
	now    func() time.Time
	item   item    // none where a server is shown
	server *server // nil where nothing is selected either
	shelf  *shelf  // of server; nil where the server itself is shown
	leaf   leaf

	form   *form.Form         // of item; nil where it has none
	forms  map[itemKey]filled // of every item that was shown
	schema *jsontree.Tree
	top    int // the first line that is shown of what scrolls
	focus  bool
	told   told
}

// filled is a form and the item that it was made for.
type filled struct {
	item item
	form *form.Form
}

func newPage(theme *pane.Theme, now func() time.Time) *page {
	return &page{theme: theme, now: now, forms: make(map[itemKey]filled)}
}

// showItem shows an item; what was filled in for it is there again.
func (p *page) showItem(one item) {
	if p.item == one {
		return
	}
	if p.form != nil {
		p.form.Focus(false)
	}
	p.item, p.server, p.shelf, p.top = one, nil, nil, 0
	p.form = p.forms[one.key()].form
	if p.form == nil && one.fillable() {
		p.form = form.New(one.Tool, p.theme, p.now)
		p.forms[one.key()] = filled{one, p.form}
	}
	p.schema = jsontree.New(one.InputSchema, p.theme)
	p.setFocus(p.focus)
}

// renew takes items that were listed anew. A form stays as it is, with its cursor, as
// long as its schema is the same; else what was filled in goes into a new one. changed
// says that this is so of the form on the screen.
func (p *page) renew(all []item) (changed bool) {
	for _, one := range all {
		if p.item.key() == one.key() && !one.fillable() {
			p.item = one
		}
		kept, ok := p.forms[one.key()]
		if !ok || kept.item == one {
			continue
		}
		if !bytes.Equal(kept.item.InputSchema, one.InputSchema) {
			kept.form = p.refilled(one, kept.form)
		}
		p.forms[one.key()] = filled{one, kept.form}
		if p.item.key() != one.key() {
			continue
		}
		p.item = one
		if old := p.form; old != kept.form {
			p.form, changed = kept.form, true
			p.schema = jsontree.New(one.InputSchema, p.theme)
			p.setFocus(p.focus)
			p.form.Resume(old)
		}
	}
	return changed
}

// refilled is an item's form with what another one holds; what does not fit is there
// as JSON, and what is no JSON yet as text.
func (p *page) refilled(one item, old *form.Form) *form.Form {
	fresh := form.New(one.Tool, p.theme, p.now)
	arguments, err := old.Arguments()
	if err == nil {
		err = fresh.SetArguments(arguments)
	}
	if err != nil {
		fresh.EditText(old.Draft())
	}
	return fresh
}

// showNothing empties the page: nothing is selected.
func (p *page) showNothing() { p.item, p.form, p.server, p.shelf = item{}, nil, nil, nil }

func (p *page) showServer(s *server) { p.showShelf(s, nil) }

// showShelf shows a list of a server, or the server itself where there is none.
func (p *page) showShelf(s *server, of *shelf) {
	if p.server != s || p.shelf != of {
		p.top = 0
	}
	p.item, p.form, p.server, p.shelf = item{}, nil, s, of
}

// leaves are the leaves of the item's page.
func (p *page) leaves() []leaf {
	switch p.item.kind {
	case kindTool:
		return []leaf{leafForm, leafAbout, leafSchema, leafJSON}
	case kindResource:
		return []leaf{leafAbout, leafJSON}
	}
	return []leaf{leafForm, leafAbout, leafJSON} // the schema is toolx's own
}

// shown is the leaf on the screen: the one that was chosen, wherever there is one.
func (p *page) shown() leaf {
	if list := p.leaves(); !slices.Contains(list, p.leaf) {
		return list[0]
	}
	return p.leaf
}

// arguments are what the item is run with, as a JSON object: of a resource its URI.
func (p *page) arguments() (json.RawMessage, error) {
	if p.item.kind != kindResource && p.item.kind != kindTemplate {
		return p.form.Arguments()
	}
	uri, err := p.uri()
	if err != nil {
		return nil, err
	}
	return rawjson.Marshal(map[string]string{"uri": uri})
}

// uri is that of the resource on the screen, of a template with what is filled in.
func (p *page) uri() (string, error) {
	if p.item.kind != kindTemplate {
		return p.item.Plain, nil
	}
	values, err := p.form.Arguments()
	if err != nil {
		return "", err
	}
	return servers.ExpandTemplate(p.item.Plain, values)
}

func (p *page) setTheme(theme *pane.Theme) {
	p.theme = theme
	for _, kept := range p.forms {
		kept.form.SetTheme(theme)
	}
	if !p.item.none() {
		p.schema = jsontree.New(p.item.InputSchema, theme)
	}
}

func (p *page) setFocus(on bool) {
	p.focus = on
	if p.form != nil {
		p.form.Focus(on && p.shown() == leafForm)
	}
}

// turn goes to the next leaf of an item.
func (p *page) turn() tea.Cmd {
	list := p.leaves()
	p.show(list[(slices.Index(list, p.shown())+1)%len(list)])
	return nil
}

// show goes to a leaf of an item.
func (p *page) show(wanted leaf) {
	p.leaf, p.top = wanted, 0
	p.setFocus(p.focus)
}

// editing reports whether letters are text now.
func (p *page) editing() bool {
	switch {
	case p.item.none():
		return false
	case p.shown() == leafForm:
		return p.form.Editing()
	case p.shown() == leafSchema:
		return p.schema.Editing()
	}
	return false
}

func (p *page) update(msg tea.Msg) tea.Cmd {
	switch {
	case !p.item.none() && p.shown() == leafForm:
		return p.form.Update(msg)
	case !p.item.none() && p.shown() == leafSchema:
		return p.schema.Update(msg)
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		p.scroll(pane.Wheel(wheel))
	}
	return nil
}

func (p *page) scroll(by int) { p.top = max(0, p.top+by) }

func (p *page) scrollKeys() []pane.Binding {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { p.scroll(by); return nil }
	}
	return []pane.Binding{
		{Keys: []string{"down", "j"}, Help: "down", Do: move(1)},
		{Keys: []string{"up", "k"}, Help: "up", Do: move(-1)},
		{Keys: []string{"pgdown", "space"}, Help: "a page down", Do: move(10)},
		{Keys: []string{"pgup"}, Help: "a page up", Do: move(-10)},
		{Keys: []string{"home", "g"}, Help: "the beginning", Do: move(-1 << 20)},
		{Keys: []string{"end", "G"}, Help: "the end", Do: move(1 << 20)},
	}
}

func (p *page) bindings() []pane.Binding {
	if p.item.none() {
		return p.scrollKeys()
	}
	if p.editing() {
		return p.form.Bindings() // "]" is text now
	}
	turn := pane.Binding{Keys: []string{"]"}, Help: p.leafHelp(), Do: p.turn}
	switch p.shown() {
	case leafForm:
		return append(p.form.Bindings(), turn)
	case leafSchema:
		return append(p.schema.Bindings(), turn)
	}
	return append(p.scrollKeys(), turn)
}

// String names a leaf.
func (l leaf) String() string { return [...]string{"form", "about", "schema", "json"}[l] }

// leafHelp names the leaves that there are.
func (p *page) leafHelp() string {
	var names []string
	for _, one := range p.leaves() {
		names = append(names, one.String())
	}
	return strings.Join(names, ", ")
}

// title stands in the border: the item and its leaves, or the server.
func (p *page) title() string {
	switch {
	case !p.item.none():
		var names []string
		for _, one := range p.leaves() {
			name := one.String()
			if one == p.shown() {
				name = p.theme.Paint(pane.Strong, "["+name+"]")
			}
			names = append(names, name)
		}
		return p.theme.Paint(pane.Strong, render.Safe(p.item.heading())) + "  " + strings.Join(names, " ")
	case p.shelf != nil:
		return p.shelf.name() + " of " + render.Safe(p.server.name)
	case p.server != nil:
		return "server " + render.Safe(p.server.name)
	}
	return "tool"
}

// render draws the page; foot are the lines at its end, where there is something to run.
func (p *page) render(width, height int, facts, foot []string) string {
	switch {
	case p.item.none() && p.server == nil:
		return p.theme.Block([]string{p.theme.Paint(pane.Dim, "select a tool on the left")}, width, height)
	case p.item.none():
		return p.scrolled(facts, width, height)
	case !p.runnable():
		return p.renderLeaf(width, height)
	}
	foot = foot[max(0, len(foot)-max(1, height-1)):] // the last line matters most
	if height == len(foot) {
		return p.theme.Block(foot, width, height)
	}
	return p.renderLeaf(width, height-len(foot)) + "\n" + p.theme.Block(foot, width, len(foot))
}

func (p *page) renderLeaf(width, height int) string {
	switch p.shown() {
	case leafForm:
		return p.form.Render(width, height)
	case leafSchema:
		return p.schema.Render(width, height)
	}
	return p.scrolled(p.tell(width), width, height)
}

// runnable reports whether the leaf on the screen is the one from which the item is run:
// its form, or of what has none its description.
func (p *page) runnable() bool {
	return !p.item.none() && (p.shown() == leafForm || !p.item.fillable() && p.shown() == leafAbout)
}

// callLine is the last line of the page: how to run the item, or why not.
func (p *page) callLine(cannot string) string {
	if cannot != "" {
		return p.theme.Paint(pane.Warn, p.theme.Glyphs.Warn+" "+render.Safe(cannot))
	}
	what := p.item.label()
	if p.item.kind == kindTemplate {
		what, _ = p.uri() // else cannot says why not
	}
	return p.theme.Paint(pane.Good, "ctrl+r") + " " + p.item.kind.verb() + "s " + render.Safe(what)
}

// scrolled shows a part of lines; it ends at the last one.
func (p *page) scrolled(lines []string, width, height int) string {
	p.top = max(0, min(p.top, len(lines)-height))
	shown := slices.Clone(lines[p.top:min(len(lines), p.top+height)])
	if rest := len(lines) - p.top - height; rest > 0 {
		shown[len(shown)-1] = p.theme.Paint(pane.Dim, fmt.Sprintf("%s %d more lines", p.theme.Glyphs.More, rest+1))
	}
	return p.theme.Block(shown, width, height)
}

// spin is the sign of what is under way, at a time.
func spin(theme *pane.Theme, now time.Time) string {
	frames := theme.Glyphs.Spinner
	return frames[int(now.UnixMilli()/tickTime.Milliseconds())%len(frames)]
}

// spinner is the sign of what is under way.
func (m *model) spinner() string {
	return spin(m.theme, m.now())
}
