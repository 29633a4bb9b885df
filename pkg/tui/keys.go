package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// always returns the keys that work everywhere, even while text is typed.
func (m *model) always() []pane.Binding {
	run := pane.Binding{Keys: []string{"ctrl+r", "f5"}, Help: m.runHelp(), Off: m.cannotCall(), Mend: m.toProblem, Do: m.run}
	if m.ofResult() && m.shown.item.key() != m.page.item.key() {
		run.Help, run.Off, run.Do = m.shown.item.kind.verb()+" "+render.Safe(m.shown.item.label())+" again", "", m.callAgain
	}
	bindings := []pane.Binding{
		run,
		{Keys: []string{"ctrl+t"}, Help: m.page.tabHelp(), Off: m.noItem(), Do: m.page.turn},
		{Keys: []string{"ctrl+c"}, Help: "quit", Do: m.quit},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Do: func() tea.Cmd { return tea.Suspend }},
		{Keys: []string{"f1"}, Help: "help", Do: m.openHelp},
	}
	if len(m.suggested.values) > 0 { // else it is the form's own, for examples
		bindings = append(bindings, pane.Binding{Keys: []string{"ctrl+o"}, Help: "next suggestion of the server", Do: m.takeSuggestion})
	}
	return bindings
}

// common returns the keys of every pane, while no text is typed.
func (m *model) common() []pane.Binding {
	bindings := []pane.Binding{
		{Keys: []string{"tab"}, Help: "next pane", Do: func() tea.Cmd { return m.moveFocus(1) }},
		{Keys: []string{"shift+tab"}, Help: "previous pane", Do: func() tea.Cmd { return m.moveFocus(-1) }},
	}
	if help := m.backHelp(); help != "" {
		bindings = append(bindings, pane.Binding{Keys: []string{"esc"}, Help: help, Do: m.back})
	}
	for i := range areas {
		bindings = append(bindings, pane.Binding{
			Keys: []string{fmt.Sprint(int(i) + 1)}, Help: "go to " + i.String(), Off: m.hidden(i),
			Do: func() tea.Cmd { return m.setFocus(i) },
		})
	}
	return append(
		bindings,
		pane.Binding{Keys: []string{"/"}, Help: "filter", Do: m.startFilter},
		pane.Binding{Keys: []string{"x"}, Help: "cancel the call", Off: off(m.shown == nil || !m.shown.running(), "no call runs"), Do: m.cancelCall},
		pane.Binding{Keys: []string{"<"}, Help: "the call before", Off: m.noOtherCall(-1), Do: func() tea.Cmd { return m.turnCalls(-1) }},
		pane.Binding{Keys: []string{">"}, Help: "the call after", Off: m.noOtherCall(1), Do: func() tea.Cmd { return m.turnCalls(1) }},
		pane.Binding{Keys: []string{"y"}, Help: "copy as toolx command", Off: m.noSubject(), Do: m.copyCommand},
		pane.Binding{Keys: []string{"Y"}, Help: "copy as JSON-RPC request", Off: m.noSubject(), Do: m.copyRequest},
		pane.Binding{Keys: []string{"c"}, Help: "copy the result", Off: m.noResult(), Do: m.copyResult},
		pane.Binding{Keys: []string{"e"}, Help: "edit in $EDITOR", Off: m.noForm(), Do: m.editArguments},
		pane.Binding{Keys: []string{"r"}, Help: "restart the server", Off: m.noServer(), Do: m.restartServer},
		pane.Binding{Keys: []string{"w"}, Help: "show or hide watching", Do: m.toggleWatch},
		pane.Binding{Keys: []string{"z"}, Help: "whole screen for this pane", Do: m.toggleZoom},
		pane.Binding{Keys: []string{"?"}, Help: "help", Do: m.openHelp},
		pane.Binding{Keys: []string{"q"}, Help: "quit", Do: m.quit},
	)
}

// treeKeys returns the keys of the tree.
func (m *model) treeKeys() []pane.Binding {
	t := m.tree
	if t.typing {
		return m.filterKeys()
	}
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { t.list.Move(by, len(t.rows)); return m.follow() }
	}
	keys := []pane.Binding{
		{Keys: []string{"down", "j"}, Help: "down", Do: move(1)},
		{Keys: []string{"up", "k"}, Help: "up", Do: move(-1)},
		{Keys: []string{"pgdown", "ctrl+d"}, Help: "a page down", Do: move(10)},
		{Keys: []string{"pgup", "ctrl+u"}, Help: "a page up", Do: move(-10)},
		{Keys: []string{"home", "g"}, Help: "first", Do: move(-len(t.rows))},
		{Keys: []string{"end", "G"}, Help: "last", Do: move(len(t.rows))},
		{Keys: []string{"left", "h"}, Help: "close the group", Do: func() tea.Cmd { t.setClosed(true); return m.follow() }},
		{Keys: []string{"right", "l"}, Help: "open the group, or go to its page", Do: m.openRow},
		{Keys: []string{"enter"}, Help: m.enterHelp(), Do: m.enterRow},
		{Keys: []string{"-"}, Help: "close every group", Off: off(t.filter.Value() != "", "what the filter finds is open"), Do: func() tea.Cmd { t.setAllClosed(true); return m.follow() }},
		{Keys: []string{"+"}, Help: "open every group", Off: off(t.filter.Value() != "", "what the filter finds is open"), Do: func() tea.Cmd { t.setAllClosed(false); return m.follow() }},
		{Keys: []string{"space"}, Help: "open or close the group", Off: off(t.selected().group == nil, "no group"), Do: func() tea.Cmd { t.toggle(); return m.follow() }},
	}
	return slices.Concat(keys, m.serverKeys(), m.resourceKeys())
}

// filterKeys returns the keys of the tree while its filter is typed; all other keys are text.
func (m *model) filterKeys() []pane.Binding {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.tree.list.Move(by, len(m.tree.rows)); return m.follow() }
	}
	return []pane.Binding{
		{Keys: []string{"enter", "tab"}, Help: "to what was found", Do: func() tea.Cmd { m.tree.stopTyping(); return nil }},
		{Keys: []string{"esc"}, Help: "end the filter", Do: func() tea.Cmd { m.tree.stopTyping(); return m.back() }},
		{Keys: []string{"down"}, Help: "down", Do: move(1)},
		{Keys: []string{"up"}, Help: "up", Do: move(-1)},
	}
}

// serverKeys returns the keys of the server on the page. The page of one of its lists has none, so
// that nobody stops the server when they mean a resource.
func (m *model) serverKeys() []pane.Binding {
	s := m.page.server
	if s == nil || m.page.serverList != nil {
		return nil
	}
	return []pane.Binding{
		{Keys: []string{"s"}, Help: "stop the server", Off: off(!s.runs(), "it does not run"), Do: m.stopServer},
		{Keys: []string{"d"}, Help: "ask the doctor", Off: off(m.options.Examine == nil, "the doctor is not here"), Do: m.examine},
	}
}

// resourceKeys returns the keys of the resource or template on the page.
func (m *model) resourceKeys() []pane.Binding {
	if kind := m.page.item.kind; kind != kindResource && kind != kindTemplate {
		return nil
	}
	help := "subscribe to updates"
	if m.subscription() != nil {
		help = "unsubscribe"
	}
	return []pane.Binding{{Keys: []string{"s"}, Help: help, Off: m.cannotSubscribe(), Do: m.toggleSubscription}}
}

// runHelp returns what the run key does with the item on the screen.
func (m *model) runHelp() string {
	return m.page.item.kind.verb() + " the " + m.page.item.kind.String()
}

// enterHelp returns what enter does with the row under the tree's cursor.
func (m *model) enterHelp() string {
	switch at := m.tree.selected(); {
	case at.failed():
		return "list the " + at.serverList.name() + " again"
	case at.item.none():
		return "open the group"
	case at.item.fillable():
		return "fill the " + at.item.kind.String() + " in"
	}
	return m.runHelp()
}

// off returns reason if something cannot be done.
func off(cannot bool, reason string) string {
	if cannot {
		return reason
	}
	return ""
}

func (m *model) noItem() string { return off(m.page.item.none(), "nothing is selected") }
func (m *model) noSubject() string {
	if m.ofResult() {
		return ""
	}
	return m.noItem()
}
func (m *model) noForm() string   { return off(!m.page.item.fillable(), "there is no form") }
func (m *model) noServer() string { return off(m.currentServer() == nil, "no server is selected") }
func (m *model) noResult() string {
	return off(m.shown == nil || m.shown.running(), "there is no result")
}

// hidden returns why a pane cannot have the focus.
func (m *model) hidden(a area) string {
	return off(a == areaResult && m.shown == nil, "nothing was called yet")
}

// cannotCall returns why the item on the screen cannot be run now.
func (m *model) cannotCall() string {
	if m.page.item.none() {
		return "no tool is selected"
	}
	if m.page.item.fillable() {
		if problems := m.page.form.Problems(); len(problems) > 0 {
			return problems[0]
		}
	}
	if _, err := m.page.uri(); err != nil {
		return err.Error()
	}
	return ""
}

// toProblem goes to the field that prevents the call.
func (m *model) toProblem() {
	if !m.page.item.fillable() || len(m.page.form.Problems()) == 0 {
		return
	}
	m.page.show(tabForm)
	m.setFocus(areaPage)
	m.page.form.ToProblem()
}

// openHelp shows what every key does now, and why some do nothing.
func (m *model) openHelp() tea.Cmd {
	own := m.focused().bindings()
	lines := m.keyLines(m.focus.String(), own)
	everywhere := without(m.common(), own)
	if m.focused().editing() {
		lines = append(lines, m.keyLines("everywhere", m.always())...)
		lines = append(lines, m.keyLines("behind esc", everywhere)...) // they are text now
	} else {
		lines = append(lines, m.keyLines("everywhere", append(m.always(), everywhere...))...)
	}
	m.dialog = &dialog{title: "keys", lines: lines}
	return nil
}

// without returns bindings without the keys that others, which take precedence, use.
func without(bindings, others []pane.Binding) []pane.Binding {
	var left []pane.Binding
	for _, binding := range bindings {
		binding.Keys = slices.DeleteFunc(slices.Clone(binding.Keys), func(key string) bool {
			other := pane.Find(others, key)
			return other != nil && other.Off == ""
		})
		if len(binding.Keys) > 0 {
			left = append(left, binding)
		}
	}
	return left
}

// keyLines returns the help on keys, under a heading.
func (m *model) keyLines(title string, bindings []pane.Binding) []string {
	lines := []string{m.theme.Paint(pane.Heading, title)}
	for _, binding := range bindings {
		text := fmt.Sprintf("%-18s %s", strings.Join(binding.Keys, ", "), binding.Help)
		if binding.Off != "" {
			text = m.theme.Paint(pane.Dim, text+" ("+binding.Off+")")
		}
		lines = append(lines, text)
	}
	return append(lines, "")
}

// String returns the name of a pane.
func (a area) String() string {
	return [...]string{"tools", "tool", "result", "watch"}[a]
}

// destructive reports whether an item's annotations say that it may destroy something.
func destructive(one item) bool {
	hint := one.Annotations.DestructiveHint
	readOnly := one.Annotations.ReadOnlyHint
	return hint != nil && *hint && (readOnly == nil || !*readOnly)
}
