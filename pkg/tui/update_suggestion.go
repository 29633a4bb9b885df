package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
)

// wish is a completion request: an argument of a prompt, or a variable of a template, as typed so far
// (MCP 2025-11-25, server/utilities/completion).
type wish struct {
	item         itemKey
	field, typed string
	known        string // the other arguments, a JSON object of texts
}

// beside reports whether other is for the same argument, with the same values of the other arguments.
func (w wish) beside(other wish) bool {
	other.typed = w.typed
	return w == other
}

// suggestions are the server's completions for the argument under the cursor.
type suggestions struct {
	of     wish // the zero wish where nothing was asked for
	values []string
	more   bool   // the server has more of them
	taken  string // the one that was put into the form last
	// failure says why there are none; not safe.
	failure string
}

// maxSuggestions bounds how many values are kept; the specification lets a server send 100.
const maxSuggestions = 100

// suggestedMsg carries a server's suggestions.
type suggestedMsg struct {
	of     wish
	values []string
	more   bool
	err    error
}

// suggest asks the server for values of the argument under the cursor whenever the argument or its
// text has changed. Only one request runs at a time, so that a slow server gets fewer of them.
func (m *model) suggest() tea.Cmd {
	wanted, ok := m.wish()
	if !ok {
		m.suggested = suggestions{}
		return nil
	}
	if m.completing || m.suggested.of == wanted {
		return nil
	}
	if m.suggested.of.beside(wanted) && m.suggested.taken == wanted.typed && wanted.typed != "" {
		return nil // the next one is to be taken from the same list
	}
	if !m.suggested.of.beside(wanted) {
		m.suggested = suggestions{}
	}
	m.completing = true
	return m.complete(m.page.item, wanted)
}

// wish returns what to complete now; ok is false if there is nothing.
func (m *model) wish() (wanted wish, ok bool) {
	one := m.page.item
	if m.focus != areaPage || one.kind != kindPrompt && one.kind != kindTemplate || m.page.shown() != tabForm {
		return wish{}, false
	}
	if s := m.serverOf(one.Server); s == nil || !s.completes || s.status != statusReady {
		return wish{}, false
	}
	field, typed, ok := m.page.form.Typed()
	arguments, err := m.page.form.Arguments()
	if !ok || err != nil {
		return wish{}, false
	}
	var known []rawjson.Member
	for member := range rawjson.Each(arguments) {
		if member.Name != field && rawjson.IsString(member.Value) {
			known = append(known, member)
		}
	}
	return wish{one.key(), field, typed, string(rawjson.Object(known))}, true
}

// complete returns the command that asks a server for suggestions.
func (m *model) complete(one item, wanted wish) tea.Cmd {
	session, executor := m.options.Pool.Session(one.Server), m.options.Executor
	ref := servers.Reference{Prompt: one.Plain}
	if one.kind == kindTemplate {
		ref = servers.Reference{Template: one.Plain}
	}
	return func() tea.Msg {
		msg := suggestedMsg{of: wanted}
		if session == nil {
			return msg
		}
		var known map[string]string
		_ = json.Unmarshal([]byte(wanted.known), &known) // they are texts
		reply, err := exec.Within(m.ctx, executor, string(mcp.MethodCompletionComplete), func(ctx context.Context) (json.RawMessage, error) {
			return session.Complete(ctx, ref, wanted.field, wanted.typed, known)
		})
		msg.err = err
		var result struct {
			Completion struct {
				Values  []string `json:"values"`
				Total   int      `json:"total"`
				HasMore bool     `json:"hasMore"`
			} `json:"completion"`
		}
		if msg.err == nil {
			msg.err = json.Unmarshal(reply, &result)
		}
		values := result.Completion.Values
		msg.values = values[:min(len(values), maxSuggestions)]
		msg.more = result.Completion.HasMore || result.Completion.Total > len(msg.values)
		return msg
	}
}

// updateSuggested takes suggestions, unless other text is typed by now.
func (m *model) updateSuggested(msg suggestedMsg) tea.Cmd {
	m.completing = false
	if wanted, ok := m.wish(); !ok || wanted != msg.of {
		return nil
	}
	m.suggested = suggestions{of: msg.of, values: msg.values, more: msg.more}
	var refused *exec.ToolError
	switch {
	case errors.As(msg.err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND:
		m.serverOf(m.page.item.Server).completes = false // whatever it says of itself
	case msg.err != nil:
		m.suggested.failure = msg.err.Error()
	}
	return nil
}

// takeSuggestion puts the next suggestion into the form.
func (m *model) takeSuggestion() tea.Cmd {
	s := &m.suggested
	_, typed, _ := m.page.form.Typed()
	next := 0
	if s.taken != "" && typed == s.taken {
		next = (slices.Index(s.values, typed) + 1) % len(s.values)
	}
	s.taken = s.values[next]
	m.page.form.Type(s.taken)
	return nil
}

// suggestionLine lists the server's suggestions, empty if there are none.
func (m *model) suggestionLine(width int) string {
	s := &m.suggested
	switch {
	case s.failure != "":
		return m.theme.Cut(m.theme.Paint(pane.Dim, "no suggestions: "+render.Safe(m.hide(s.failure))), width)
	case len(s.values) == 0, len(s.values) == 1 && s.values[0] == s.of.typed:
		return "" // there is nothing that is not there already
	}
	words := make([]string, len(s.values))
	for i, value := range s.values {
		words[i] = render.Safe(value)
		if value == s.taken {
			words[i] = m.theme.Paint(pane.Strong, "["+words[i]+"]")
		}
	}
	if s.more {
		words = append(words, m.theme.Glyphs.More)
	}
	return m.theme.Cut(m.theme.Paint(pane.Good, "ctrl+o")+" takes "+strings.Join(words, "  "), width)
}
