package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// always returns the keys that work everywhere, even while text is typed.
func (m *model) always() []pane.Binding {
	run := pane.Binding{
		Keys: []string{"ctrl+r", "f5"}, Help: m.page.runHelp(), Off: m.page.cannotRun(), Fix: m.toProblem, Do: m.run,
	}
	if m.focus == areaPage && m.page.ends() {
		run.Keys = append(run.Keys, "enter")
	}
	bindings := []pane.Binding{
		run,
		{Keys: []string{"ctrl+t"}, Help: m.page.tabHelp(), Short: "tabs", Off: m.noItem(), Do: pane.Do(m.page.turn)},
		{Keys: []string{"ctrl+c"}, Help: "quit", Do: m.quit},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Do: suspend},
		{Keys: []string{"f1"}, Help: "help", Do: m.help},
	}
	for i := range areas {
		bindings = append(bindings, pane.Binding{
			Keys: []string{fmt.Sprintf("alt+%d", int(i)+1)}, Help: "go to " + i.String(), Off: m.hidden(i),
			Do: pane.Do(func() { m.setFocus(i) }),
		})
	}
	if len(m.suggested.values) > 0 { // else it is the form's own, for examples
		bindings = append(bindings, pane.Binding{
			Keys: []string{"ctrl+o"}, Help: "next suggestion from the server", Do: pane.Do(m.suggested.take),
		})
	}
	return bindings
}

// common returns the keys of every pane, while no text is typed.
func (m *model) common() []pane.Binding {
	var bindings []pane.Binding
	add := func(key, help, off string, do func() tea.Cmd) {
		bindings = append(bindings, pane.Binding{Keys: []string{key}, Help: help, Off: off, Do: do})
	}
	add("tab", "next pane", "", pane.Do(func() { m.moveFocus(1) }))
	add("shift+tab", "previous pane", "", pane.Do(func() { m.moveFocus(-1) }))
	if help := m.backHelp(); help != "" {
		add("esc", help, "", pane.Do(m.back))
	}
	for i := range areas {
		add(fmt.Sprint(int(i)+1), "go to "+i.String(), m.hidden(i), pane.Do(func() { m.setFocus(i) }))
	}
	shown, noSubject := m.calls.shown, ""
	if !m.ofResult() {
		noSubject = m.noItem()
	}
	add("/", "find", "", m.startFilter)
	failed := m.servers.nextFailed(m.tree.server())
	add("!", "next failed server", pane.Off(failed == nil, "no server has failed"),
		pane.Do(func() { m.revealServer(failed) }))
	off := pane.Off(shown == nil || !shown.running(), "no call is running")
	do := pane.Do(func() { shown.cancelRunning() })
	add("x", "cancel the call", off, do)
	add("r", "call again", pane.Off(shown == nil, "no calls yet"), m.repeat)
	bindings = append(bindings, m.calls.moveKey(-1, "previous call", "<"), m.calls.moveKey(1, "next call", ">"))
	bindings = append(bindings, m.calls.compareKeys()...)
	bindings = append(bindings, m.calls.limitKey(m.page.item))
	add("y", "copy as toolx command", noSubject, m.copy.command)
	add("Y", "copy as JSON-RPC request", noSubject, m.copy.request)
	add("c", "copy the result", pane.Off(shown == nil || shown.running(), "there is no result"), m.copy.result)
	add("e", "edit in $EDITOR", pane.Off(!m.page.item.fillable(), "there is no form"), m.editArguments)
	bindings = append(bindings, m.restartKey(), m.developers.key(m.tree.server()), m.config.addKey())
	if !m.page.item.none() && !m.page.item.resource() {
		off := m.noSubscriptions(m.page.item.Server)
		add("u", "subscribe to updates", cmp.Or(off, "select a resource of the server"), nil)
	}
	add("W", "show or hide the timeline", "", pane.Do(m.toggleWatch))
	alone := pane.Off(m.zoomed || m.width < mediumWidth, "it fills the screen")
	add("{", "make this pane smaller", alone, pane.Do(func() { m.resize(-1) }))
	add("}", "make this pane larger", alone, pane.Do(func() { m.resize(1) }))
	add("z", "zoom this pane, or restore it", "", pane.Do(func() { m.zoomed = !m.zoomed }))
	add("?", "help", "", m.help)
	add("q", "quit", "", m.quit)
	return bindings
}

// treeKeys returns the keys of the tree.
func (m *model) treeKeys() []pane.Binding {
	t := m.tree
	if t.typing {
		return m.filterKeys()
	}
	do := func(f func()) func() tea.Cmd { return pane.Do(func() { f(); m.showSelected() }) }
	noGroup := pane.Off(t.selected().group == nil, "no group")
	moves := pane.Moves(m.moveTree, t.list.Page())
	return slices.Concat(moves, []pane.Binding{
		{Keys: []string{"left", "h"}, Help: "close the group", Do: do(func() { t.setClosed(true) })},
		{Keys: []string{"right", "l"}, Help: "open the group, or go to its page", Do: pane.Do(m.openRow)},
		{Keys: []string{"enter"}, Help: t.enterHelp(), Do: m.enterRow},
		{Keys: []string{"-"}, Help: "close every group", Do: do(func() { t.setAllClosed(true) })},
		{Keys: []string{"+"}, Help: "open every group", Do: do(func() { t.setAllClosed(false) })},
		{Keys: []string{"space"}, Help: "open or close the group", Off: noGroup, Do: do(t.toggle)},
	}, m.serverKeys(), m.resourceKeys())
}

func (m *model) moveTree(by int) {
	m.tree.list.Move(by, len(m.tree.rows))
	m.showSelected()
}

// filterKeys returns the keys of the finder; all others are text.
func (m *model) filterKeys() []pane.Binding {
	nothing := pane.Off(len(m.tree.rows) == 0, "nothing fits")
	leave := pane.Do(func() { m.tree.leave(); m.showSelected() })
	return []pane.Binding{
		{Keys: []string{"enter", "tab"}, Help: "go there", Off: nothing, Do: m.toFound},
		{Keys: []string{"esc"}, Help: "leave the finder", Do: leave},
		{Keys: []string{"down", "ctrl+n"}, Help: "down", Do: pane.Do(func() { m.moveTree(1) })},
		{Keys: []string{"up", "ctrl+p"}, Help: "up", Do: pane.Do(func() { m.moveTree(-1) })},
		{Keys: []string{"pgdown"}, Help: "a page down", Do: pane.Do(func() { m.moveTree(m.tree.list.Page()) })},
		{Keys: []string{"pgup"}, Help: "a page up", Do: pane.Do(func() { m.moveTree(-m.tree.list.Page()) })},
	}
}

// pageKeys returns the keys of the page and of what it shows.
func (m *model) pageKeys() []pane.Binding {
	keys := m.page.bindings()
	if m.page.item.kind == kindResource && m.page.runnable() {
		run := pane.Binding{Keys: []string{"enter"}, Help: m.page.runHelp(), Off: m.page.cannotRun(), Do: m.run}
		keys = append(keys, run)
	}
	if m.page.editing() {
		return keys
	}
	return slices.Concat(keys, m.serverKeys(), m.resourceKeys())
}

// resultKeys returns the keys of the result. Left and right show other calls, unless the result needs them itself.
func (m *model) resultKeys() []pane.Binding {
	own := m.calls.view.Bindings()
	if m.calls.view.Editing() || m.calls.view.Sideways() {
		return own
	}
	moves := []pane.Binding{{Keys: []string{"left"}}, {Keys: []string{"right"}}}
	own = pane.Without(own, moves)
	moves[0], moves[1] = m.calls.moveKey(-1, "previous call", "left"), m.calls.moveKey(1, "next call", "right")
	return append(moves, own...)
}

// restartKey returns the key that restarts the selected server.
func (m *model) restartKey() pane.Binding {
	s := m.tree.server()
	return pane.Binding{
		Keys: []string{"R"}, Help: "restart the server", Off: pane.Off(s == nil, "no server is selected"),
		Do: func() tea.Cmd { return m.servers.restart(s) },
	}
}

// serverKeys returns the keys of the server on the page. The page of one of its lists has none, so
// that people do not stop the server when they mean a resource.
func (m *model) serverKeys() []pane.Binding {
	s := m.page.server
	if s == nil || m.page.serverList != nil {
		return nil
	}
	examine := func() tea.Cmd { return m.servers.examine(s) }
	noDoctor := pane.Off(m.options.Examine == nil, "the doctor is not available")
	noLog := pane.Off(s.failure == nil || s.failure.StderrPath == "", "it has no log")
	return []pane.Binding{
		{Keys: []string{"X"}, Help: "stop the server", Off: pane.Off(!s.runs(), "it is not running"), Do: m.stopServer},
		{Keys: []string{"d"}, Help: "run the doctor", Off: noDoctor, Do: examine},
		m.developers.key(s),
		m.config.editKey(s),
		{Keys: []string{"o"}, Help: "open its log in $PAGER", Off: noLog, Do: func() tea.Cmd { return openLog(s.failure.StderrPath) }},
	}
}

// resourceKeys returns the keys of the resource or template on the page.
func (m *model) resourceKeys() []pane.Binding {
	if !m.page.item.resource() {
		return nil
	}
	help := "subscribe to updates"
	if m.subscriptions.current() != nil {
		help = "unsubscribe"
	}
	off := cmp.Or(m.noSubscriptions(m.page.item.Server), m.page.cannotRun())
	return []pane.Binding{{Keys: []string{"u"}, Help: help, Off: off, Do: m.subscriptions.toggle}}
}

// noSubscriptions returns why the resources of a server have no subscriptions, empty if they have.
func (m *model) noSubscriptions(server string) string {
	s := m.servers.server(server)
	return pane.Off(s == nil || !s.subscribes, "the server offers no subscriptions")
}

func (m *model) noItem() string { return pane.Off(m.page.item.none(), "nothing is selected") }

// help shows what every key does now, and why some do nothing.
func (m *model) help() tea.Cmd {
	own := m.focused().bindings()
	lines := keyLines(m.theme, m.focus.String(), own)
	everywhere := pane.Without(m.common(), own)
	if m.focused().editing() {
		lines = append(lines, keyLines(m.theme, "everywhere", m.always())...)
		lines = append(lines, keyLines(m.theme, "after esc", everywhere)...) // they are text now
	} else {
		lines = append(lines, keyLines(m.theme, "everywhere", append(m.always(), everywhere...))...)
	}
	m.openDialog("keys", lines)
	return nil
}

// keyLines returns the help on keys, under a heading.
func keyLines(theme *pane.Theme, title string, bindings []pane.Binding) []string {
	lines := []string{theme.Paint(pane.Heading, title)}
	for _, binding := range bindings {
		keys, text := fmt.Sprintf("%-18s ", strings.Join(binding.Keys, ", ")), binding.Help
		if binding.Off != "" {
			lines = append(lines, theme.Paint(pane.Dim, keys+text+" ("+binding.Off+")"))
			continue
		}
		lines = append(lines, theme.Paint(pane.Strong, keys)+text)
	}
	return append(lines, "")
}

// String returns the name of a pane.
func (a area) String() string {
	return [...]string{"tools", "tool", "result", "timeline"}[a]
}
