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
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/pane"
)

// completion is a completion request: an argument of a prompt, or a variable of a template, as typed so far
// (MCP 2025-11-25, server/utilities/completion).
type completion struct {
	item         itemKey
	field, typed string
	known        string // the other arguments, a JSON object of texts
}

// beside reports whether other completes the same argument, with the same values of the other arguments.
func (w completion) beside(other completion) bool {
	other.typed = w.typed
	return w == other
}

// suggestions are the server's completions for the argument under the cursor.
type suggestions struct {
	of     completion // the zero value before any request
	values []string
	more   bool   // the server has more of them
	taken  string // the one that was put into the form last
	// failure is why there are none; not safe.
	failure string
}

// maxSuggestions bounds how many values are kept; the specification lets a server send 100.
const maxSuggestions = 100

// suggester asks servers for the values of arguments.
type suggester struct {
	*shared
	suggestions
	completing bool // a request is running
	page       *page
	// server returns a server by its name, or nil.
	server func(name string) *server
}

// keys returns the key that takes the next suggestion, none if there is none: then it is the form's own, for examples.
func (su *suggester) keys() []pane.Binding {
	if len(su.values) == 0 {
		return nil
	}
	help := "next suggestion from the server"
	return []pane.Binding{{Keys: []string{"ctrl+o"}, Help: help, Typing: true, Do: pane.Do(su.take)}}
}

// suggest asks the server for values of the argument under the cursor whenever the argument or its text has changed;
// typing reports whether the form has the focus. Only one request runs at a time, so that a slow server gets fewer of
// them.
func (su *suggester) suggest(typing bool) tea.Cmd {
	wanted, ok := su.wanted()
	if !ok || !typing {
		su.suggestions = suggestions{}
		return nil
	}
	if su.completing || su.of == wanted {
		return nil
	}
	if su.of.beside(wanted) && su.taken == wanted.typed && wanted.typed != "" {
		return nil // the next one comes from the same list
	}
	if !su.of.beside(wanted) {
		su.suggestions = suggestions{}
	}
	su.completing = true
	return su.complete(su.page.item, wanted)
}

// wanted returns what to complete now; ok is false if there is nothing.
func (su *suggester) wanted() (wanted completion, ok bool) {
	one := su.page.item
	if one.kind != kindPrompt && one.kind != kindTemplate || su.page.tab != tabForm {
		return completion{}, false
	}
	if s := su.server(one.Server); s == nil || !s.completes || s.status != statusReady {
		return completion{}, false
	}
	field, typed, ok := su.page.form.Typed()
	arguments, err := su.page.form.Arguments()
	if !ok || err != nil {
		return completion{}, false
	}
	var known []rawjson.Member
	for member := range rawjson.Each(arguments) {
		if member.Name != field && rawjson.IsString(member.Value) {
			known = append(known, member)
		}
	}
	return completion{one.key(), field, typed, string(rawjson.Object(known))}, true
}

// complete returns the command that asks a server for suggestions.
func (su *suggester) complete(one item, wanted completion) tea.Cmd {
	session := su.options.Pool.Session(one.Server)
	ref := protocol.Reference{Prompt: one.Plain}
	if one.kind == kindTemplate {
		ref = protocol.Reference{Template: one.Plain}
	}
	type answer struct {
		suggestions
		err error
	}
	ask := func() (a answer) {
		a.of = wanted
		if session == nil {
			return a
		}
		var known map[string]string
		_ = json.Unmarshal([]byte(wanted.known), &known) // they are texts
		complete := func(ctx context.Context) (json.RawMessage, error) {
			return session.Complete(ctx, ref, wanted.field, wanted.typed, known)
		}
		reply, err := exec.Within(su.ctx, su.options.Executor, string(mcp.MethodCompletionComplete), complete)
		var result struct{ Completion mcp.Completion }
		if err == nil {
			err = json.Unmarshal(reply, &result)
		}
		found := result.Completion
		a.values, a.err = found.Values[:min(len(found.Values), maxSuggestions)], err
		a.more = found.HasMore || found.Total > len(a.values)
		return a
	}
	return after(ask, func(a answer) tea.Cmd { return su.suggested(a.suggestions, a.err) })
}

// suggested takes suggestions, unless other text is typed by now.
func (su *suggester) suggested(found suggestions, err error) tea.Cmd {
	su.completing = false
	if wanted, ok := su.wanted(); !ok || wanted != found.of {
		return nil
	}
	su.suggestions = found
	var refused *exec.ToolError
	switch {
	case errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND:
		su.server(su.page.item.Server).completes = false // despite its capabilities
	case err != nil:
		su.failure = err.Error()
	}
	return nil
}

// take puts the next suggestion into the form.
func (su *suggester) take() {
	_, typed, _ := su.page.form.Typed()
	next := 0
	if su.taken != "" && typed == su.taken {
		next = (slices.Index(su.values, typed) + 1) % len(su.values)
	}
	su.taken = su.values[next]
	su.page.form.Type(su.taken)
}

// line lists the server's suggestions, empty if there are none.
func (su *suggester) line(width int) string {
	switch {
	case su.failure != "":
		return su.theme.Cut(su.theme.Paint(pane.Dim, "no suggestions: "+su.safe(su.failure)), width)
	case len(su.values) == 0, len(su.values) == 1 && su.values[0] == su.of.typed:
		return "" // the only suggestion is in the field already
	}
	words := make([]string, len(su.values))
	for i, value := range su.values {
		words[i] = render.Safe(value)
		if value == su.taken {
			words[i] = su.theme.Paint(pane.Strong, "["+words[i]+"]")
		}
	}
	if su.more {
		words = append(words, su.theme.Glyphs.More)
	}
	return su.theme.Cut(su.theme.Paint(pane.Good, "ctrl+o")+" takes "+strings.Join(words, "  "), width)
}
