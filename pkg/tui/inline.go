package tui

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/terminal"
)

// Elicit asks the user a server's question below the lines of a terminal, without the rest of the interface. It uses
// the options In, Out, OpenPage, Color, ASCII and Now. If the terminal is closed, the question is cancelled. The error
// is ctx's, or an *exec.InterruptedError after Ctrl-C.
func Elicit(ctx context.Context, options Options, asked *protocol.Elicitation) (*protocol.Elicited, error) {
	profile := terminal.Profile(options.Out, os.Environ(), options.Color)
	options.Color = profile > colorprofile.ASCII
	q := newQuestion(ctx, asked.Server)
	q.elicitation, q.inline = asked, true
	m := newInlineModel(ctx, options, q)
	program := newProgram(ctx, m, options, profile)
	defer terminal.RestoreAtCrash(program)()
	_, _ = program.Run() // the error is that of ctx, or of a terminal that was closed
	select {
	case given := <-q.reply:
		return &protocol.Elicited{Action: given.action, Content: given.content}, nil
	default:
	}
	switch {
	case m.interrupted:
		return nil, &exec.InterruptedError{}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return &protocol.Elicited{Action: protocol.Cancel}, nil
}

// inlineModel shows one question until it is answered.
type inlineModel struct {
	*shared
	questions     *questions
	q             *question
	width, height int
	interrupted   bool
}

func newInlineModel(ctx context.Context, options Options, q *question) *inlineModel {
	s := newShared(ctx, options, terminal.DarkBackground(os.Getenv))
	m := &inlineModel{shared: s, q: q, width: mediumWidth, height: 24}
	calls := &calls{shared: s, server: func(string) *server { return nil }}
	idle := func() bool { return false }
	s.quit = m.interrupt
	m.questions = &questions{shared: s, calls: calls, typist: &typist{shared: s, editing: idle}}
	return m
}

func (m *inlineModel) interrupt() tea.Cmd {
	m.interrupted = true
	return tea.Quit
}

// Init implements tea.Model.
func (m *inlineModel) Init() tea.Cmd { return m.questions.add(m.q) }

// Update implements tea.Model.
func (m *inlineModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	if m.questions.first() == nil {
		return m, tea.Quit
	}
	return m, cmd
}

func (m *inlineModel) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, minWidth), max(msg.Height, minHeight)
	case later:
		return msg()
	case tea.KeyPressMsg:
		if m.dialog == nil && msg.String() == "ctrl+d" {
			return m.questions.answer(m.q, protocol.Cancel, nil)
		}
	}
	return m.box().update(msg)
}

// box returns what is shown: a dialog, else the question.
func (m *inlineModel) box() box {
	if m.dialog != nil {
		return m.dialog
	}
	return m.questions
}

// View implements tea.Model. Once the question is answered, nothing of it is left on the terminal.
func (m *inlineModel) View() tea.View {
	if m.interrupted || m.questions.first() == nil {
		return tea.NewView("")
	}
	box, _, _ := m.box().render(m.width, m.height)
	return tea.NewView(box)
}
