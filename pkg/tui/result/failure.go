package result

import (
	"io"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// errorLeaf shows why a call failed: the kind, the message, what to do about it, and
// the whole story.
func errorLeaf(err error) *leaf {
	return &leaf{
		name:      "error",
		extension: ".txt",
		open: func(theme *pane.Theme) body {
			return composed(theme, func(theme *pane.Theme, width int) []string { return failure(theme, err, width) })
		},
		write: func(out io.Writer, _ bool) error { return render.Error(out, err, render.Screen{}) },
	}
}

func failure(theme *pane.Theme, err error, width int) []string {
	var lines []string
	add := func(role pane.Role, text string) {
		for _, line := range pane.Wrap(ready(firstPart(text)), width) {
			lines = append(lines, theme.Paint(role, line))
		}
	}
	add(pane.Bad, theme.Glyphs.Bad+" "+kindInWords(exec.KindOf(err)))
	add(pane.Plain, err.Error())
	if hint := exec.HintOf(err); hint != "" {
		lines = append(lines, "")
		add(pane.Accent, "hint: "+hint)
	}
	if details := exec.DetailsOf(err); len(details) > 0 {
		lines = append(lines, "")
		add(pane.Dim, strings.Join(details, "\n"))
	}
	return lines
}

// kindInWords is a kind of failure as a person says it.
func kindInWords(kind exec.Kind) string { return strings.ReplaceAll(string(kind), "_", " ") }
