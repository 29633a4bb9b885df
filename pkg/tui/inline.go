package tui

import (
	"context"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
)

// Inline asks a server's question below the lines of a terminal, without the rest of the interface.
type Inline struct {
	In    io.Reader
	Out   io.Writer
	Color bool
	ASCII bool
	// OpenPage starts the browser; nil leaves pages to the user.
	OpenPage func(context.Context, string) error
}

// Elicit asks the user for what a server wants to know. The end of the terminal is neither yes nor no. The error is
// ctx's, or an *exec.InterruptedError after Ctrl-C.
func (i Inline) Elicit(ctx context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
	profile := profileOf(i.Out, os.Environ(), i.Color)
	q := newQuestion(ctx, asked.Server)
	q.elicitation, q.inline = asked, true
	m := newInlineModel(ctx, Options{
		OpenPage: i.OpenPage, Color: profile > colorprofile.ASCII, ASCII: i.ASCII, Now: time.Now,
	}, q)
	_, err := tea.NewProgram(m,
		tea.WithContext(ctx), tea.WithInput(i.In), tea.WithOutput(i.Out), tea.WithEnvironment(os.Environ()),
		tea.WithColorProfile(profile), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
	).Run()
	select {
	case given := <-q.reply:
		return &servers.Elicited{Action: given.action, Content: given.content}, nil
	default:
	}
	switch {
	case m.interrupted:
		return nil, &exec.InterruptedError{}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	_ = err // the terminal was closed
	return &servers.Elicited{Action: servers.Cancel}, nil
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
	theme := pane.NewTheme(options.Color, darkBackground(os.Getenv), options.ASCII)
	s := &shared{ctx: ctx, options: options, now: options.Now, theme: theme}
	m := &inlineModel{shared: s, q: q, width: mediumWidth, height: 24}
	calls := &calls{shared: s, server: func(string) *server { return nil }}
	idle := func() bool { return false }
	m.questions = &questions{
		shared: s, calls: calls, typist: &typist{shared: s, editing: idle}, quit: m.interrupt,
	}
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
	case tea.KeyPressMsg:
		switch {
		case m.dialog != nil:
			return m.updateDialog(msg, m.interrupt)
		case msg.String() == "ctrl+d":
			return m.questions.answer(m.q, servers.Cancel, nil)
		}
		return m.questions.update(m.q, msg)
	case later:
		return msg()
	default: // pasted text, and cursors that blink
		if m.q.form != nil && m.dialog == nil {
			return m.q.form.Update(msg)
		}
	}
	return nil
}

// View implements tea.Model. Once the question is answered, nothing of it is left on the terminal.
func (m *inlineModel) View() tea.View {
	switch {
	case m.interrupted || m.questions.first() == nil:
		return tea.NewView("")
	case m.dialog != nil:
		box, _, _ := m.dialog.render(m.theme, m.width, m.height)
		return tea.NewView(box)
	}
	box, _, _ := m.questions.render(m.q, m.width, m.height)
	return tea.NewView(box)
}
