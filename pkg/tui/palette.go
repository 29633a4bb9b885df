package tui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// palette is the box over the screen that finds tools, resources, prompts, servers, earlier calls and actions by name.
// It also asks for a server to add.
type palette struct {
	*shared
	m      *model
	open   bool
	adding bool // it asks for a server
	input  textinput.Model
	draft  string // a server's command that was typed but not added
	all    []*entry
	found  []*entry
	list   pane.List
	place  rect // where it was drawn last
}

// entry is a row of the palette. Besides its texts, one of its fields is set.
type entry struct {
	of, name, about string // its server, its own name, and its description; not safe
	lower           string // the description in lower case, once that is needed

	item   item
	recent int // the higher, the later the item was used
	server *server
	again  *call
	action *pane.Binding
	client *FoundServers
	typed  string // the server that was typed
}

// How many earlier calls the palette lists: at most, and before anything is typed.
const (
	maxAgain = 50
	fewAgain = 3
)

// fewNamed is how many names have to match for descriptions not to be searched.
const fewNamed = 100

// maxAbout is how many bytes of a description are searched.
const maxAbout = 1 << 10

func newPalette(m *model) *palette { return &palette{shared: m.shared, m: m} }

// begin opens the palette.
func (p *palette) begin() tea.Cmd {
	p.open, p.adding = true, false
	p.input = pane.NewInput(p.theme.Glyphs.Prompt + " ")
	p.refresh()
	return p.input.Focus()
}

// beginAdding opens the palette for a server to add.
func (p *palette) beginAdding() tea.Cmd {
	p.open, p.adding, p.all = true, true, nil
	p.input = pane.NewInput(p.theme.Glyphs.Prompt + " ")
	p.input.Placeholder = "command or address"
	p.input.SetValue(p.draft)
	p.match()
	return tea.Batch(p.input.Focus(), after(p.options.Entries.Found, func(found []FoundServers) tea.Cmd {
		if p.adding {
			for i := range found {
				name := strings.Join(found[i].Names, ", ")
				p.all = append(p.all, &entry{of: found[i].Client, name: name, client: &found[i]})
			}
			p.match()
		}
		return nil
	}))
}

// close closes the palette. What was typed to add a server is kept.
func (p *palette) close() {
	p.open, p.all, p.found = false, nil, nil
	if p.adding {
		p.draft = p.input.Value()
	}
}

// forget closes the palette after what was typed is added.
func (p *palette) forget() {
	p.close()
	p.draft = ""
}

// refresh collects what can be found, after some of it was replaced.
func (p *palette) refresh() {
	if !p.open || p.adding {
		return
	}
	p.all = p.all[:0]
	for _, c := range slices.Backward(p.m.calls.list) {
		same := func(e *entry) bool {
			return e.again.item.key() == c.item.key() && string(e.again.arguments) == string(c.arguments)
		}
		if len(p.all) < maxAgain && !slices.ContainsFunc(p.all, same) {
			name := strings.TrimSpace(c.item.label() + " " + brief(c.arguments))
			p.all = append(p.all, &entry{of: c.item.Server, name: name, again: c})
		}
	}
	for _, action := range p.m.commands() {
		p.all = append(p.all, &entry{name: action.Help, about: action.Off, action: &action})
	}
	recent := make(map[string]*entry)
	for i, name := range p.m.timeline.Recent() {
		recent[name] = &entry{recent: 2000 - i}
		p.all = append(p.all, recent[name])
	}
	for _, g := range p.m.tree.groups {
		if g.server != nil {
			p.all = append(p.all, &entry{name: g.server.name, server: g.server})
		}
		for _, s := range g.sections() {
			for _, one := range s.items {
				e := recent[one.Name]
				if e == nil {
					e = &entry{}
					p.all = append(p.all, e)
				}
				*e = entry{of: g.name(), name: one.label(), about: one.Description, item: one, recent: e.recent}
			}
		}
	}
	p.all = slices.DeleteFunc(p.all, func(e *entry) bool { return e.name == "" }) // used before, but not here now
	p.match()
}

// brief returns arguments in a few words: "label=one n=3".
func brief(arguments json.RawMessage) string {
	const longest = 200
	var parts []string
	for member := range rawjson.Each(arguments) {
		value := string(member.Value[:min(len(member.Value), longest)])
		if rawjson.IsString(member.Value) {
			value = rawjson.UnquoteHead(member.Value, longest)
		}
		parts = append(parts, member.Name+"="+words.FirstLine(value))
	}
	return strings.Join(parts, " ")
}

// match finds the entries that match the typed text, best first: by name or server; else by the letters of names; then
// by description.
func (p *palette) match() {
	p.list, p.found = pane.List{}, nil
	typed := strings.TrimSpace(p.input.Value())
	wanted := strings.Fields(strings.ToLower(typed))
	if p.adding && typed != "" {
		p.found = append(p.found, &entry{name: typed, typed: typed})
	}
	if len(wanted) == 0 {
		p.matchNothing()
		return
	}
	var places []int // in p.all, best first
	scores := make([]int, len(p.all))
	for i, e := range p.all {
		if scores[i] = e.score(wanted); scores[i] > 0 {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	if len(places) == 0 && !p.adding {
		for _, match := range fuzzy.FindFrom(strings.Join(wanted, ""), names(p.all)) {
			places, scores[match.Index] = append(places, match.Index), 1
		}
	}
	if len(places) < fewNamed { // else they are far below
		for i, e := range p.all {
			if scores[i] == 0 && e.describes(wanted) {
				places = append(places, i)
			}
		}
	}
	for _, place := range places {
		p.found = append(p.found, p.all[place])
	}
	p.offerRestart()
}

// matchNothing lists the entries while nothing is typed: a few earlier calls, actions that work now, everything else.
func (p *palette) matchNothing() {
	again := 0
	for _, e := range p.all {
		if e.again != nil {
			again++
		}
		if e.again != nil && again > fewAgain || e.action != nil && e.action.Off != "" {
			continue
		}
		p.found = append(p.found, e)
	}
}

// offerRestart adds the restart of the best match's server.
func (p *palette) offerRestart() {
	if len(p.found) == 0 {
		return
	}
	best := p.found[0]
	s := p.m.servers.server(cmp.Or(best.of, best.name))
	if s == nil || best.action != nil || p.adding {
		return
	}
	restart := p.m.restartKey(s)
	p.found = append(p.found, &entry{name: "restart " + s.name, action: &restart})
}

// names are entries for the search of letters.
type names []*entry

func (n names) String(i int) string { return n[i].name }
func (n names) Len() int            { return len(n) }

// score returns how well the name and the server of an entry match all words, zero if they do not.
func (e *entry) score(wanted []string) int {
	const unit, longest = 3000, 999 // what was used last wins, then the shorter name
	total := max(0, longest-len(e.name)) + e.recent
	for _, word := range wanted {
		one := e.nameScore(word)
		if one == 0 {
			return 0
		}
		total += one * unit
	}
	if e.action != nil && e.action.Off != "" {
		return 1
	}
	return total
}

func (e *entry) nameScore(word string) int {
	name := strings.ToLower(e.name)
	switch at := strings.Index(name, word); {
	case name == word:
		return 5
	case at == 0:
		return 4
	case at > 0 && startsWord(e.name, word):
		return 3
	case at > 0:
		return 2
	case strings.Contains(strings.ToLower(e.of), word):
		return 1
	}
	return 0
}

// startsWord reports whether a word of a name begins with a text in lower case: after a sign, or with a capital letter.
func startsWord(name, text string) bool {
	before := utf8.RuneError
	for i, char := range name {
		afterSign := !unicode.IsLetter(before) && !unicode.IsDigit(before)
		capital := unicode.IsLower(before) && unicode.IsUpper(char)
		if (afterSign || capital) && strings.HasPrefix(strings.ToLower(name[i:]), text) {
			return true
		}
		before = char
	}
	return false
}

// describes reports whether each word is in the name, the server or the description.
func (e *entry) describes(wanted []string) bool {
	if e.lower == "" {
		if e.lower = strings.ToLower(words.Head(e.about, maxAbout)); !e.item.none() && e.item.resource() {
			e.lower += "\n" + strings.ToLower(e.item.Plain)
		}
	}
	for _, word := range wanted {
		if !strings.Contains(e.lower, word) && e.nameScore(word) == 0 {
			return false
		}
	}
	return true
}

// selected returns the entry under the cursor, or nil.
func (p *palette) selected() *entry {
	if p.list.Cursor < len(p.found) {
		return p.found[p.list.Cursor]
	}
	return nil
}

// keys returns what the keys do while the palette is open; all others are text.
func (p *palette) keys() []pane.Binding {
	e := p.selected()
	nothing := pane.Off(e == nil, "nothing matches")
	if p.adding && e == nil {
		nothing = "type a command or an address"
	}
	callable := e != nil && (e.again != nil || !e.item.none())
	call, noCall := "call", cmp.Or(nothing, pane.Off(!callable, "this is not a tool, a resource or a prompt"))
	if callable {
		call = e.subject().kind.verb()
	}
	move := func(by int) func() tea.Cmd { return pane.Do(func() { p.list.Move(by, len(p.found)) }) }
	page := max(1, p.list.Height()-1)
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: e.verb(), Off: nothing, Do: p.enter},
		{Keys: []string{"ctrl+r", "f5"}, Help: call, Off: noCall, Do: p.call},
		{Keys: []string{"ctrl+y"}, Help: "copy", Off: noCall, Do: p.copy},
		{Keys: []string{"esc", "ctrl+k"}, Help: "close", Do: pane.Do(p.close)},
		{Keys: []string{"down", "ctrl+n", "tab"}, Do: move(1)},
		{Keys: []string{"up", "ctrl+p", "shift+tab"}, Do: move(-1)},
		{Keys: []string{"pgdown"}, Do: move(page)},
		{Keys: []string{"pgup"}, Do: move(-page)},
		{Keys: []string{"ctrl+c"}, Do: p.m.quit},
		{Keys: []string{"ctrl+z"}, Do: suspend},
	}
}

// verb returns what enter does with an entry, which may be nil.
func (e *entry) verb() string {
	switch {
	case e == nil:
		return "open"
	case e.action != nil:
		return "do it"
	case e.client != nil:
		return "import them"
	case e.typed != "":
		return "add it"
	case e.server != nil || !e.subject().fillable():
		return "open"
	}
	return "fill"
}

// subject returns the item of an entry; none if it has none.
func (e *entry) subject() item {
	if e.again != nil {
		return e.again.item
	}
	return e.item
}

// update handles a key, pasted text, or the blinking of the cursor.
func (p *palette) update(msg tea.Msg) (cmd tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		if binding := pane.Find(p.keys(), key.String()); binding != nil {
			return p.do(binding)
		}
	}
	before := p.input.Value()
	p.input, cmd = p.input.Update(msg)
	if safe := render.Safe(p.input.Value()); safe != p.input.Value() {
		p.input.SetValue(safe)
	}
	if p.input.Value() != before {
		p.match()
	}
	return cmd
}

// enter goes to an entry, fills in a form, or does an action.
func (p *palette) enter() tea.Cmd {
	e := p.selected()
	if e.typed != "" {
		return p.m.config.add(e.typed)
	}
	p.close()
	switch {
	case e.client != nil:
		return p.m.config.adopt(e.client)
	case e.action != nil:
		return p.do(e.action)
	case e.server != nil:
		p.m.revealServer(e.server)
	case e.again != nil:
		return p.m.rerun(e.again.request(), false)
	default:
		p.m.goTo(e.item, nil)
	}
	return nil
}

// call runs an item with what its form has, or repeats a call.
func (p *palette) call() tea.Cmd {
	e := p.selected()
	p.close()
	if e.again != nil {
		return p.m.start(e.again.item, e.again.arguments, e.again.filled)
	}
	p.m.goTo(e.item, nil)
	run := p.m.runKey()
	return p.do(&run)
}

// copy copies the command line of an item or an earlier call.
func (p *palette) copy() tea.Cmd {
	e := p.selected()
	p.close()
	if e.again != nil {
		return p.m.copy.commandOf(e.again.item, e.again.arguments, nil)
	}
	p.m.goTo(e.item, nil)
	return p.m.copy.command()
}

// mouse handles the wheel, and clicks: on an entry, or outside the box, which closes it.
func (p *palette) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		p.list.Scroll(pane.Wheel(msg))
	case tea.MouseClickMsg:
		row := p.list.Top() + at.Y - p.place.y - 1
		switch {
		case !p.place.contains(at.X, at.Y):
			p.close()
		case at.Y > p.place.y && at.Y < p.place.y+p.place.h-1 && row < len(p.found):
			p.list.Set(row, len(p.found))
			return p.enter()
		}
	}
	return nil
}

// render draws the box on a screen, and returns its position. Its top stays where it is while text is typed.
func (p *palette) render(width, height int) (box string, x, y int) {
	const most = 16 // rows
	wide := min(width-4, 84)
	inside := wide - 2
	from, to := p.list.Window(len(p.found), max(1, min(most, height-6)))
	lines := make([]string, 0, most)
	column := 0
	for _, e := range p.found[from:to] {
		column = max(column, p.theme.Width(p.label(e)))
	}
	column = min(column, inside*6/10)
	for i := from; i < to; i++ {
		line := p.line(p.found[i], column, inside)
		if i == p.list.Cursor {
			line = p.theme.Paint(pane.Accent, p.theme.Glyphs.Pointer) + strings.TrimPrefix(line, " ")
			line = p.theme.UnderCursor(line, true, inside)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = append(lines, p.theme.Paint(pane.Dim, " "+p.emptyText()))
	}
	p.input.SetWidth(0)
	if p.input.Value() == "" {
		p.input.SetWidth(len(p.input.Placeholder))
	}
	if room := wide - pane.AroundTitle - 4; p.theme.Width(p.input.Value()) > room {
		p.input.SetWidth(room)
	}
	p.place = rect{(width - wide) / 2, max(1, height/6), wide, len(lines) + 2}
	frame := pane.Frame{Title: p.input.View(), Role: pane.Accent, Extent: p.list.Extent(), Hint: p.hint()}
	return p.theme.Framed(frame, p.theme.Block(lines, inside, len(lines)), wide, len(lines)+2), p.place.x, p.place.y
}

// hint returns the keys that the bottom border names.
func (p *palette) hint() string {
	var hints []string
	for _, key := range p.keys() {
		if key.Help != "" && key.Off == "" {
			hints = append(hints, p.theme.Hint(key))
		}
	}
	return strings.Join(hints, p.theme.Paint(pane.Dim, " "+p.theme.Glyphs.Dot+" "))
}

func (p *palette) emptyText() string {
	if p.adding {
		return "such as npx -y @modelcontextprotocol/server-everything, or https://example.org/mcp"
	}
	return "nothing matches"
}

// label draws the name of an entry, with its server.
func (p *palette) label(e *entry) string {
	before := " "
	switch {
	case e.again != nil:
		before += p.theme.Paint(pane.Dim, "again: ")
	case e.typed != "":
		before += p.theme.Paint(pane.Dim, "add ")
	case e.client != nil:
		before += p.theme.Paint(pane.Dim, "from ")
	}
	if e.of != "" {
		before += p.theme.Paint(pane.Dim, render.Safe(e.of)+" "+p.theme.Glyphs.Dot+" ")
	}
	return before + p.marked(e)
}

// line draws an entry: its name, its description in a column, and its key or state at the right edge.
func (p *palette) line(e *entry, column, width int) string {
	right := p.sign(e)
	room := width - p.theme.Width(right) - 2
	left := p.theme.Cut(p.label(e), room)
	if about := p.about(e, width); about != "" && column+8 < room {
		left = p.theme.Fit(left, max(column, p.theme.Width(left))) + "  " + p.theme.Paint(pane.Dim, about)
	}
	return p.theme.Fit(p.theme.Cut(left, room), room) + " " + right + " "
}

// about returns the first words of an entry's description, or why it is not possible.
func (p *palette) about(e *entry, width int) string {
	switch {
	case e.server != nil:
		return p.safe(e.server.summary(p.now()))
	case e.client != nil:
		return words.Count(len(e.client.Names), "server")
	}
	text := words.FirstLine(words.Head(e.about, 4*width))
	if strings.ContainsAny(text, "*`[#") { // it may be Markdown
		text = ansi.Strip(words.FirstLine(strings.Join(markdown.Render(text, 4*width, p.theme), "\n")))
	}
	if !e.item.none() && e.item.kind != kindTool {
		text = strings.TrimSuffix(e.item.kind.String()+": "+text, ": ")
	}
	return render.Safe(text)
}

// sign returns what stands at the right edge of an entry: the key of an action, the state of a server, a tool's badge.
func (p *palette) sign(e *entry) string {
	switch {
	case e.action != nil:
		return p.theme.Paint(pane.Strong, e.action.Keys[0])
	case e.server != nil:
		role, sign := p.shared.sign(e.server)
		return p.theme.Paint(role, sign)
	case e.again != nil:
		return p.theme.Paint(pane.Dim, p.theme.Glyphs.Again)
	case !e.item.none():
		return p.badge(e.item)
	}
	return ""
}

// marked draws the name of an entry, with the letters that match the typed text highlighted.
func (p *palette) marked(e *entry) string {
	name := e.name
	hits := make([]bool, len(name))
	lower := strings.ToLower(name)
	wanted := strings.Fields(strings.ToLower(p.input.Value()))
	if len(lower) != len(name) || e.typed != "" {
		wanted = nil // offsets are not those of the name
	}
	found := false
	for _, word := range wanted {
		if at := strings.Index(lower, word); at >= 0 {
			found = true
			for i := range len(word) {
				hits[at+i] = true
			}
		}
	}
	if !found && len(wanted) > 0 {
		for _, match := range fuzzy.Find(strings.Join(wanted, ""), []string{name}) {
			for _, at := range match.MatchedIndexes {
				hits[at] = true
			}
		}
	}
	var out strings.Builder
	for from := 0; from < len(name); {
		to := from + 1
		for to < len(name) && (hits[to] == hits[from] || !utf8.RuneStart(name[to])) {
			to++
		}
		role := pane.Plain
		if hits[from] {
			role = pane.Found
		}
		out.WriteString(p.theme.Paint(role, render.Safe(name[from:to])))
		from = to
	}
	return out.String()
}

// badge returns the sign of a tool's annotations: that it may be destructive, or only reads.
func (p *palette) badge(of item) string {
	switch badges := render.Badges(of.Tool); {
	case slices.Contains(badges, "destructive"):
		return p.theme.Paint(pane.Warn, p.theme.Glyphs.Warn)
	case slices.Contains(badges, "read-only"):
		return p.theme.Paint(pane.Dim, p.theme.Glyphs.Off)
	}
	return ""
}
