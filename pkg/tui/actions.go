package tui

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// toldMsg is a message for the last line, from a command.
type toldMsg struct {
	text string
	bad  bool
}

// callTool calls the tool on the screen with what is filled in; one that destroys
// things asks first.
func (m *model) callTool() tea.Cmd {
	one := m.page.item
	arguments, err := m.page.form.Arguments()
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

// rerun goes to a tool with arguments, and calls it where it is to run again.
func (m *model) rerun(name string, arguments json.RawMessage, run bool) tea.Cmd {
	tool, err := m.options.Executor.Registry.Find(name)
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	replace := func() tea.Cmd {
		m.goTo(toolItem(tool), arguments)
		if run && m.cannotCall() == "" {
			return m.callTool()
		}
		return nil
	}
	if kept, ok := m.page.forms[toolItem(tool).key()]; ok && kept.form.Changed() {
		m.ask("replace what is filled in?", []string{"The form of " + render.Safe(tool.Name) + " holds what was not sent yet."}, []string{"y", "enter"}, "replace it", replace)
		return nil
	}
	return replace()
}

// copied puts text on the clipboard: the terminal's by OSC 52, and the system's.
func (m *model) copied(text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		_ = clipboard.WriteAll(text) // without a system clipboard the terminal's is there
		return toldMsg{text: "copied " + what}
	})
}

// copyCommand copies the command line that calls the tool as the form would.
func (m *model) copyCommand() tea.Cmd {
	arguments, err := m.page.form.Arguments()
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.copied(exec.CommandLine(m.page.item.Tool, arguments), "the command line")
}

// copyRequest copies the JSON-RPC request of the call.
func (m *model) copyRequest() tea.Cmd {
	arguments, err := m.page.form.Arguments()
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	request, err := m.options.Request(exec.Call{Tool: m.page.item.Name, Target: m.page.item.Tool, Arguments: arguments})
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.copied(string(request), "the request")
}

// copyResult copies what the shown call gave, or why it failed.
func (m *model) copyResult() tea.Cmd {
	if err := m.shown.result.Err; err != nil {
		return m.copied(err.Error(), "the error")
	}
	return m.copied(m.shown.result.String(), "the result")
}

// restartServer ends the selected server and starts it anew.
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

// stopServer ends the selected server.
func (m *model) stopServer() tea.Cmd {
	s := m.currentServer()
	s.asked = true
	pool := m.options.Pool
	return func() tea.Msg {
		pool.Stop(m.ctx, s.name)
		return stoppedMsg{s.name}
	}
}

// stoppedMsg says that a server was stopped: one without a process has no other
// event of its end.
type stoppedMsg struct{ server string }

func (m *model) updateStopped(msg stoppedMsg) tea.Cmd {
	if s := m.serverOf(msg.server); s != nil && s.asked {
		s.stop(m.now())
	}
	return nil
}

// examinedMsg is what the doctor found about a server.
type examinedMsg struct {
	server   string
	findings []string
	err      error
}

// examine asks the doctor about the selected server.
func (m *model) examine() tea.Cmd {
	s, examine := m.currentServer(), m.options.Examine
	s.findings = []string{"examining…"}
	return func() tea.Msg {
		report, err := examine(m.ctx, s.name)
		msg := examinedMsg{server: s.name, err: err}
		if err != nil {
			return msg
		}
		for _, finding := range report.Findings {
			msg.findings = append(msg.findings, string(finding.Severity)+": "+finding.Title+" ("+finding.ID+")")
		}
		return msg
	}
}

func (m *model) updateExamined(msg examinedMsg) tea.Cmd {
	s := m.serverOf(msg.server)
	if s == nil {
		return nil
	}
	switch {
	case msg.err != nil:
		s.findings = []string{render.Safe(msg.err.Error())}
	case len(msg.findings) == 0:
		s.findings = []string{"nothing found"}
	default:
		s.findings = msg.findings
		for i := range s.findings {
			s.findings[i] = render.Safe(s.findings[i])
		}
	}
	return nil
}

func (m *model) startFilter() tea.Cmd {
	m.setFocus(areaTree)
	return m.tree.startTyping()
}

// openRow opens the group under the cursor, or goes to its tool's form.
func (m *model) openRow() tea.Cmd {
	at := m.tree.selected()
	if at.item.none() {
		m.tree.setClosed(false)
		return nil
	}
	m.page.leaf = leafForm
	return m.setFocus(areaPage)
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

// quit ends the interface; while calls run it asks.
func (m *model) quit() tea.Cmd {
	n := m.runningCalls()
	if n == 0 {
		return tea.Quit
	}
	text := "A call is running. It is cancelled when toolx ends."
	if n > 1 {
		text = "Calls are running. They are cancelled when toolx ends."
	}
	m.ask("quit?", []string{text}, []string{"y", "enter"}, "quit", func() tea.Cmd { return tea.Quit })
	return nil
}

// pageKeys are the page's, and those of a server where one is shown.
func (m *model) pageKeys() []pane.Binding { return append(m.page.bindings(), m.serverKeys()...) }
