package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// actions returns what can be done from every pane. The status line, the help, the palette and the documentation show
// these rows, and those of the panes.
func (m *model) actions() []pane.Binding {
	shown, server := m.calls.shown, m.tree.server()
	noCall, noResult, noSubject := pane.Off(shown == nil, "no calls yet"), "", ""
	if shown == nil || shown.running() {
		noResult = "there is no result"
	}
	if !m.ofResult() {
		noSubject = m.page.noItem()
	}
	failed := m.servers.nextFailed(server)
	notRunning := pane.Off(shown == nil || !shown.running(), "no call is running")
	reveal := pane.Do(func() { m.goToServer(failed) })
	save := func() tea.Cmd { return m.saved(m.timeline.Save(".")) }
	cancel := pane.Do(func() { shown.cancelRunning() })
	row := func(key, help, off string, do func() tea.Cmd) pane.Binding {
		return pane.Binding{Keys: strings.Split(key, " "), Help: help, Off: off, Do: do}
	}
	typing := func(key, help, off string, do func() tea.Cmd) pane.Binding {
		b := row(key, help, off, do)
		b.Typing = true
		return b
	}
	find := typing("ctrl+k /", "find tools, calls and actions", "", m.palette.begin)
	toFailed := row("!", "next failed server", pane.Off(failed == nil, "no server has failed"), reveal)
	saveRows := row("F", "save the call to a file", m.timeline.CannotSave(), save)
	last := []pane.Binding{
		{Keys: []string{"?", "f1"}, Help: "keys of this pane", Short: "help", Typing: true, Do: m.help},
		typing("ctrl+z", "suspend", "", suspend),
		typing("q ctrl+c", "quit", "", m.quit),
	}
	if m.showsRecording() {
		find.Help, saveRows.Help = "find servers and actions", "save these rows to a file"
		return slices.Concat(m.page.serverKeys(), []pane.Binding{find, toFailed, saveRows}, m.sizeKeys(), m.focusKeys(),
			last)
	}
	return slices.Concat([]pane.Binding{
		m.runKey(), find, toFailed,
		{Keys: []string{"r"}, Help: "call again", Short: "again", Off: noCall, Do: m.repeat},
		row("x", "cancel the call", notRunning, cancel),
		m.calls.moveKey(-1, "previous call", "<"), m.calls.moveKey(1, "next call", ">"),
	}, m.calls.compareKeys(), []pane.Binding{
		row("y", "copy as toolx command", noSubject, m.copy.command),
		row("Y", "copy as JSON-RPC request", noSubject, m.copy.request),
		row("c", "copy the result", noResult, m.copy.result),
		saveRows,
		row("e", "edit in $EDITOR", m.page.noItem(), m.editArguments),
		m.calls.limitKey(m.page.item), m.servers.restartKey(server), m.developers.key(server), m.config.addKey(),
	}, m.subscriptions.keys(), []pane.Binding{
		{
			Keys: []string{"ctrl+t", "]"}, Help: strings.Join(tabNames(), ", "), Short: "tabs", Off: m.page.noItem(),
			Typing: true, Do: pane.Do(m.page.turn),
		},
	}, m.sizeKeys(), m.focusKeys(), last, m.suggested.keys())
}

// runKey returns the key that runs the item on the page, or makes the call on the screen again.
func (m *model) runKey() pane.Binding {
	run := pane.Binding{
		Keys: []string{"ctrl+r", "f5"}, Help: m.page.runHelp(), Off: m.page.cannotRun(), Fix: m.toProblem, Do: m.run,
		Typing: true,
	}
	if m.focus == areaPage && m.page.ends() {
		run.Keys = append(run.Keys, "enter")
	}
	return run
}

// commands returns what the palette can do: the actions, then those of the server and the pane on the screen.
func (m *model) commands() []pane.Binding {
	var commands []pane.Binding
	for _, b := range slices.Concat(m.actions(), m.page.serverKeys(), m.focused().Bindings()) {
		same := func(other pane.Binding) bool { return other.Help == b.Help }
		if b.IsCommand() && b.Keys[0] != "ctrl+k" && !slices.ContainsFunc(commands, same) {
			commands = append(commands, b)
		}
	}
	return commands
}

// usable returns the actions whose keys are not text now.
func (m *model) usable() []pane.Binding {
	all := m.actions()
	if !m.focused().Editing() {
		return all
	}
	return slices.DeleteFunc(all, func(b pane.Binding) bool { return !b.Typing })
}

// hints returns the keys for the status line, the most useful first.
func (m *model) hints() []pane.Binding {
	if m.questions.first() != nil || m.dialog != nil || m.palette.open {
		return nil // the dialog over the panes has its own
	}
	keys := []string{
		"?", "R", "a", "enter", "letters", "ctrl+r", "x", "esc", "left", "ctrl+k", "]", "f2", "r", "D", "y", "z", "q",
	}
	skip := func(key string, holds bool) {
		if !holds {
			keys = slices.DeleteFunc(keys, func(one string) bool { return one == key })
		}
	}
	s := m.tree.server()
	skip("R", s != nil && s.down())
	skip("a", len(m.servers.list) == 0)
	skip("esc", m.focus != areaTree)
	left := pane.Find(m.focused().Bindings(), "left")
	skip("left", left != nil && left.Short != "") // out of a group
	if m.focused().Editing() {
		keys[0] = "f1"
	}
	var hints []pane.Binding
	own, actions := m.focused().Bindings(), m.usable()
	for _, key := range keys {
		binding := pane.Find(own, key)
		if binding == nil || binding.Off != "" {
			binding = pane.Find(actions, key)
		}
		same := func(hint pane.Binding) bool { return hint.Help == binding.Help }
		if binding != nil && len(key) == 1 && m.focused().Editing() { // it is text
			key = binding.Keys[max(0, slices.IndexFunc(binding.Keys, func(key string) bool { return len(key) > 1 }))]
		}
		if binding != nil && binding.Off == "" && !slices.ContainsFunc(hints, same) {
			shown := *binding
			shown.Keys = []string{key}
			hints = append(hints, shown)
		}
	}
	return hints
}

// treeKeys returns the keys of the tree.
func (m *model) treeKeys() []pane.Binding {
	t := m.tree
	do := func(f func()) func() tea.Cmd { return pane.Do(func() { f(); m.showSelected() }) }
	noGroup := pane.Off(t.selected().group == nil, "no group")
	moves := pane.Moves(m.moveTree, t.list.Page())
	if m.showsRecording() {
		enter := pane.Binding{Keys: []string{"enter", "right", "l"}, Help: "show its timeline", Short: "timeline"}
		enter.Do = pane.Do(func() { m.setFocus(areaTimeline) })
		return append(moves, enter)
	}
	return slices.Concat(moves, []pane.Binding{
		{Keys: []string{"left", "h"}, Help: "close the group", Do: do(func() { t.setClosed(true) })},
		{Keys: []string{"right", "l"}, Help: "open the group, or go to its page", Do: pane.Do(m.openRow)},
		{Keys: []string{"enter"}, Help: t.enterHelp(), Do: m.enterRow},
		{Keys: []string{"-"}, Help: "close every group", Do: do(func() { t.setAllClosed(true) })},
		{Keys: []string{"+"}, Help: "open every group", Do: do(func() { t.setAllClosed(false) })},
		{Keys: []string{"space"}, Help: "open or close the group", Off: noGroup, Do: do(t.toggle)},
	}, m.page.serverKeys())
}

func (m *model) moveTree(by int) {
	m.tree.list.Move(by, len(m.tree.rows))
	m.showSelected()
}

// help shows what the keys of this pane do now, and why some do nothing.
func (m *model) help() tea.Cmd {
	lines := keyLines(m.theme, m.focused().Bindings())
	more := pane.Binding{Keys: []string{"ctrl+k"}, Help: "all actions"}
	m.openDialog("keys of "+m.nameOf(m.focus), append(lines, "", keyLine(m.theme, more)))
	return nil
}

// keyLines returns the help on keys, each action once.
func keyLines(theme *pane.Theme, bindings []pane.Binding) []string {
	var lines []string
	for _, binding := range bindings {
		if line := keyLine(theme, binding); binding.Help != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

func keyLine(theme *pane.Theme, binding pane.Binding) string {
	keys, text := fmt.Sprintf("%-18s ", cmp.Or(binding.Label, strings.Join(binding.Keys, ", "))), binding.Help
	if binding.Off != "" {
		return theme.Paint(pane.Dim, keys+text+" ("+binding.Off+")")
	}
	return theme.Paint(pane.Strong, keys) + text
}

// nameOf returns the name of a pane, which a recording without tools changes.
func (s *shared) nameOf(a area) string {
	switch {
	case a == areaTree && s.showsRecording():
		return "recording"
	case a == areaPage && s.showsRecording():
		return "server"
	}
	return a.String()
}

// String returns the name of a pane.
func (a area) String() string {
	return [...]string{"tools", "tool", "result", "timeline"}[a]
}
