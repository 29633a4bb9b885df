package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/watch"
)

// toldMsg carries a message from a command for the status line.
type toldMsg struct {
	text string
	bad  bool
}

// run runs the item on the screen with the form's values; a destructive tool asks for confirmation
// first.
func (m *model) run() tea.Cmd {
	one := m.page.item
	arguments, err := m.page.arguments()
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	if destructive(one) {
		m.ask("call "+render.Safe(one.Name)+"?", []string{
			"This tool says of itself that it may destroy something.",
			render.Safe(m.hide(string(arguments))),
		}, []string{"y"}, "call it", func() tea.Cmd { return m.startCall(one, arguments) })
		return nil
	}
	return m.startCall(one, arguments)
}

// rerun goes to an item that was run before, fills in its arguments, and runs it again if run is set.
func (m *model) rerun(request watch.Request, run bool) tea.Cmd {
	one, fill, err := m.itemOf(request)
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	if fill == nil { // a resource: there is nothing to be replaced
		m.goTo(m.sourceOf(one), nil)
		if run {
			return m.startCall(one, request.Arguments)
		}
		return nil
	}
	from := m.focus
	replace := func() tea.Cmd {
		m.goTo(one, fill)
		if !run || m.cannotCall() != "" {
			return nil
		}
		cmd := m.run()
		if m.dialog != nil { // whoever says no stays where the key was pressed
			m.dialog.back = func() { m.setFocus(from) }
		}
		return cmd
	}
	if m.unsent(one) {
		m.ask("replace what is filled in?", []string{"The form of " + render.Safe(one.Name) + " holds what was not sent yet."}, []string{"y", "enter"}, "replace it", replace)
		return nil
	}
	return replace()
}

// unsent reports whether an item's form holds values that were typed and not sent yet.
func (m *model) unsent(one item) bool {
	kept, ok := m.page.forms[one.key()]
	if !ok || !kept.form.Changed() {
		return false
	}
	arguments, err := kept.form.Arguments()
	latest := m.latestCall(one)
	return err != nil || latest == nil || !bytes.Equal(latest.arguments, arguments)
}

// copied puts text on the clipboard: the terminal's by OSC 52, and the system's.
func (m *model) copied(text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		_ = clipboard.WriteAll(text) // without a system clipboard the terminal's is there
		return toldMsg{text: "copied " + what}
	})
}

// subject returns what a copied command or request is made from: the call on the screen if the result
// pane has the focus, else the item on the page.
func (m *model) subject() (item, json.RawMessage, error) {
	if m.ofResult() {
		return m.shown.item, m.shown.arguments, nil
	}
	arguments, err := m.page.arguments()
	return m.page.item, arguments, err
}

// ofResult reports whether keys apply to the call on the screen.
func (m *model) ofResult() bool { return m.focus == areaResult && m.shown != nil }

// callAgain repeats the call on the screen with the same arguments.
func (m *model) callAgain() tea.Cmd {
	method := ""
	if m.shown.item.kind != kindTool {
		method = m.shown.item.kind.request()
	}
	return m.rerun(watch.Request{Tool: m.shown.name, Method: method, Arguments: m.shown.arguments}, true)
}

// copyCommand copies the command line that does what the screen shows.
func (m *model) copyCommand() tea.Cmd {
	one, arguments, err := m.subject()
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.copied(commandLine(one, arguments), "the command line")
}

// copyEarlier copies the command line of an earlier call.
func (m *model) copyEarlier(call watch.Request) tea.Cmd {
	one, _, err := m.itemOf(call)
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.copied(commandLine(one, call.Arguments), "the command line")
}

// commandLine returns the command that runs an item with arguments.
func commandLine(one item, arguments json.RawMessage) string {
	switch one.kind {
	case kindTool:
		return exec.CommandLine(one.Tool, arguments)
	case kindPrompt:
		return exec.PromptLine(one.Tool, arguments)
	default:
		return exec.ReadLine(&exec.Tool{
			Name: one.Server + exec.Separator + uriOf(arguments), Launch: one.Launch, Address: one.Address, Flags: one.Flags,
		})
	}
}

// copyRequest copies the JSON-RPC request that would be sent.
func (m *model) copyRequest() tea.Cmd {
	one, arguments, err := m.subject()
	var request json.RawMessage
	if err == nil {
		request, err = m.requestOf(one, arguments)
	}
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.copied(string(request), "the request")
}

// requestOf returns the JSON-RPC request that runs an item.
func (m *model) requestOf(one item, arguments json.RawMessage) (json.RawMessage, error) {
	if one.kind == kindTool {
		return m.options.Request(exec.Call{Tool: one.Name, Target: one.Tool, Arguments: arguments})
	}
	session := m.options.Pool.Session(one.Server)
	if session == nil {
		return nil, errors.New("the server does not run; r starts it")
	}
	params := servers.ReadParams(uriOf(arguments))
	if one.kind == kindPrompt {
		params = servers.PromptParams(one.Plain, arguments)
	}
	return session.NextRequest(one.kind.request(), params, 0)
}

// copyResult copies the result of the call on the screen, or why it failed.
func (m *model) copyResult() tea.Cmd {
	if err := m.shown.result.Err; err != nil {
		return m.copied(err.Error(), "the error")
	}
	if m.shown.item.kind == kindPrompt {
		return m.copied(promptText(m.shown.result), "the messages")
	}
	return m.copied(m.shown.result.String(), "the result")
}

// promptText returns what the command line prints for a prompt.
func promptText(result *exec.Result) string {
	var out strings.Builder
	messages, err := exec.ReadMessages(result.Raw)
	if err != nil || render.Messages(&out, messages, render.Screen{}) != nil {
		return result.String()
	}
	return out.String()
}

// restartServer stops the selected server and starts it again.
func (m *model) restartServer() tea.Cmd {
	s := m.currentServer()
	s.asked = true
	s.become(statusStarting, m.now())
	pool := m.options.Pool
	stopped := func() tea.Msg {
		pool.Stop(m.ctx, s.name)
		_, err := pool.Open(m.ctx, s.name)
		return openedMsg{s.name, err}
	}
	return tea.Batch(stopped, m.tick())
}

// stopServer stops the selected server.
func (m *model) stopServer() tea.Cmd {
	s := m.currentServer()
	s.asked = true
	pool := m.options.Pool
	return func() tea.Msg {
		pool.Stop(m.ctx, s.name)
		return stoppedMsg{s.name}
	}
}

// stoppedMsg reports that a server was stopped. A server without a process has no other event for
// that.
type stoppedMsg struct{ server string }

func (m *model) updateStopped(msg stoppedMsg) tea.Cmd {
	if s := m.serverOf(msg.server); s != nil && s.asked {
		s.stop(m.now())
	}
	return nil
}

func (m *model) startFilter() tea.Cmd {
	m.setFocus(areaTree)
	return m.tree.startTyping()
}

// openRow opens the group under the cursor, or shows its item's page.
func (m *model) openRow() tea.Cmd {
	if m.tree.selected().item.none() {
		m.tree.setClosed(false)
		return nil
	}
	m.page.tab = tabForm
	return m.setFocus(areaPage)
}

// enterRow does the most common action for the row under the cursor: it reads a resource, which has no
// form, and reads a failed list again.
func (m *model) enterRow() tea.Cmd {
	switch at := m.tree.selected(); {
	case at.failed():
		return m.listAnew(at.group.server.name, at.serverList.kind)
	case at.item.kind == kindResource:
		return m.run()
	}
	return m.openRow()
}

func (m *model) toggleWatch() tea.Cmd {
	m.watching = !m.watching
	if !m.watching && m.focus == areaWatch {
		return m.setFocus(areaTree)
	}
	return nil
}

func (m *model) toggleZoom() tea.Cmd {
	m.zoomed = !m.zoomed
	return nil
}

// quit ends the interface; it asks first if calls are running.
func (m *model) quit() tea.Cmd {
	n := m.runningCalls()
	if n == 0 {
		return tea.Quit
	}
	text := "A call is running. It is cancelled when toolx ends."
	if n > 1 {
		text = "Calls are running. They are cancelled when toolx ends."
	}
	m.ask("quit?", []string{text}, []string{"y", "enter", "ctrl+c"}, "quit", func() tea.Cmd { return tea.Quit })
	return nil
}

// pageKeys returns the keys of the page and of what it shows.
func (m *model) pageKeys() []pane.Binding {
	keys := m.page.bindings()
	if m.page.item.kind == kindResource && m.page.runnable() {
		keys = append(keys, pane.Binding{Keys: []string{"enter"}, Help: m.runHelp(), Off: m.cannotCall(), Do: m.run})
	}
	if m.page.editing() {
		return keys
	}
	return slices.Concat(keys, m.serverKeys(), m.resourceKeys())
}
