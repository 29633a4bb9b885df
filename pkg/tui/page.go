package tui

import (
	"bytes"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// pageTab is one of the tabs of an item's page.
type pageTab int

const (
	tabForm pageTab = iota
	tabAbout
	tabJSON // the definition as a tree
	tabs
)

// page is the pane in the centre: an item, a list of items, or a server.
type page struct {
	*shared
	item       item        // none where a server is shown
	server     *server     // nil where nothing is selected either
	serverList *serverList // of server; nil where the server itself is shown
	tab        pageTab

	*forms
	definition *jsontree.Tree
	list       pane.List // the lines of what scrolls
	focus      bool
	told       pane.Cache[item]
	intro      pane.Cache[item]           // the lines above the form
	above      int                        // how many lines of it were drawn last
	report     pane.Cache[*doctor.Report] // of the doctor
	// unfolded is the report that is shown in full, nil for none.
	unfolded *doctor.Report
	// instructions are a server's. They are cached because its page is drawn every second and hostile
	// instructions can be slow to lay out.
	instructions pane.Cache[string]
	memory       measured
	servers      *supervisor
	developers   *developers
	config       *configurer
	// foot returns the last lines for a width, none if there is nothing to run.
	foot func(width int) []string
	// limit returns the time limit that the user has set for calls of the item, empty for none.
	limit func() string
}

// showItem shows an item, with what was filled in for it before. It reports whether another one was shown.
func (p *page) showItem(one item) bool {
	if p.item == one {
		return false
	}
	p.forget(p.item)
	p.item, p.server, p.serverList, p.list = one, nil, nil, pane.List{}
	p.open(one)
	p.definition = jsontree.New(one.Definition, p.theme)
	p.Focus(p.focus)
	return true
}

// showCall shows the arguments of a call of the item in the form; nil shows what is typed.
func (p *page) showCall(c *call) {
	p.bind(p.item, c)
	p.Focus(p.focus)
}

// renew takes relisted items. A form is kept, with its cursor, as long as its schema is the same; else
// its values go into a new form. changed reports whether that happened to the form on the screen.
func (p *page) renew(all []item) (changed bool) {
	for _, one := range all {
		shown, old := p.item.key() == one.key(), p.form
		if shown && !bytes.Equal(p.item.Definition, one.Definition) {
			p.definition = jsontree.New(one.Definition, p.theme)
		}
		kept, ok := p.typed[one.key()]
		if !ok || kept.item == one {
			continue
		}
		same := bytes.Equal(kept.item.InputSchema, one.InputSchema)
		p.forms.renew(one, same)
		if shown {
			p.item = one
		}
		if shown && !same {
			changed = true
			p.Focus(p.focus)
			p.form.Resume(old)
		}
	}
	return changed
}

// showNothing empties the page: nothing is selected.
func (p *page) showNothing() {
	p.forget(p.item)
	p.item, p.server, p.serverList = item{}, nil, nil
}

// showServer shows one of a server's lists, or the server itself if of is nil.
func (p *page) showServer(s *server, of *serverList) {
	if p.server != s || p.serverList != of {
		p.list = pane.List{}
	}
	p.forget(p.item)
	p.item, p.server, p.serverList = item{}, s, of
}

// arguments returns the arguments to run the item with, as a JSON object; for a resource it contains the URI.
func (p *page) arguments() (json.RawMessage, error) {
	if !p.item.resource() {
		return p.form.Arguments()
	}
	uri, err := p.uri()
	if err != nil {
		return nil, err
	}
	return rawjson.Marshal(map[string]string{"uri": uri})
}

// uri returns the URI of the resource on the screen, or of the template with the values filled in.
func (p *page) uri() (string, error) {
	if p.item.kind != kindTemplate {
		return p.item.Plain, nil
	}
	values, err := p.form.Arguments()
	if err != nil {
		return "", err
	}
	return protocol.ExpandTemplate(p.item.Plain, values)
}

// Focus sets whether the pane has the focus.
func (p *page) Focus(on bool) {
	p.focus = on
	if p.form != nil {
		p.form.Focus(on && p.tab == tabForm)
	}
}

// turn goes to the next tab of an item.
func (p *page) turn() { p.show((p.tab + 1) % tabs) }

// show goes to a tab of an item.
func (p *page) show(wanted pageTab) {
	p.tab, p.list = wanted, pane.List{}
	p.Focus(p.focus)
}

// inner returns the form or the tree of the tab on the screen, nil if the tab only scrolls.
func (p *page) inner() pane.Pane {
	switch {
	case p.item.none():
		return nil
	case p.tab == tabForm:
		return p.form
	case p.tab == tabJSON:
		return p.definition
	}
	return nil
}

// Editing reports whether letters are text now.
func (p *page) Editing() bool { return p.inner() != nil && p.inner().Editing() }

// Update handles text, and the mouse in the pane's own coordinates.
func (p *page) Update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok && p.tab == tabForm {
		click.Y -= p.above
		if msg = click; click.Y < 0 {
			return nil
		}
	}
	if inner := p.inner(); inner != nil {
		return inner.Update(msg)
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		p.list.Scroll(pane.Wheel(wheel))
	}
	return nil
}

// Bindings returns what the keys do now.
func (p *page) Bindings() []pane.Binding {
	inner := p.inner()
	switch {
	case inner == nil:
		return append(p.list.ScrollKeys("space"), p.serverKeys()...)
	case p.ends(): // enter runs the item
		return pane.Without(inner.Bindings(), []pane.Binding{{Keys: []string{"enter"}}})
	}
	return inner.Bindings()
}

// tabNames returns the names of the tabs of an item's page.
func tabNames() []string { return []string{"form", "about", "json"} }

// runHelp returns what the run key does with the item.
func (p *page) runHelp() string { return p.item.kind.verb() + " the " + p.item.kind.String() }

// Title returns the title for a number of cells.
func (p *page) Title(room int) string {
	title, _ := p.title(room)
	return title
}

// title returns the title for a number of cells: the item and its tabs, or the server. at returns the tab at a column,
// or -1. If there is too little room, it omits the name of the item's server, then the tabs that are not on the screen.
func (p *page) title(room int) (title string, at func(x int) int) {
	none := func(int) int { return -1 }
	kind := func(text string) string { return p.theme.Paint(pane.Dim, text) }
	name := func(text string) string { return p.theme.Paint(pane.Strong, render.Safe(text)) }
	switch {
	case !p.item.none():
		return p.itemTitle(room)
	case p.serverList != nil:
		return name(p.server.name) + " " + kind(p.serverList.name()), none
	case p.server != nil && p.server.name != config.AdHocName:
		return kind("server ") + name(p.server.name), none
	case p.server != nil:
		return name(titleOf(p.server.name)), none
	case len(p.config.welcome(room)) > 0:
		return kind("welcome"), none
	}
	return kind("tool"), none
}

// itemTitle is the title of an item.
func (p *page) itemTitle(room int) (title string, at func(x int) int) {
	of, name := "", p.theme.Paint(pane.Strong, render.Safe(p.item.label()))+"  "
	if p.item.Server != "" {
		of = p.theme.Paint(pane.Dim, render.Safe(p.item.Server)+" "+p.theme.Glyphs.Dot+" ")
	}
	if all, _ := p.theme.Tabs(tabNames(), int(p.tab), room); p.theme.Width(of+name+all) > room {
		of = ""
	}
	tabs, tab := p.theme.Tabs(tabNames(), int(p.tab), room-p.theme.Width(of+name))
	heading := of + p.theme.Cut(name, max(8, room-p.theme.Width(tabs)))
	left := p.theme.Width(heading)
	return heading + tabs, func(x int) int { return tab(x - left) }
}

// ClickTitle goes to the tab at a column of the title in a number of cells.
func (p *page) ClickTitle(x, room int) {
	_, at := p.title(room)
	if tab := at(x); tab >= 0 {
		p.show(pageTab(tab))
	}
}

// Render draws the page, and its last lines if there is something to run.
func (p *page) Render(width, height int) string {
	foot := p.foot(width)
	if foot = foot[:min(len(foot), height-1)]; len(foot) == 0 {
		return p.renderTab(width, height)
	}
	return p.renderTab(width, height-len(foot)) + "\n" + p.theme.Block(foot, width, len(foot))
}

func (p *page) renderTab(width, height int) string {
	p.above = 0
	if inner := p.inner(); inner != nil {
		if p.tab != tabForm {
			return inner.Render(width, height)
		}
		intro := p.introLines(width, height)
		p.above = len(intro)
		form := inner.Render(width, height-p.above)
		if p.above == 0 {
			return form
		}
		return p.theme.Block(intro, width, p.above) + "\n" + form
	}
	var lines []string
	switch {
	case !p.item.none():
		lines = p.told.Lines(p.theme, p.item, width, func() []string { return p.aboutLines(p.item, width) })
	case p.serverList != nil:
		lines = p.serverListFacts(width)
	case p.server != nil:
		lines = p.serverFacts(width)
	default:
		if lines = p.config.welcome(width); len(lines) == 0 {
			lines = []string{p.theme.Paint(pane.Dim, "select a tool on the left")}
		}
	}
	return p.theme.Block(p.theme.Scrolled(&p.list, lines, height, ""), width, height)
}

// Extent returns how much of the tab on the screen is visible.
func (p *page) Extent() pane.Extent {
	if inner := p.inner(); inner != nil {
		return pane.ExtentOf(inner)
	}
	return p.list.Extent()
}

// wants returns how many rows the page can use at a width: for the form, the explanation of a field, and the last
// lines. It is 0 if unknown.
func (p *page) wants(width int) int {
	const few = 3 // below few fields there is no room to explain one
	foot := len(p.foot(width))
	switch {
	case p.item.none() || p.tab != tabForm || p.form.AsJSON():
		return 0
	case p.form.Empty():
		return 1 + foot
	case p.form.Fields() < few:
		return p.form.Fields() + foot
	}
	return p.form.Fields() + 1 + foot
}

// runnable reports whether the item can be run from the tab on the screen.
func (p *page) runnable() bool { return !p.item.none() && p.tab == tabForm }

// takesNothing reports whether the item has no parameters.
func (p *page) takesNothing() bool {
	return !p.item.none() && p.item.kind != kindTemplate && p.form.Empty()
}

// ends reports whether enter in the form runs the item, because nothing is left to fill in.
func (p *page) ends() bool {
	return p.runnable() && p.cannotRun() == "" && (p.form.AtEnd() || p.form.Empty())
}

// Hint returns the hint in the bottom border: how to run the item, or why that is impossible. It is empty if there
// is nothing to run.
func (p *page) Hint() string {
	if !p.runnable() {
		return ""
	}
	if cannot := p.cannotRun(); cannot != "" {
		return p.theme.Paint(pane.Warn, p.theme.Glyphs.Warn+" "+render.Safe(cannot))
	}
	what := p.item.label()
	if p.item.kind == kindTemplate {
		what, _ = p.uri() // it cannot fail here
	}
	line := " " + p.item.kind.verb() + "s " + render.Safe(what)
	if limit := p.limit(); limit != "" {
		line += p.theme.Paint(pane.Dim, ", time limit "+render.Safe(limit))
	}
	if confirmed(p.item) != "" {
		return p.theme.Paint(pane.Warn, "ctrl+r") + line + p.theme.Paint(pane.Dim, ", asks first")
	}
	return p.theme.Paint(pane.Good, "ctrl+r") + line
}

// noItem returns why nothing can be done with an item.
func (p *page) noItem() string { return pane.Off(p.item.none(), "nothing is selected") }

// cannotRun returns why the item cannot be run now.
func (p *page) cannotRun() string {
	if p.item.none() {
		return "no tool is selected"
	}
	if problems := p.form.Problems(); len(problems) > 0 {
		return problems[0]
	}
	if _, err := p.uri(); err != nil {
		return err.Error()
	}
	return ""
}
