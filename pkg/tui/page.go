package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/form"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
)

// leaf is one of the leaves of a tool's page.
type leaf int

const (
	leafForm leaf = iota
	leafAbout
	leafSchema // as a tree
	leafJSON   // the same as text
	leaves
)

// page is the pane in the centre: a tool, or a server.
type page struct {
	theme  *pane.Theme
	item   item    // none where a server is shown
	server *server // nil where nothing is selected either
	leaf   leaf

	form   *form.Form         // of item; nil where it has none
	forms  map[itemKey]filled // of every item that was shown
	schema *jsontree.Tree
	top    int // the first line that is shown of what scrolls
	focus  bool
	told   told
}

// told is what an item says of itself, as it was drawn last.
type told struct {
	item  item
	theme *pane.Theme
	width int
	lines []string
}

// filled is a form and the item that it was made for.
type filled struct {
	item item
	form *form.Form
}

func newPage(theme *pane.Theme) *page {
	return &page{theme: theme, forms: make(map[itemKey]filled)}
}

// showItem shows an item; what was filled in for it is there again.
func (p *page) showItem(one item) {
	if p.item == one {
		return
	}
	if p.form != nil {
		p.form.Focus(false)
	}
	p.item, p.server, p.top = one, nil, 0
	p.form = p.forms[one.key()].form
	if p.form == nil {
		p.form = form.New(one.Tool, p.theme)
		p.forms[one.key()] = filled{one, p.form}
	}
	p.form.Focus(p.focus)
	p.schema = jsontree.New(one.InputSchema, p.theme)
}

// renew takes items that were listed anew. A form stays as it is, with its cursor, as
// long as its schema is the same; else what was filled in goes into a new one.
func (p *page) renew(all []item) {
	for _, one := range all {
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
		if p.form != kept.form {
			p.form = kept.form
			p.schema = jsontree.New(one.InputSchema, p.theme)
			p.setFocus(p.focus)
		}
	}
}

// refilled is an item's form with what another one holds; what does not fit is there
// as JSON, and what is no JSON yet as text.
func (p *page) refilled(one item, old *form.Form) *form.Form {
	fresh := form.New(one.Tool, p.theme)
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
func (p *page) showNothing() { p.item, p.form, p.server = item{}, nil, nil }

func (p *page) showServer(s *server) {
	if p.server != s {
		p.top = 0
	}
	p.item, p.form, p.server = item{}, nil, s
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
		p.form.Focus(on && p.leaf == leafForm)
	}
}

// turn goes to the next leaf of a tool.
func (p *page) turn() tea.Cmd {
	p.show((p.leaf + 1) % leaves)
	return nil
}

// show goes to a leaf of a tool.
func (p *page) show(wanted leaf) {
	p.leaf, p.top = wanted, 0
	p.setFocus(p.focus)
}

// editing says whether letters are text now.
func (p *page) editing() bool {
	switch {
	case p.item.none():
		return false
	case p.leaf == leafForm:
		return p.form.Editing()
	case p.leaf == leafSchema:
		return p.schema.Editing()
	}
	return false
}

func (p *page) update(msg tea.Msg) tea.Cmd {
	switch {
	case !p.item.none() && p.leaf == leafForm:
		return p.form.Update(msg)
	case !p.item.none() && p.leaf == leafSchema:
		return p.schema.Update(msg)
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if binding := pane.Find(p.scrollKeys(), msg.String()); binding != nil {
			return binding.Do()
		}
	case tea.MouseWheelMsg:
		p.scroll(pane.Wheel(msg))
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
	turn := pane.Binding{Keys: []string{"]"}, Help: "form, about, schema, json", Do: p.turn}
	switch p.leaf {
	case leafForm:
		return append(p.form.Bindings(), turn)
	case leafSchema:
		return append(p.schema.Bindings(), turn)
	}
	return append(p.scrollKeys(), turn)
}

func leafNames() []string { return []string{"form", "about", "schema", "json"} }

// title stands in the border: the tool and its leaves, or the server.
func (p *page) title() string {
	switch {
	case !p.item.none():
		names := leafNames()
		names[p.leaf] = p.theme.Paint(pane.Strong, "["+names[p.leaf]+"]")
		return p.theme.Paint(pane.Strong, render.Safe(p.item.Name)) + "  " + strings.Join(names, " ")
	case p.server != nil:
		return "server " + render.Safe(p.server.name)
	}
	return "tool"
}

// render draws the page; cannot says why the tool cannot be called.
func (p *page) render(width, height int, cannot string, facts []string) string {
	switch {
	case p.item.none() && p.server == nil:
		return p.theme.Block([]string{p.theme.Paint(pane.Dim, "select a tool on the left")}, width, height)
	case p.item.none():
		return p.scrolled(facts, width, height)
	case p.leaf == leafAbout:
		return p.scrolled(p.about(width), width, height)
	case p.leaf == leafSchema:
		return p.schema.Render(width, height)
	case p.leaf == leafJSON:
		return p.scrolled(p.definition(), width, height)
	}
	return p.form.Render(width, height-1) + "\n" + p.theme.Fit(p.callLine(cannot), width)
}

// callLine is the line below the form: how to call, or why not.
func (p *page) callLine(cannot string) string {
	if cannot != "" {
		return p.theme.Paint(pane.Warn, p.theme.Glyphs.Warn+" "+render.Safe(cannot))
	}
	return p.theme.Paint(pane.Good, "ctrl+r") + " calls " + render.Safe(p.item.Plain)
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

// about is what a tool says of itself. A description can be made to take long: it is
// laid out once.
func (p *page) about(width int) []string {
	if p.told.item != p.item || p.told.width != width || p.told.theme != p.theme {
		p.told = told{p.item, p.theme, width, p.layAbout(width)}
	}
	return p.told.lines
}

func (p *page) layAbout(width int) []string {
	tool := p.item.Tool
	var lines []string
	if tool.Title != "" && tool.Title != tool.Plain {
		lines = append(lines, p.theme.Paint(pane.Heading, render.Safe(tool.Title)), "")
	}
	if badges := render.Badges(tool); len(badges) > 0 {
		lines = append(lines, p.theme.Paint(pane.Badge, strings.Join(badges, " ")), "")
	}
	lines = append(lines, markdown.Render(tool.Description, width, p.theme)...)
	if tool.Description == "" {
		lines = append(lines, p.theme.Paint(pane.Dim, "no description"))
	}
	lines = append(lines, "", p.theme.Paint(pane.Dim, "called as "+render.Safe(tool.Name)))
	return lines
}

// definition is the whole of what the server says of the tool, as JSON.
func (p *page) definition() []string {
	var text bytes.Buffer
	if json.Indent(&text, p.item.Definition, "", "  ") != nil {
		text.Write(p.item.Definition)
	}
	return strings.Split(render.SafeBlock(text.String()), "\n")
}

// serverFacts are what there is to know of a server, as lines.
func (m *model) serverFacts(s *server, width int) []string {
	theme := m.theme
	var lines []string
	fact := func(name, value string) {
		if value != "" {
			for i, line := range pane.Wrap(value, max(10, width-14)) {
				lines = append(lines, fmt.Sprintf("%s %s", theme.Paint(pane.Dim, fmt.Sprintf("%-13s", onlyFirst(i, name))), line))
			}
		}
	}
	now := m.now()
	fact("state", m.tree.state(s, now))
	fact("reason", render.SafeBlock(s.reason))
	for i, finding := range s.findings {
		fact(onlyFirst(i, "doctor"), finding)
	}
	fact("command", render.Safe(m.hide(strings.Join(s.commandLine(), " "))))
	session := m.options.Pool.Session(s.name)
	if session != nil && s.status == statusReady {
		fact("protocol", render.Safe(session.Protocol))
		fact("server", render.Safe(strings.TrimSpace(session.Info.Name+" "+session.Info.Version)))
		fact("capabilities", capabilities(session.Capabilities))
		fact("start", fmt.Sprintf("start %.0f ms, initialize %.0f ms, list %.0f ms", s.timing.StartMS, s.timing.InitializeMS, s.timing.ListMS))
		fact("up", pane.Duration(now.Sub(s.since)))
	}
	if s.pid != 0 {
		fact("pid", fmt.Sprint(s.pid))
		if bytes, ok := m.options.Memory(s.pid); ok {
			fact("memory", exec.Bytes(bytes))
		}
	}
	fact("environment", m.hide(environment(s.config)))
	if s.polluted > 0 {
		fact("stdout", theme.Paint(pane.Warn, exec.Count(s.polluted, "line")+" not JSON-RPC"))
	}
	lines = append(lines, "", theme.Paint(pane.Dim, "r restarts, s stops, d asks the doctor"))
	if session != nil && session.Instructions != "" {
		lines = append(lines, "", theme.Paint(pane.Heading, "instructions"), "")
		lines = append(lines, markdown.Render(session.Instructions, width, theme)...)
	}
	return lines
}

func onlyFirst(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
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
