package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/rogpeppe/go-internal/diff"

	"toolx/pkg/config"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// maxCompared is how many bytes of a result are compared.
const maxCompared = 256 << 10

// before returns the last ended call of the same item before the one on the screen, nil if there is none.
func (cs *calls) before() *call {
	var last *call
	for _, c := range cs.list {
		if c == cs.shown {
			return last
		}
		if cs.shown != nil && c.item.key() == cs.shown.item.key() && !c.running() {
			last = c
		}
	}
	return nil
}

// compareKey returns the key that compares the call on the screen with the one before.
func (cs *calls) compareKey() pane.Binding {
	before, off := cs.before(), ""
	switch {
	case cs.shown == nil || cs.shown.running():
		off = "there is no result"
	case before == nil:
		off = "there is no previous call"
	}
	return pane.Binding{Keys: []string{"D"}, Help: "compare with the previous call", Off: off, Do: func() tea.Cmd {
		cs.compare(before, cs.shown)
		return nil
	}}
}

// compare shows how the arguments and the result of a call differ from those of another one.
func (cs *calls) compare(before, now *call) {
	changes := diff.Diff("before", comparedText(before), "now", comparedText(now))
	if len(changes) == 0 {
		cs.notify("same result as the previous call", false)
		return
	}
	var lines []string
	for line := range strings.Lines(string(changes)) {
		line = cs.safe(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			continue
		case strings.HasPrefix(line, "@@"):
			if len(lines) == 0 {
				continue // a separator is useful only between changes
			}
			line = cs.theme.Paint(pane.Dim, cs.theme.Glyphs.More)
		case strings.HasPrefix(line, "+"):
			line = cs.theme.Paint(pane.Good, line)
		case strings.HasPrefix(line, "-"):
			line = cs.theme.Paint(pane.Bad, line)
		}
		lines = append(lines, line)
	}
	cs.openDialog(render.Safe(now.name)+": this call (+) and the previous one (-)", lines)
}

// comparedText returns the lines of a call to compare.
func comparedText(c *call) []byte {
	var out bytes.Buffer
	out.WriteString("arguments " + indented(c.arguments) + "\n")
	switch {
	case c.result.Err != nil:
		out.WriteString("error: " + c.result.Err.Error())
	case rawjson.IsString(c.result.Value):
		out.WriteString(indented(json.RawMessage(rawjson.Unquote(c.result.Value)))) // often JSON as text
	default:
		out.WriteString(indented(c.result.Value))
	}
	return append(bytes.TrimRight([]byte(words.Clip(out.String(), maxCompared)), "\n"), '\n')
}

// indented returns JSON with a line for each value, other text as it is.
func indented(value json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}

// timeLimit is how long calls of an item may take without progress.
type timeLimit struct {
	typed string
	limit time.Duration // zero: the config decides
}

// limitKey returns the key that sets how long calls of an item may take.
func (cs *calls) limitKey(one item) pane.Binding {
	return pane.Binding{
		Keys: []string{"T"}, Help: "set a time limit", Off: pane.Off(one.none(), "nothing is selected"),
		Do: func() tea.Cmd { return cs.askLimit(one, cs.limits[one.key()].typed) },
	}
}

// askLimit asks how long calls of an item may take without progress; typed is what was typed before.
func (cs *calls) askLimit(one item, typed string) tea.Cmd {
	lines := []string{
		"Cancel calls of " + render.Safe(one.label()) + " after this time without progress, such as 5m or 500ms.",
		"none: no limit. Empty: the limit in the config.",
	}
	return cs.prompt("time limit", lines, typed, "set it", func(typed string) tea.Cmd {
		if typed == "" {
			delete(cs.limits, one.key())
			return nil
		}
		limit := config.Unlimited
		if typed != "none" {
			var err error
			if limit, err = config.ParseTime(typed); err != nil {
				return tea.Batch(cs.failWithHint(err), cs.askLimit(one, typed))
			}
			if limit <= 0 {
				cs.notify("the time limit must be more than 0", true)
				return cs.askLimit(one, typed)
			}
		}
		cs.limits[one.key()] = timeLimit{typed, limit}
		return nil
	})
}
