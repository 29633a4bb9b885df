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

// entry is a row of the palette. Its texts are not safe.
type entry struct {
	kind, of, name, about string // "again: ", its server, its own name, and its description
	lower                 string // the description in lower case, once that is needed
	recent                int    // the higher, the later it was used

	sign string // at the right edge: a key, a state, a badge
	verb string // what enter does
	// enter does it. If it is nil, the entry is for an item: enter goes to its form.
	enter func() tea.Cmd
	off   string // why an action is not possible
	item  item
	again *call // an earlier call of the item
}

// How many earlier calls the palette lists: at most, and before anything is typed.
const (
	maxAgain = 50
	fewAgain = 3
)

// begin opens the palette.
func (p *palette) begin() tea.Cmd {
	p.open, p.adding = true, false
	p.input = pane.NewInput(p.theme.Glyphs.Prompt + " ")
	p.input.Placeholder = "tool, server, resource, call or action"
	if p.showsRecording() {
		p.input.Placeholder = "server or action"
	}
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
	return tea.Batch(p.input.Focus(), after(p.options.Entries.Found, func(all []FoundServers) tea.Cmd {
		for _, found := range all {
			p.all = append(p.all, &entry{
				kind: "from ", of: found.Client, name: strings.Join(found.Names, ", "), verb: "import them",
				about: words.Count(len(found.Names), "server"),
				enter: func() tea.Cmd { p.close(); return p.m.config.adopt(found) },
			})
		}
		p.match()
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

// added closes the palette after a server was added.
func (p *palette) added() {
	p.close()
	p.draft = ""
}

// refresh collects what can be found, after some of it was replaced.
func (p *palette) refresh() {
	if !p.open || p.adding {
		return
	}
	p.all = p.calls()
	for _, action := range p.m.commands() {
		p.all = append(p.all, p.action(action.Help, action))
	}
	recent := make(map[string]int)
	for i, name := range p.m.timeline.Recent() {
		recent[name] = 2000 - i
	}
	var used, others []*entry
	for _, g := range p.m.tree.groups {
		if s := g.server; s != nil {
			role, sign := p.shared.sign(s)
			others = append(others, &entry{
				name: s.name, about: s.summary(p.now()), sign: p.theme.Paint(role, sign), verb: "open",
				enter: func() tea.Cmd {
					p.close()
					g.closed, g.chosen = false, true
					p.m.tree.arrange()
					p.m.goToServer(s)
					return nil
				},
			})
		}
		for _, section := range g.sections() {
			for _, one := range section.items {
				e := &entry{of: g.name(), name: one.label(), about: one.Description, item: one}
				if e.recent = recent[one.Name]; e.recent > 0 {
					used = append(used, e)
				} else {
					others = append(others, e)
				}
			}
		}
	}
	slices.SortFunc(used, func(a, b *entry) int { return b.recent - a.recent })
	p.all = slices.Concat(p.all, used, others)
	p.match()
}

// calls returns an entry for each earlier call, the latest first; calls with the same arguments have one.
func (p *palette) calls() []*entry {
	var list []*entry
	for _, c := range slices.Backward(p.m.calls.list) {
		same := func(e *entry) bool {
			return e.item.key() == c.item.key() && string(e.again.arguments) == string(c.arguments)
		}
		if len(list) < maxAgain && !slices.ContainsFunc(list, same) {
			list = append(list, &entry{
				kind: "again: ", of: c.item.Server,
				name: strings.TrimSpace(c.item.label() + " " + brief(c.arguments)),
				sign: p.theme.Paint(pane.Dim, p.theme.Glyphs.Again), item: c.item, again: c,
			})
		}
	}
	return list
}

// action returns the entry of an action.
func (p *palette) action(name string, action pane.Binding) *entry {
	return &entry{
		name: name, about: action.Off, off: action.Off, verb: "do it", sign: p.theme.Paint(pane.Strong, action.Keys[0]),
		enter: func() tea.Cmd { p.close(); return p.do(&action) },
	}
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

// fewNamed is how many names have to match for descriptions not to be searched; maxAbout is how many bytes of each are.
const (
	fewNamed = 100
	maxAbout = 1 << 10
)

// match finds the entries that match the typed text, best first: by name or server; else by the letters of names; then
// by description.
func (p *palette) match() {
	p.list, p.found = pane.List{}, nil
	typed := strings.TrimSpace(p.input.Value())
	wanted := strings.Fields(strings.ToLower(typed))
	if p.adding && typed != "" {
		add := func() tea.Cmd { return p.m.config.add(typed) }
		p.found = append(p.found, &entry{kind: "add ", name: typed, verb: "add it", enter: add})
	}
	if len(wanted) == 0 {
		p.matchNothing()
		return
	}
	var places []int // in p.all, best first
	scores := make([]int, len(p.all))
	names := make([]string, len(p.all))
	for i, e := range p.all {
		names[i] = e.name
		if scores[i] = e.score(wanted); scores[i] > 0 {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	if len(places) == 0 && !p.adding {
		for _, match := range fuzzy.Find(strings.Join(wanted, ""), names) {
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
	for i, e := range p.all {
		if e.off == "" && (e.again == nil || i < fewAgain) {
			p.found = append(p.found, e)
		}
	}
}

// offerRestart adds the restart of the best match's server.
func (p *palette) offerRestart() {
	if len(p.found) == 0 || p.adding {
		return
	}
	if s := p.m.servers.server(cmp.Or(p.found[0].of, p.found[0].name)); s != nil {
		p.found = append(p.found, p.action("restart "+s.name, p.m.servers.restartKey(s)))
	}
}

// score returns how well the name and the server of an entry match all words, zero if they do not. Where two match as
// well, what was used last wins, then the shorter name.
func (e *entry) score(wanted []string) int {
	const unit, longest = 3000, 999
	total := max(0, longest-len(e.name)) + e.recent
	for _, word := range wanted {
		one := e.nameScore(word)
		if one == 0 {
			return 0
		}
		total += one * unit
	}
	if e.off != "" {
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
	case at > 0 && !unicode.IsLetter(rune(name[at-1])): // a word of the name begins there
		return 3
	case at > 0:
		return 2
	case strings.Contains(e.kind, word), strings.Contains(strings.ToLower(e.of), word):
		return 1
	}
	return 0
}

// describes reports whether each word is in the name, the server, the description or the URI.
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

// marked draws the name of an entry, with the letters that match the typed text highlighted.
func (p *palette) marked(e *entry) string {
	name, lower := e.name, strings.ToLower(e.name)
	wanted := strings.Fields(strings.ToLower(p.input.Value()))
	if len(wanted) == 0 || p.adding || len(lower) != len(name) { // offsets would not be those of the name
		return render.Safe(name)
	}
	hits := make([]bool, len(name))
	found := false
	for _, word := range wanted {
		if at := strings.Index(lower, word); at >= 0 {
			found = true
			for i := range len(word) {
				hits[at+i] = true
			}
		}
	}
	if !found {
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

// keys returns what the keys do while the palette is open; all others are text.
func (p *palette) keys() []pane.Binding {
	e, nothing := &entry{verb: "open"}, ""
	switch {
	case p.list.Cursor < len(p.found):
		e = p.found[p.list.Cursor]
	case p.adding:
		nothing = "type a command or an address"
	default:
		nothing = "nothing matches"
	}
	verb, call, noCall := e.verb, "call", "this is not a tool, a resource or a prompt"
	if !e.item.none() {
		verb, call, noCall = "open", e.item.kind.verb(), ""
		if e.item.kind != kindResource {
			verb = "fill"
		}
	}
	move := func(by int) func() tea.Cmd { return pane.Do(func() { p.list.Move(by, len(p.found)) }) }
	page := max(1, p.list.Height()-1)
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: verb, Off: nothing, Do: func() tea.Cmd { return p.enter(e) }},
		{Keys: []string{"ctrl+r", "f5"}, Help: call, Off: noCall, Do: func() tea.Cmd { return p.call(e) }},
		{Keys: []string{"ctrl+y"}, Help: "copy", Off: noCall, Do: func() tea.Cmd { return p.copy(e) }},
		{Keys: []string{"esc", "ctrl+k"}, Help: "close", Do: pane.Do(p.close)},
		{Keys: []string{"down", "ctrl+n", "tab"}, Do: move(1)},
		{Keys: []string{"up", "ctrl+p", "shift+tab"}, Do: move(-1)},
		{Keys: []string{"pgdown"}, Do: move(page)},
		{Keys: []string{"pgup"}, Do: move(-page)},
		{Keys: []string{"ctrl+c"}, Do: p.quit},
		{Keys: []string{"ctrl+z"}, Do: suspend},
	}
}

// enter does an action, goes to a server or the form of an item, or fills that in with the values of a call.
func (p *palette) enter(e *entry) tea.Cmd {
	if e.enter != nil {
		return e.enter()
	}
	p.close()
	if e.again != nil {
		return p.m.rerun(e.again.request(), false)
	}
	p.m.goTo(e.item, nil)
	return nil
}

// call runs an item with what its form has, or repeats a call.
func (p *palette) call(e *entry) tea.Cmd {
	p.close()
	if e.again != nil {
		return p.m.start(e.item, e.again.arguments, e.again.filled)
	}
	p.m.goTo(e.item, nil)
	run := p.m.runKey()
	return p.do(&run)
}

// copy copies the command line of an item or an earlier call.
func (p *palette) copy(e *entry) tea.Cmd {
	p.close()
	if e.again != nil {
		return p.m.copy.commandOf(e.item, e.again.arguments, nil)
	}
	p.m.goTo(e.item, nil)
	return p.m.copy.command()
}

// update handles a key, the mouse, pasted text, or the blinking of the cursor.
func (p *palette) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		p.list.Scroll(pane.Wheel(msg))
		return nil
	case tea.MouseClickMsg:
		return p.click(msg.X, msg.Y)
	case tea.KeyPressMsg:
		if binding := pane.Find(p.keys(), msg.String()); binding != nil {
			return p.do(binding)
		}
	}
	before := p.input.Value()
	if cmd = pane.Type(&p.input, msg); p.input.Value() != before {
		p.match()
	}
	return cmd
}

// click does what an entry is for; outside the box it closes it.
func (p *palette) click(x, y int) tea.Cmd {
	row := y - p.place.y - 1
	switch at := p.list.Top() + row; {
	case !p.place.contains(x, y):
		p.close()
	case row >= 0 && row < p.place.h-2 && at < len(p.found):
		return p.enter(p.found[at])
	}
	return nil
}

// render draws the box on a screen, and returns its position. Its top stays where it is while text is typed.
func (p *palette) render(width, height int) (box string, x, y int) {
	const most, widest = 16, 84
	wide := min(width-4, widest)
	inside := wide - 2
	from, to := p.list.Window(len(p.found), max(1, min(most, height-6)))
	column := 0
	for _, e := range p.found[from:to] {
		column = max(column, p.theme.Width(p.label(e)))
	}
	var lines []string
	for i := from; i < to; i++ {
		line := p.line(p.found[i], min(column, inside*6/10), inside)
		if i == p.list.Cursor {
			line = p.theme.UnderCursor(line, true, inside)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		empty := " nothing matches"
		if p.adding {
			empty = " such as npx -y @modelcontextprotocol/server-everything, or https://example.org/mcp"
		}
		lines = append(lines, p.theme.Paint(pane.Dim, empty))
	}
	p.input.SetWidth(0)
	room := wide - pane.AroundTitle - 4
	if typed := p.theme.Width(p.input.Value()); typed == 0 || typed > room {
		p.input.SetWidth(min(room, max(typed, len(p.input.Placeholder))))
	}
	var hints []string
	for _, key := range p.keys() {
		if key.Help != "" && key.Off == "" {
			hints = append(hints, p.theme.Hint(key))
		}
	}
	p.place = rect{(width - wide) / 2, max(1, height/6), wide, len(lines) + 2}
	frame := pane.Frame{
		Title: p.input.View(), Role: pane.Accent, Extent: p.list.Extent(),
		Hint: strings.Join(hints, p.theme.Paint(pane.Dim, " "+p.theme.Glyphs.Dot+" ")),
	}
	return p.theme.Framed(frame, p.theme.Block(lines, inside, len(lines)), wide, len(lines)+2), p.place.x, p.place.y
}

// label draws the name of an entry, with its server.
func (p *palette) label(e *entry) string {
	before := e.kind
	if e.of != "" {
		before += render.Safe(e.of) + " " + p.theme.Glyphs.Dot + " "
	}
	return " " + p.theme.Paint(pane.Dim, before) + p.marked(e)
}

// line draws an entry: its name, its description from a column on, and its sign at the right edge.
func (p *palette) line(e *entry, column, width int) string {
	sign := e.sign
	if !e.item.none() && sign == "" {
		sign = p.badge(e.item)
	}
	room := width - p.theme.Width(sign) - 2
	left := p.theme.Cut(p.label(e), room)
	if about := p.about(e, width); about != "" && column+8 < room {
		left = p.theme.Fit(left, max(column, p.theme.Width(left))) + "  " + p.theme.Paint(pane.Dim, about)
	}
	return p.theme.Fit(left, room) + " " + sign + " "
}

// about returns the first words of an entry's description, or why its action is not possible.
func (p *palette) about(e *entry, width int) string {
	text := words.FirstLine(words.Head(e.about, 4*width))
	if strings.ContainsAny(text, "*`[#") { // it may be Markdown
		text = ansi.Strip(words.FirstLine(strings.Join(markdown.Render(text, 4*width, p.theme), "\n")))
	}
	if e.again == nil && !e.item.none() && e.item.kind != kindTool {
		text = strings.TrimSuffix(e.item.kind.String()+": "+text, ": ")
	}
	return p.safe(text)
}
