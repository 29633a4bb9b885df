package result

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// maxCompared is how many bytes of a text are compared.
const maxCompared = 256 << 10

// Compare marks in the result how it differs from another one; nil ends that. The tab and the place stay the same.
func (v *View) Compare(with *exec.Result) {
	v.with = with
	if v.body() == nil {
		return
	}
	old := *v.tabs[v.current]
	for _, l := range v.tabs {
		l.made, l.compared = nil, ""
	}
	v.resume(&old)
}

// Compared returns what the comparison of the tab on the screen has found, empty without one.
func (v *View) Compared() string {
	if v.body() == nil {
		return ""
	}
	return v.tabs[v.current].compared
}

// compare makes the body of a tab that shows how it differs from the tab of the same name of another result.
func (l *tab) compare(theme *pane.Theme, with *exec.Result) pane.Pane {
	var other *tab
	for _, one := range tabsOf(with) {
		if one.name == l.name {
			other = one
		}
	}
	switch {
	case other == nil:
		l.compared = "the other result has no " + l.name
	case l.value != nil && len(l.value) <= maxTree:
		tree := jsontree.New(l.value, theme) // a table does not show differences
		l.compared = tree.Compare(other.value)
		return tree
	default:
		before, now := text(other), text(l)
		lines, found := changedLines(before, now)
		if l.compared = found; before == now && !slices.EqualFunc(l.blocks, other.blocks, rawjson.Same) {
			l.compared = "the text is the same, but not all content"
		}
		return pane.NewTextView(theme, func(width int) []string { return paintChanges(theme, lines, width) })
	}
	return l.open(theme)
}

// text returns the beginning of what a tab shows, safe for a terminal.
func text(l *tab) string {
	var out head
	_ = l.write(&out, true) // it stops when there is enough
	return out.text.String()
}

// head keeps the first bytes that are written to it.
type head struct{ text strings.Builder }

func (h *head) Write(p []byte) (int, error) {
	room := maxCompared - h.text.Len()
	if len(p) > room {
		h.text.Write(p[:room])
		return room, io.ErrShortWrite
	}
	return h.text.Write(p)
}

// changedLines returns the lines of a text: "+ " before new ones, "- " before those of an earlier text that are gone,
// and two spaces before all others.
func changedLines(before, now string) (lines []string, found string) {
	split := func(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }
	lines = words.DiffLines(split(before), split(now))
	added, removed := 0, 0
	for _, line := range lines {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	found = "no differences"
	if added+removed > 0 {
		found = fmt.Sprintf("%s added, %d removed", words.Count(added, "line"), removed)
	}
	if len(before) == maxCompared || len(now) == maxCompared {
		found += fmt.Sprintf(", only the first %s compared", exec.Bytes(maxCompared))
	}
	return lines, found
}

// paintChanges draws the lines of changedLines.
func paintChanges(theme *pane.Theme, lines []string, width int) []string {
	var drawn []string
	for _, line := range lines {
		sign, role := line[:1], pane.Plain
		switch sign {
		case "+":
			role = pane.Strong
		case "-":
			role = pane.Dim
		}
		for _, part := range pane.Wrap(pane.Lines(line[2:]), max(1, width-2)) {
			drawn = append(drawn, theme.Paint(pane.Accent, sign)+" "+theme.Paint(role, part))
			sign = " "
		}
	}
	return drawn
}
