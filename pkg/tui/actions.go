package tui

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/guard"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/timeline"
)

// run runs the item on the screen with the form's values.
func (m *model) run() tea.Cmd {
	arguments, err := m.page.arguments()
	if err != nil {
		return m.fail(err)
	}
	return m.start(m.page.item, arguments, m.page.filled())
}

// start runs an item, and moves to its result, where one key cancels it. A destructive tool asks for confirmation
// first. filled are the values of the form that the arguments are made of.
func (m *model) start(one item, arguments, filled json.RawMessage) tea.Cmd {
	start := func() tea.Cmd {
		if m.page.item.key() != one.key() {
			m.goTo(one, nil)
		}
		cmd := m.calls.start(one, arguments, filled)
		m.setFocus(areaResult)
		return tea.Batch(cmd, m.servers.warnStale(one.Server))
	}
	reason := confirmed(one)
	if reason == "" {
		return start()
	}
	text := reason + "\n" + m.safe(string(arguments))
	m.ask("call "+render.Safe(one.Name)+"?", text, []string{"y"}, "call it", start)
	m.dialog.role = pane.Bad
	return nil
}

// confirmed returns why the user has to confirm a call of an item: because of the tool's guards, or because the tool
// may be destructive. It is empty if no confirmation is needed.
func confirmed(one item) string {
	if one.none() || one.kind != kindTool {
		return ""
	}
	ask := one.Asks(guard.Said)
	switch {
	case ask == nil:
		return ""
	case ask.Where == "":
		return "This tool may be destructive, according to its server."
	}
	return "This tool needs confirmation: " + render.Safe(ask.Reason()) + "."
}

// rerun runs an item that was run before again, or goes to it and fills in its arguments.
func (m *model) rerun(request timeline.Request, run bool) tea.Cmd {
	one, fill, err := m.servers.itemOf(request)
	switch {
	case err != nil:
		return m.fail(err)
	case fill == nil:
		one = m.servers.sourceOf(one) // of a resource
	}
	if run {
		return m.start(one, request.Arguments, fill)
	}
	replace := func() tea.Cmd { m.goTo(one, fill); return nil }
	if fill == nil || !m.page.unsent(one) {
		return replace()
	}
	text := "The form of " + render.Safe(one.Name) + " has values that were not sent."
	m.ask("replace the values?", text, []string{"y", "enter"}, "replace them", replace)
	return nil
}

// ofResult reports whether keys apply to the call on the screen.
func (m *model) ofResult() bool { return m.focus == areaResult && m.calls.shown != nil }

// repeat runs the call on the screen again.
func (m *model) repeat() tea.Cmd {
	c := m.calls.shown
	return m.start(c.item, c.arguments, c.filled)
}

// request returns the call as one to repeat.
func (c *call) request() timeline.Request {
	request := timeline.Request{Tool: c.name, Arguments: c.arguments}
	if c.item.kind != kindTool {
		request.Method = c.item.kind.request()
	}
	return request
}

// enterRow does the most common action for the row under the cursor: it runs an item without parameters, or reads a
// failed list again.
func (m *model) enterRow() tea.Cmd {
	switch at := m.tree.selected(); {
	case at.failed():
		return m.servers.readAgain(at.group.server.name, at.serverList.kind)
	case m.page.takesNothing():
		return m.run()
	}
	m.openRow()
	return nil
}

// openRow opens the group under the cursor, or shows its item's page.
func (m *model) openRow() {
	if m.tree.selected().item.none() {
		m.tree.setClosed(false)
		return
	}
	m.page.tab = tabForm
	m.setFocus(areaPage)
}

// quit ends the interface; it asks first if calls are running.
func (m *model) quit() tea.Cmd {
	end := func() tea.Cmd { return tea.Quit }
	text := "A call is running. Quitting cancels it."
	switch n := len(m.calls.running()); {
	case n == 0:
		return end()
	case n > 1:
		text = "Calls are running. Quitting cancels them."
	}
	m.ask("quit?", text, []string{"y", "enter", "ctrl+c"}, "quit", end)
	return nil
}

// suspend stops the process like ctrl+z in a shell.
func suspend() tea.Cmd { return tea.Suspend }
