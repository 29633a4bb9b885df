package pane

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"toolx/pkg/render"
)

// NewInput returns a text field of one line; prompt precedes the typed text. It uses the terminal's own colours,
// because those of Bubbles are made for a dark background and are invisible on a light one.
func NewInput(prompt string) textinput.Model {
	input := textinput.New()
	input.Prompt = prompt
	style := lipgloss.NewStyle()
	state := textinput.StyleState{
		Text: style, Placeholder: style.Faint(true), Suggestion: style.Faint(true), Prompt: style.Bold(true),
	}
	input.SetStyles(textinput.Styles{
		Focused: state, Blurred: state, Cursor: textinput.CursorStyle{Color: lipgloss.NoColor{}, Blink: true},
	})
	return input
}

// Type handles a message for a text field. What is pasted is made safe.
func Type(input *textinput.Model, msg tea.Msg) (cmd tea.Cmd) {
	*input, cmd = input.Update(msg)
	if safe := render.Safe(input.Value()); safe != input.Value() {
		input.SetValue(safe)
	}
	return cmd
}
