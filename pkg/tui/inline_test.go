package tui

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/servers/protocol"
)

// TestInlineForm shows a server's text without what a terminal would obey, and takes text only where some can be typed.
func TestInlineForm(t *testing.T) {
	q := newQuestion(t.Context(), "booking")
	q.elicitation, q.inline = &protocol.Elicitation{
		Server: "booking", Message: "Who\x1b[2J\x1b]0;owned\x07 are you?",
		Schema: json.RawMessage(`{"properties":{"name\u001b[H":{"type":"string","title":"Your\u001b[31m name"}}}`),
	}, true
	m := newInlineModel(t.Context(), Options{Now: noon, ASCII: true}, q)
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	view := m.View().Content
	for _, code := range []string{"\x1b[2J", "\x1b]0", "\x1b[H", "\x1b[31m", "\x07"} {
		if strings.Contains(view, code) {
			t.Errorf("the terminal would obey %q:\n%q", code, view)
		}
	}
	if !strings.Contains(view, "are you?") || !strings.Contains(view, "server booking") {
		t.Errorf("the question is not there:\n%s", view)
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyTab})
	m.Update(tea.PasteMsg{Content: "pasted"})
	if q.form.Changed() {
		t.Error("text that was pasted onto the buttons went into the form")
	}
	m.Update(tea.KeyPressMsg{Code: 'x', Mod: tea.ModCtrl})
	if given := <-q.reply; given.action != protocol.Decline || m.View().Content != "" {
		t.Errorf("%v, and left on the terminal: %q", given.action, m.View().Content)
	}
}
