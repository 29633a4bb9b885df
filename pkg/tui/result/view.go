package result

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// minBody is how many lines the body has before remarks get any.
const minBody = 3

// Render draws the view into exactly width by height cells.
func (v *View) Render(width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	b := v.body()
	if b == nil {
		return v.theme.Block([]string{v.theme.Paint(pane.Dim, "there is no result")}, width, height)
	}
	below := 0
	if v.prompt != nil && height > 1 {
		below = 1
	}
	head := v.head(width, height-below)
	v.headHeight = len(head)
	blocks := []string{b.Render(width, height-below-len(head))}
	if len(head) > 0 {
		blocks = append([]string{v.theme.Block(head, width, len(head))}, blocks...)
	}
	if below > 0 {
		blocks = append(blocks, v.theme.Fit(v.prompt.line(width), width))
	}
	return strings.Join(blocks, "\n")
}

// head is the line that names the leaves and the remarks below it, as far as there
// is room for them.
func (v *View) head(width, height int) []string {
	if height <= minBody {
		return nil
	}
	lines := []string{v.title(width)}
	room := height - minBody - len(lines)
	all := v.remarkLines(width)
	if len(all) > room {
		all = all[:max(0, room)]
		if len(all) > 0 {
			all[len(all)-1] = v.theme.Paint(pane.Warn, v.theme.Glyphs.More+" more remarks on a higher screen")
		}
	}
	return append(lines, all...)
}

// title names the leaves, marks the one on the screen, and says how it is shown.
func (v *View) title(width int) string {
	names := make([]string, len(v.leaves))
	for i, l := range v.leaves {
		names[i] = v.theme.Paint(pane.Dim, l.name)
		if i == v.current {
			names[i] = v.theme.Paint(pane.Strong, "["+l.name+"]")
		}
	}
	line := strings.Join(names, " ")
	if ansi.StringWidth(line) > width {
		line = fmt.Sprintf("%s %d/%d", names[v.current], v.current+1, len(names))
	}
	if d, ok := v.body().(described); ok {
		line += "  " + v.theme.Paint(pane.Dim, d.about())
	}
	return v.theme.Cut(line, width)
}

func (v *View) remarkLines(width int) []string {
	var lines []string
	for _, r := range v.remarks {
		for _, line := range pane.Wrap(r.sign(v.theme)+" "+r.text, width) {
			lines = append(lines, v.theme.Paint(r.role, line))
		}
	}
	return lines
}
