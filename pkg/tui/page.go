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

// pageTab is one of the tabs of an item's page.
type pageTab int

const (
	tabForm pageTab = iota
	tabAbout
	tabSchema // as a tree
	tabJSON   // the same as text
)

// page is the pane in the centre: an item, a list of items, or a server.
type page struct {
	theme      *pane.Theme
	now        func() time.Time
	item       item        // none where a server is shown
	server     *server     // nil where nothing is selected either
	serverList *serverList // of server; nil where the server itself is shown
	tab        pageTab

	form   *form.Form         // of item; nil where it has none
	forms  map[itemKey]filled // of every item that was shown
	schema *jsontree.Tree
	top    int // the first line that is shown of what scrolls
	focus  bool
	told   pane.Cache[toldTab]
}

// filled is a form and the item that it was made for.
type filled struct {
	item item
	form *form.Form
}

func newPage(theme *pane.Theme, now func() time.Time) *page {
	return &page{theme: theme, now: now, forms: make(map[itemKey]filled)}
}

// showItem shows an item, with what was filled in for it before.
func (p *page) showItem(one item) {
	if p.item == one {
		return
	}
	if p.form != nil {
		p.form.Focus(false)
	}
	p.item, p.server, p.serverList, p.top = one, nil, nil, 0
	p.form = p.forms[one.key()].form
	if p.form == nil && one.fillable() {
		p.form = form.New(one.Tool, p.theme, p.now)
		p.forms[one.key()] = filled{one, p.form}
	}
	p.schema = jsontree.New(one.InputSchema, p.theme)
	p.setFocus(p.focus)
}

// renew takes relisted items. A form is kept, with its cursor, as long as its schema is the same; else
// its values go into a new form. changed reports whether that happened to the form on the screen.
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

// refilled returns an item's form with the values of an old one. Values that do not fit are filled in
// as JSON, and text that is not JSON yet as text.
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
func (p *page) showNothing() { p.item, p.form, p.server, p.serverList = item{}, nil, nil, nil }

func (p *page) showServer(s *server) { p.showServerList(s, nil) }

// showServerList shows one of a server's lists, or the server itself if of is nil.
func (p *page) showServerList(s *server, of *serverList) {
	if p.server != s || p.serverList != of {
		p.top = 0
	}
	p.item, p.form, p.server, p.serverList = item{}, nil, s, of
}

// tabs returns the tabs of the item's page.
func (p *page) tabs() []pageTab {
	switch p.item.kind {
	case kindTool:
		return []pageTab{tabForm, tabAbout, tabSchema, tabJSON}
	case kindResource:
		return []pageTab{tabAbout, tabJSON}
	}
	return []pageTab{tabForm, tabAbout, tabJSON} // the schema is toolx's own
}

// shown returns the tab on the screen: the one that was chosen, if the item has it.
func (p *page) shown() pageTab {
	if list := p.tabs(); !slices.Contains(list, p.tab) {
		return list[0]
	}
	return p.tab
}

// arguments returns what the item is run with, as a JSON object; for a resource it holds the URI.
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

// uri returns the URI of the resource on the screen, or of the template with the values filled in.
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

func (p *page) setFocus(on bool) {
	p.focus = on
	if p.form != nil {
		p.form.Focus(on && p.shown() == tabForm)
	}
}

// turn goes to the next tab of an item.
func (p *page) turn() tea.Cmd {
	list := p.tabs()
	p.show(list[(slices.Index(list, p.shown())+1)%len(list)])
	return nil
}

// show goes to a tab of an item.
func (p *page) show(wanted pageTab) {
	p.tab, p.top = wanted, 0
	p.setFocus(p.focus)
}

// editing reports whether letters are text now.
func (p *page) editing() bool {
	switch {
	case p.item.none():
		return false
	case p.shown() == tabForm:
		return p.form.Editing()
	case p.shown() == tabSchema:
		return p.schema.Editing()
	}
	return false
}

func (p *page) update(msg tea.Msg) tea.Cmd {
	switch {
	case !p.item.none() && p.shown() == tabForm:
		return p.form.Update(msg)
	case !p.item.none() && p.shown() == tabSchema:
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
	turn := pane.Binding{Keys: []string{"]"}, Help: p.tabHelp(), Do: p.turn}
	switch p.shown() {
	case tabForm:
		return append(p.form.Bindings(), turn)
	case tabSchema:
		return append(p.schema.Bindings(), turn)
	}
	return append(p.scrollKeys(), turn)
}

// String returns the name of a tab.
func (t pageTab) String() string { return [...]string{"form", "about", "schema", "json"}[t] }

// tabHelp names the tabs of the page.
func (p *page) tabHelp() string {
	var names []string
	for _, one := range p.tabs() {
		names = append(names, one.String())
	}
	return strings.Join(names, ", ")
}

// title returns what is in the border: the item and its tabs, or the server.
func (p *page) title() string {
	switch {
	case !p.item.none():
		var names []string
		for _, one := range p.tabs() {
			name := one.String()
			if one == p.shown() {
				name = p.theme.Paint(pane.Strong, "["+name+"]")
			}
			names = append(names, name)
		}
		return p.theme.Paint(pane.Strong, render.Safe(p.item.heading())) + "  " + strings.Join(names, " ")
	case p.serverList != nil:
		return p.serverList.name() + " of " + render.Safe(p.server.name)
	case p.server != nil:
		return "server " + render.Safe(p.server.name)
	}
	return "tool"
}

// render draws the page. foot holds the last lines, if there is something to run.
func (p *page) render(width, height int, facts, foot []string) string {
	switch {
	case p.item.none() && p.server == nil:
		return p.theme.Block([]string{p.theme.Paint(pane.Dim, "select a tool on the left")}, width, height)
	case p.item.none():
		return p.scrolled(facts, width, height)
	case !p.runnable():
		return p.renderTab(width, height)
	}
	foot = foot[max(0, len(foot)-max(1, height-1)):] // the last line matters most
	if height == len(foot) {
		return p.theme.Block(foot, width, height)
	}
	return p.renderTab(width, height-len(foot)) + "\n" + p.theme.Block(foot, width, len(foot))
}

func (p *page) renderTab(width, height int) string {
	switch p.shown() {
	case tabForm:
		return p.form.Render(width, height)
	case tabSchema:
		return p.schema.Render(width, height)
	}
	return p.scrolled(p.tell(width), width, height)
}

// runnable reports whether the item can be run from the tab on the screen: its form, or its
// description if it has no form.
func (p *page) runnable() bool {
	return !p.item.none() && (p.shown() == tabForm || !p.item.fillable() && p.shown() == tabAbout)
}

// callLine returns the last line of the page: how to run the item, or why that is impossible.
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

// scrolled returns the visible part of lines; it stops at the last one.
func (p *page) scrolled(lines []string, width, height int) string {
	p.top = max(0, min(p.top, len(lines)-height))
	shown := slices.Clone(lines[p.top:min(len(lines), p.top+height)])
	if rest := len(lines) - p.top - height; rest > 0 {
		shown[len(shown)-1] = p.theme.Paint(pane.Dim, fmt.Sprintf("%s %d more lines", p.theme.Glyphs.More, rest+1))
	}
	return p.theme.Block(shown, width, height)
}

// spin returns the spinner's sign at now.
func spin(theme *pane.Theme, now time.Time) string {
	frames := theme.Glyphs.Spinner
	return frames[int(now.UnixMilli()/tickTime.Milliseconds())%len(frames)]
}

// spinner returns the sign for something that is running.
func (m *model) spinner() string {
	return spin(m.theme, m.now())
}
