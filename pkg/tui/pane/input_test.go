package pane

import (
	"strings"
	"testing"
)

// What is typed has the colours of the terminal, which are readable on any background.
func TestInputHasNoColours(t *testing.T) {
	input := NewInput("/")
	input.SetValue("typed")
	for _, focus := range []string{"blurred", "focused"} {
		view := input.View()
		if strings.Contains(view, "\x1b[3") || strings.Contains(view, "\x1b[4") || strings.Contains(view, ";3") {
			t.Errorf("%s: %q", focus, view)
		}
		input.Focus()
	}
}
