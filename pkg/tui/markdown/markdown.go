// Package markdown shows untrusted Markdown (CommonMark) on a terminal. It has no syntax highlighting
// and nothing else that would cost start-up time.
package markdown

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// MaxSource is the size in bytes up to which text is parsed as Markdown. Parsing hostile text takes quadratic time.
const MaxSource = 32 << 10

// maxShown is the size in bytes up to which text is shown at all.
const maxShown = 256 << 10

// Render returns Markdown as lines of at most width cells. Text of more than MaxSource bytes is
// returned as plain text. Of text of more than maxShown bytes it returns the beginning, with a note on
// how much is missing. Control characters are made visible (see render.SafeBlock).
func Render(source string, width int, theme *pane.Theme) []string {
	if cut := len(source) - maxShown; cut > 0 {
		remark := fmt.Sprintf("%s %s more not shown", theme.Glyphs.Warn, exec.Bytes(int64(cut)))
		lines := Render(strings.ToValidUTF8(source[:maxShown], ""), width, theme)
		return append(lines, theme.Paint(pane.Warn, theme.Cut(remark, width)))
	}
	clean := []byte(render.SafeBlock(source))
	if len(source) > MaxSource {
		return pane.Wrap(strings.ReplaceAll(string(clean), "\t", "    "), max(8, width))
	}
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers([]util.PrioritizedValue{}...),
	)
	w := &writer{source: clean, theme: theme, width: max(8, width)}
	w.blocks(p.Parse(text.NewReader(clean)), "")
	for len(w.lines) > 0 && strings.TrimSpace(w.lines[len(w.lines)-1]) == "" {
		w.lines = w.lines[:len(w.lines)-1]
	}
	return w.lines
}

type writer struct {
	source []byte
	theme  *pane.Theme
	width  int
	lines  []string
}

// maxNesting bounds how far lists and quotes are indented.
const maxNesting = 24

// blocks writes the blocks in a node, each after the margin.
func (w *writer) blocks(parent ast.Node, margin string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n, margin)
	}
}

func (w *writer) block(n ast.Node, margin string) {
	switch n := n.(type) {
	case *ast.Heading:
		w.wrapped(margin, w.theme.Paint(pane.Strong, ansi.Strip(w.inline(n))))
		w.gap(margin)
	case *ast.Paragraph:
		w.paragraph(n, margin)
		w.gap(margin)
	case *ast.TextBlock:
		w.wrapped(margin, w.inline(n))
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		w.verbatim(n, margin)
		w.gap(margin)
	case *ast.ThematicBreak:
		w.add(margin, w.theme.Paint(pane.Dim, strings.Repeat(w.theme.Glyphs.Horizontal, max(1, w.width-len(margin)))))
		w.gap(margin)
	case *ast.Blockquote:
		inner := w.deeper(margin, w.theme.Glyphs.Vertical+" ")
		w.blocks(n, inner)
		w.closeGap(inner)
		w.gap(margin)
	case *ast.List:
		w.list(n, margin)
		if n.Parent().Kind() != ast.KindListItem {
			w.gap(margin)
		}
	default:
		w.blocks(n, margin)
	}
}

// paragraph wraps text. A table that is too wide or cannot be parsed keeps its lines.
func (w *writer) paragraph(n ast.Node, margin string) {
	content := w.inline(n)
	lines := strings.Split(content, "\n")
	outside := func(line string) bool { return !strings.HasPrefix(ansi.Strip(line), "|") }
	t, ok := tableOf(lines)
	switch {
	case ok && w.table(t, margin):
		return
	case ok, len(lines) > 1 && !slices.ContainsFunc(lines, outside):
		for _, line := range lines {
			w.add(margin, line)
		}
		return
	}
	w.wrapped(margin, content)
}

// list writes items after their bullets or numbers.
func (w *writer) list(n *ast.List, margin string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		sign := w.theme.Glyphs.Bullet + " "
		if n.IsOrdered() {
			sign = fmt.Sprintf("%d. ", number)
			number++
		}
		begin := len(w.lines)
		inner := w.deeper(margin, strings.Repeat(" ", ansi.StringWidth(sign)))
		w.blocks(item, inner)
		if begin < len(w.lines) && inner != margin {
			w.lines[begin] = margin + sign + strings.TrimPrefix(w.lines[begin], inner)
		}
	}
}

// deeper returns a margin extended by more, as long as there is room.
func (w *writer) deeper(margin, more string) string {
	if deep := margin + more; ansi.StringWidth(deep) <= min(maxNesting, w.width/2) {
		return deep
	}
	return margin
}

// verbatim writes the lines of a block as they are; long ones are cut and marked.
func (w *writer) verbatim(n ast.Node, margin string) {
	for line := range strings.Lines(string(n.Lines().Value(w.source))) {
		w.add(margin, w.theme.Paint(pane.Plain, "  "+strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
	}
}

func (w *writer) wrapped(margin, content string) {
	for _, line := range pane.Wrap(content, max(4, w.width-ansi.StringWidth(margin))) {
		w.add(margin, line)
	}
}

func (w *writer) add(margin, line string) {
	w.lines = append(w.lines, w.theme.Cut(margin+strings.ReplaceAll(line, "\t", "    "), w.width))
}

// gap writes one empty line between blocks.
func (w *writer) gap(margin string) {
	w.lines = append(w.lines, strings.TrimRight(margin, " "))
}

// closeGap removes the empty line after the last block inside another.
func (w *writer) closeGap(margin string) {
	if last := len(w.lines) - 1; last >= 0 && w.lines[last] == strings.TrimRight(margin, " ") {
		w.lines = w.lines[:last]
	}
}

// inline returns the styled text of a node.
func (w *writer) inline(parent ast.Node) string {
	var out strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out.WriteString(w.span(n))
	}
	return out.String()
}

func (w *writer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		// Line breaks stay as the author wrote them: most descriptions are plain text whose lines matter.
		text := plainText(n.Segment.Value(w.source))
		if n.HardLineBreak() || n.SoftLineBreak() {
			text += "\n"
		}
		return text
	case *ast.String:
		return string(n.Value)
	case *ast.CodeSpan:
		return w.theme.Paint(pane.Strong, ansi.Strip(w.inline(n)))
	case *ast.Emphasis:
		return w.theme.Paint(pane.Strong, ansi.Strip(w.inline(n)))
	case *ast.Link:
		return w.target(w.inline(n), string(n.Destination))
	case *ast.Image:
		return w.target("image: "+w.inline(n), string(n.Destination))
	case *ast.AutoLink:
		return w.theme.Paint(pane.Accent, render.Safe(string(n.URL(w.source))))
	case *ast.RawHTML:
		return string(n.Segments.Value(w.source))
	}
	return w.inline(n)
}

// plainText resolves entities and escapes. An entity may stand for a control character, so the text is made safe again.
func plainText(source []byte) string {
	return render.Safe(html.UnescapeString(string(util.UnescapePunctuations(source))))
}

// target returns a link's text with its address, unless they are the same.
func (w *writer) target(label, to string) string {
	to = render.Safe(to)
	if ansi.Strip(label) == to || to == "" {
		return w.theme.Paint(pane.Accent, ansi.Strip(label))
	}
	return w.theme.Paint(pane.Accent, ansi.Strip(label)) + " (" + w.theme.Paint(pane.Dim, to) + ")"
}
