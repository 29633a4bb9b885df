package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/tui/watch"
)

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, m.update(msg)
}

// update handles one message and then sees whether the place of typing has changed.
func (m *model) update(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	return tea.Batch(cmd, m.suggest())
}

func (m *model) take(msg tea.Msg) tea.Cmd { //nolint:funlen // one table of all messages
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.takeBackground(msg)
	case tea.ModeReportMsg:
		m.takeMode(msg)
	case tea.KeyPressMsg:
		return m.updateKey(msg)
	case tea.MouseMsg:
		if q := m.asking(); q != nil && m.dialog == nil {
			return m.mouseQuestion(q, msg)
		}
		return m.updateMouse(msg)
	case eventsMsg:
		return m.updateEvents(msg)
	case openedMsg:
		return m.updateOpened(msg)
	case stoppedMsg:
		return m.updateStopped(msg)
	case metMsg:
		return m.updateMet(msg)
	case listedMsg:
		return m.updateListed(msg)
	case suggestedMsg:
		return m.updateSuggested(msg)
	case subscribedMsg:
		return m.updateSubscribed(msg)
	case askedMsg:
		if c := m.callOf(msg.id); c != nil {
			c.sent = msg.at
		}
	case calledMsg:
		return m.called(msg)
	case tickMsg:
		return m.updateTick()
	case editedMsg:
		return m.updateEdited(msg)
	case examinedMsg:
		return m.updateExamined(msg)
	case questionMsg:
		return m.updateAsked(msg.question)
	case withdrawnMsg:
		return m.updateWithdrawn(msg.question)
	case openedPageMsg:
		return m.updateOpenedPage(msg)
	case tea.PasteMsg:
		return m.updatePaste(msg)
	case toldMsg:
		m.tell(msg.text, msg.bad)
		return m.tick()
	case watch.HistoryMsg:
		return m.watch.Update(msg)
	case result.NoteMsg:
		m.tell(msg.Text, msg.Bad)
		return m.tick()
	case jsontree.CopyMsg:
		return m.copied(msg.Text, msg.What)
	case watch.RerunMsg:
		return m.rerun(msg.Request, true)
	case watch.CommandMsg:
		return m.copyEarlier(msg.Request)
	case watch.EditMsg:
		cmd := m.rerun(msg.Request, false)
		if msg.Note != "" {
			m.tell(msg.Note, true)
		}
		return cmd
	default: // cursors that blink
		return m.focused().update(msg)
	}
	return nil
}

// takeBackground selects the colours that are readable on the terminal's background.
func (m *model) takeBackground(msg tea.BackgroundColorMsg) {
	theme := pane.NewTheme(m.options.Color, msg.IsDark(), m.options.ASCII)
	theme.Clusters = m.theme.Clusters
	m.theme.Change(theme)
}

// takeMode learns what the terminal supports. The condition is Bubble Tea's: both must measure text
// alike.
func (m *model) takeMode(msg tea.ModeReportMsg) {
	if msg.Mode == ansi.ModeUnicodeCore {
		theme := *m.theme
		theme.Clusters = msg.Value == ansi.ModeReset || msg.Value.IsSet()
		m.theme.Change(&theme)
	}
}

// updateKey handles a key. It goes to the first of these that takes it: a dialog, a question, a text
// field, the keys that work everywhere, the focused pane, the keys of every pane.
func (m *model) updateKey(key tea.KeyPressMsg) tea.Cmd {
	m.fade()
	if m.dialog != nil {
		return m.updateDialog(key)
	}
	return m.typesInto(key)
}

// updatePanes handles a key while no question is asked.
func (m *model) updatePanes(key tea.KeyPressMsg) tea.Cmd {
	if binding := pane.Find(m.always(), key.String()); binding != nil {
		return m.do(binding)
	}
	part := m.focused()
	own := pane.Find(part.bindings(), key.String())
	works := own != nil && own.Off == ""
	// Text goes into the text field, even if a key of that name does nothing now.
	if part.editing() && (own == nil || works || key.Text != "") {
		return part.update(key)
	}
	common := pane.Find(m.common(), key.String())
	switch {
	case works:
		return m.do(own)
	case common != nil: // tab, behind the last field of a form
		return m.do(common)
	case own != nil:
		return m.do(own)
	}
	return part.update(key)
}

// do runs the action of a key, or says why it is not possible.
func (m *model) do(binding *pane.Binding) tea.Cmd {
	if binding.Off != "" {
		m.tell(binding.Help+": "+binding.Off, true)
		if binding.Mend != nil {
			binding.Mend()
		}
		return m.tick()
	}
	return binding.Do()
}

// updateTree handles clicks, the wheel, and text typed into the filter.
func (m *model) updateTree(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		m.tree.list.Scroll(pane.Wheel(msg))
		return nil
	case tea.MouseClickMsg:
		m.tree.click(msg.X, msg.Y)
		m.showSelected()
		return nil
	case tea.KeyPressMsg:
		if !m.tree.typing {
			return nil // keys that are in no table do nothing
		}
		if binding := pane.Find(m.filterKeys(), msg.String()); binding != nil {
			return binding.Do()
		}
	}
	cmd := m.tree.update(msg)
	m.showSelected()
	return cmd
}

// updateEvents handles the events since the last frame.
func (m *model) updateEvents(msg eventsMsg) tea.Cmd {
	changed := false
	var commands []tea.Cmd
	for _, event := range msg.events {
		m.watch.Take(event)
		if s := m.serverOf(serverName(event)); s != nil && s.take(event) {
			changed = true
		}
		switch e := event.(type) {
		case exec.CallProgress:
			if c := m.callOf(e.ID); c != nil {
				c.progress = e.Progress
			}
		case servers.Connected:
			commands = append(commands, m.meet(e.Server))
		case servers.Notification:
			m.visited(e)
			commands = append(commands, m.takeNotification(e))
		}
	}
	for name, n := range msg.strays {
		if s := m.serverOf(name); s != nil {
			s.polluted += n
		}
	}
	m.watch.Dropped(msg.dropped)
	if changed {
		m.setTools()
	}
	return tea.Batch(append(commands, m.feed.wait(m.ctx), m.tickIfBusy())...)
}

// serverName returns the server that an event is about, or empty.
func serverName(event exec.Event) string {
	if about, ok := event.(servers.Event); ok {
		return about.From()
	}
	return ""
}

func (m *model) updateOpened(msg openedMsg) tea.Cmd {
	s := m.serverOf(msg.server)
	if s == nil || s.asked && errors.Is(msg.err, context.Canceled) { // whoever stopped it tells how it stands
		return nil
	}
	if msg.err != nil && m.ctx.Err() == nil {
		s.reason = msg.err.Error()
		s.become(statusFailed, m.now())
	}
	s.asked = false
	m.setTools()
	return nil
}

func (m *model) updateTick() tea.Cmd {
	m.ticking = false
	if m.note.text != "" && m.now().Sub(m.note.at) > noteTime {
		m.note = note{}
	}
	return m.tickIfBusy()
}

func (m *model) tickIfBusy() tea.Cmd {
	if m.busy() || m.ages() {
		return m.tick()
	}
	return nil
}

// setFocus moves the focus to a pane.
func (m *model) setFocus(to area) tea.Cmd {
	if m.hidden(to) != "" {
		return nil
	}
	m.parts[m.focus].setFocus(false)
	m.focus = to
	if to == areaWatch {
		m.watching = true
	}
	m.parts[to].setFocus(true)
	return nil
}

// moveFocus moves the focus to the next pane that can have it.
func (m *model) moveFocus(by int) tea.Cmd {
	to := m.focus
	for range areas {
		to = (to + area(by) + areas) % areas
		if m.hidden(to) == "" {
			break
		}
	}
	return m.setFocus(to)
}

// back moves from a call's result or the watch pane to the tool, from there to the tree, and there
// from the search results to all items.
func (m *model) back() tea.Cmd {
	switch {
	case m.focus == areaTree:
		selected := m.tree.selected()
		m.tree.unfilter()
		m.tree.find(selected)
		return m.follow()
	case m.focus == areaPage || m.page.item.none():
		return m.setFocus(areaTree)
	}
	return m.setFocus(areaPage)
}

// backHelp says where back leads, empty if it does nothing.
func (m *model) backHelp() string {
	switch {
	case m.focus == areaTree && m.tree.filter.Value() == "":
		return ""
	case m.focus == areaTree:
		return "end the filter"
	case m.focus == areaPage || m.page.item.none():
		return "back to the tools"
	}
	return "back to the " + m.page.item.kind.String()
}
