package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/tui/timeline"
)

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, m.update(msg)
}

// update handles one message, then sets what the timeline follows, updates the suggestions for the argument under the
// cursor, lets the doctor examine a failed server that is shown, and schedules a tick if the screen changes without
// input.
func (m *model) update(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	m.timeline.Follow(m.calls.subject())
	return tea.Batch(cmd, m.suggested.suggest(m.focus == areaPage), m.servers.diagnose(m.page.server), m.tick())
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.takeBackground(msg.IsDark())
	case tea.ModeReportMsg:
		m.takeMode(msg)
	case tea.KeyPressMsg:
		return m.updateKey(msg)
	case tea.PasteMsg:
		m.typist.settle()
		return m.pass(msg)
	case tea.MouseMsg:
		m.typist.beneath = false
		if top := m.top(); top != nil {
			return top.update(msg)
		}
		return m.updateMouse(msg)
	case feed.Msg:
		return m.updateEvents(msg)
	case later:
		return msg()
	case tickMsg:
		m.ticking = false
		m.fade(noteTime)
		return m.servers.look()
	case timeline.HistoryMsg:
		return m.timeline.Update(msg)
	case result.NoteMsg:
		m.notify(msg.Text, msg.Bad)
	case result.SaveMsg:
		return m.askPath(msg)
	case jsontree.CopyMsg:
		return m.copied(msg.Text, msg.What)
	case timeline.RerunMsg:
		return m.rerun(msg.Request, true)
	case timeline.CommandMsg:
		one, _, err := m.servers.itemOf(msg.Request)
		return m.copy.commandOf(one, msg.Arguments, err)
	case timeline.EditMsg:
		cmd := m.rerun(msg.Request, false)
		if msg.Note != "" {
			m.notify(msg.Note, true)
		}
		return cmd
	default: // cursors that blink
		return m.pass(msg)
	}
	return nil
}

// box is drawn over the panes, and takes all input.
type box interface {
	update(msg tea.Msg) tea.Cmd
	// render draws the box on a screen, and returns its position.
	render(width, height int) (box string, x, y int)
}

// boxes returns what is drawn over the panes, the uppermost last.
func (m *model) boxes() []box {
	var boxes []box
	if m.questions.first() != nil {
		boxes = append(boxes, m.questions)
	}
	if m.dialog != nil {
		boxes = append(boxes, m.dialog)
	}
	if len(boxes) == 0 && m.palette.open {
		boxes = append(boxes, m.palette)
	}
	return boxes
}

// top returns the box that takes input, nil if the panes do. A question takes none until a word is finished.
func (m *model) top() box {
	switch {
	case m.dialog != nil:
		return m.dialog
	case m.questions.first() != nil && !m.typist.beneath:
		return m.questions
	case m.palette.open:
		return m.palette
	}
	return nil
}

// pass passes pasted text, or the blinking of a cursor, to a box or to the pane with the focus.
func (m *model) pass(msg tea.Msg) tea.Cmd {
	if top := m.top(); top != nil {
		return top.update(msg)
	}
	return m.focused().Update(msg)
}

// takeBackground selects the colours that are readable on the terminal's background.
func (s *shared) takeBackground(dark bool) {
	theme := pane.NewTheme(s.options.Color, dark, s.options.ASCII)
	theme.Clusters = s.theme.Clusters
	if s.theme.Fine {
		theme.FixColors(dark)
	}
	s.theme.Change(theme)
}

// takeMode learns what the terminal supports. The condition is Bubble Tea's, because both must measure text the same
// way.
func (s *shared) takeMode(msg tea.ModeReportMsg) {
	if msg.Mode == ansi.ModeUnicodeCore {
		theme := *s.theme
		theme.Clusters = msg.Value == ansi.ModeReset || msg.Value.IsSet()
		s.theme.Change(&theme)
	}
}

// updateKey handles a key. It goes to the first of these that takes it: a dialog, a question, the palette, a text
// field, the keys that work everywhere, the focused pane, the keys of every pane.
func (m *model) updateKey(key tea.KeyPressMsg) tea.Cmd {
	m.fade(readTime) // a note covers the key hints
	if m.dialog != nil {
		return m.dialog.update(key)
	}
	m.typist.settle()
	if m.typist.dropping && key.String() != "ctrl+c" {
		return nil
	}
	top, q := m.top(), m.questions.first()
	var cmd tea.Cmd
	if top != nil {
		cmd = top.update(key)
	} else {
		cmd = m.updatePanes(key)
	}
	if top == m.questions {
		m.typist.typed(m.questions.first() == q && q.editing())
	} else {
		m.typist.typed(m.typist.editing())
	}
	return cmd
}

// updatePanes handles a key for the panes.
func (m *model) updatePanes(key tea.KeyPressMsg) tea.Cmd {
	name, part := key.String(), m.focused()
	action := pane.Find(m.usable(), name)
	if action != nil && action.Typing && len(name) > 1 {
		return m.do(action)
	}
	own := pane.Find(part.Bindings(), name)
	works := own != nil && own.Off == ""
	// Text goes into the text field, even if a key of that name does nothing now.
	if part.Editing() && (own == nil || works || key.Text != "") {
		return part.Update(key)
	}
	switch {
	case works:
		return m.do(own)
	case action != nil: // tab, after the last field of a form
		return m.do(action)
	case own != nil:
		return m.do(own)
	}
	where := "here"
	if m.showsRecording() {
		where = "in a recording"
	}
	m.notify(name+" does nothing "+where+"; ? shows the keys of this pane, ctrl+k all actions", true)
	return nil
}

// updateEvents handles the events since the last frame.
func (m *model) updateEvents(msg feed.Msg) tea.Cmd {
	if m.showsRecording() {
		return m.updateRecorded(msg)
	}
	changed := false
	commands := []tea.Cmd{m.feed.Wait(m.ctx)}
	for _, event := range msg.Events {
		m.timeline.Take(event)
		if s := m.servers.server(feed.Server(event)); s != nil && s.take(event) {
			changed = true
		}
		switch e := event.(type) {
		case exec.CallProgress:
			for _, c := range m.calls.byID(e.ID) {
				c.progress = c.progress.Then(e.Progress)
			}
		case wire.ProcessStarted:
			commands = append(commands, m.servers.remember(e))
		case wire.ProcessExited:
			if s := m.servers.server(e.Server); s != nil && s.status == statusEnded {
				m.servers.lost(s)
			}
		case servers.Connected:
			commands = append(commands, m.servers.meet(e.Server))
		case wire.Notification:
			m.questions.visited(e)
			m.subscriptions.update(e)
			if of := changedList(e.Method); of != nil {
				commands = append(commands, m.servers.readAgain(e.Server, of...))
			}
		}
	}
	for name, n := range msg.Polluted {
		if s := m.servers.server(name); s != nil {
			s.polluted += n
		}
	}
	m.timeline.Dropped(msg.Dropped)
	if changed {
		m.setTools()
	}
	return tea.Batch(commands...)
}
