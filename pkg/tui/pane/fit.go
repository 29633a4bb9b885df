package pane

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Width returns how many cells a line takes on the theme's terminal.
func (t *Theme) Width(line string) int {
	if t.Clusters {
		return ansi.StringWidth(line)
	}
	return ansi.StringWidthWc(apart(line))
}

// Cut shortens a line to width cells with a mark; a line that fits is unchanged. Styles are kept. On a
// terminal without clusters the parts of an emoji are written separately.
func (t *Theme) Cut(line string, width int) string {
	if width <= 0 {
		return ""
	}
	if !t.Clusters {
		line = apart(line)
	}
	switch {
	case t.Width(line) <= width:
		return line
	case t.Clusters:
		return ansi.Truncate(line, width, t.Glyphs.More)
	}
	// TruncateWc leaves alone what has room as clusters; the spaces are always cut off.
	return ansi.TruncateWc(line+strings.Repeat(" ", width+1), width, t.Glyphs.More)
}

// Fit makes a line exactly width cells wide: cut, or filled with spaces.
func (t *Theme) Fit(line string, width int) string {
	line = t.Cut(line, width)
	return line + strings.Repeat(" ", max(0, width-t.Width(line)))
}

// joiner and the selectors combine several characters into one sign on terminals that
// support it, and are invisible themselves.
const joiner, textSelector, emojiSelector = "\u200d", "\ufe0e", "\ufe0f"

// apart removes the joiners of emoji. A terminal that cannot join them draws the parts side by side in
// any case, but some terminals reserve too few cells for them, which shifts the rest of the row.
// Joiners inside words stay, because scripts need them.
func apart(line string) string {
	if !strings.ContainsAny(line, joiner+textSelector+emojiSelector) {
		return line
	}
	line = strings.NewReplacer(textSelector, "", emojiSelector, "").Replace(line)
	parts := strings.Split(line, joiner)
	var out strings.Builder
	for i, part := range parts {
		next, _ := utf8.DecodeRuneInString(part)
		if i > 0 && (unicode.IsLetter(next) || unicode.IsMark(next)) {
			out.WriteString(joiner)
		}
		out.WriteString(part)
	}
	return out.String()
}

// UnderCursor draws the row under the cursor of a pane with or without the focus. With the focus it loses its colours,
// which would be unreadable there.
func (t *Theme) UnderCursor(row string, focus bool, width int) string {
	switch {
	case focus:
		return t.bar(t.under, t.Fit(row, width))
	case t.Fine:
		row = t.Fit(row, width)
	}
	return t.upon(t.codes[Tinted], row)
}

// bar draws a line as a bar in the accent colour, on which flat removes what would be unreadable.
func (t *Theme) bar(flat *strings.Replacer, line string) string {
	return t.upon(t.codes[Selected], flat.Replace(line))
}

// upon draws a line on a background that goes on after styles in it.
func (t *Theme) upon(under code, line string) string {
	return under.open + strings.ReplaceAll(line, ansi.ResetStyle, ansi.ResetStyle+under.open) + under.end
}

// Block makes lines fill a rectangle exactly: each line is fitted to the width, and the list is cut or
// padded with empty lines to the height.
func (t *Theme) Block(lines []string, width, height int) string {
	rows := make([]string, 0, max(0, height))
	for i := range height {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		rows = append(rows, t.Fit(line, width))
	}
	return strings.Join(rows, "\n")
}

// Wrap breaks text into lines of at most width cells, at spaces where possible. They fit on terminals
// with and without clusters.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(text, width, ""), "\n")
	if slices.ContainsFunc(lines, func(line string) bool { return ansi.StringWidthWc(line) > width }) {
		return strings.Split(ansi.WrapWc(strings.Join(lines, "\n"), width, ""), "\n")
	}
	return lines
}

// Paragraph wraps text and styles its lines for a role.
func (t *Theme) Paragraph(role Role, text string, width int) []string {
	lines := Wrap(text, width)
	for i, line := range lines {
		lines[i] = t.Paint(role, line)
	}
	return lines
}

// Scrolled returns the visible part of lines; if there are more, its last line says so and how to see them.
func (t *Theme) Scrolled(list *List, lines []string, height int, how string) []string {
	if height <= 0 {
		return nil
	}
	shown := slices.Clone(list.Visible(lines, height))
	if rest := len(lines) - list.Top() - height; rest > 0 {
		shown[height-1] = t.Paint(Dim, t.Glyphs.More+" "+words.Count(rest+1, "more line")+how)
	}
	return shown
}

// Lines makes untrusted text fit for wrapping: safe, and without tabs, whose width varies.
func Lines(text string) string { return strings.ReplaceAll(render.SafeBlock(text), "\t", "    ") }

// Break breaks text into lines at width cells and at its own line ends only.
func (t *Theme) Break(text string, width int) []string {
	if t.Clusters {
		return strings.Split(ansi.Hardwrap(text, width, true), "\n")
	}
	return strings.Split(ansi.HardwrapWc(apart(text), width, true), "\n")
}

// Cache keeps lines that take long to lay out, as long as their source, the width and the theme stay the same. The zero
// value is empty.
type Cache[K comparable] struct {
	lines   []string
	key     K
	width   int
	version int // of the theme, from 1
}

// Lines returns the kept lines, or those of lay.
func (c *Cache[K]) Lines(theme *Theme, key K, width int, lay func() []string) []string {
	if version := theme.version + 1; c.key != key || c.width != width || c.version != version {
		*c = Cache[K]{lay(), key, width, version}
	}
	return c.lines
}

// Forget drops the kept lines.
func (c *Cache[K]) Forget() { *c = Cache[K]{} }
