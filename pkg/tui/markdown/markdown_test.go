package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

func plain(source string, width int) string {
	lines := Render(source, width, pane.NewTheme(true, true, false))
	for i := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

func TestRender(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"", ""},
		{"plain text\nof two lines", "plain text\nof two lines"},
		{"one two three four five", "one two three four\nfive"},
		{"# Title\n\ntext with *stress* and `code`", "Title\n\ntext with stress and\ncode"},
		{"- a\n- b\n  1. c\n  2. d", "• a\n• b\n  1. c\n  2. d"},
		{"> quoted\n> text", "│ quoted\n│ text"},
		{"```sh\nls -l | grep something-long\n```", "  ls -l | grep some…"},
		{"[here](https://x.y) <https://z>", "here (https://x.y)\nhttps://z"},
		{"![dot](a.png)", "image: dot (a.png)"},
		{"a <b>bold</b> word", "a <b>bold</b> word"},
		{"|name|size|\n|-|-:|\n|*a*|1|\n|bcdef|20|\n|g|", "name   size\n─────  ────\na         1\nbcdef    20\ng"},
		{"a | b\n:-: | -\nlong | `x`", " a    b\n────  ─\nlong  x"},
		{"|a|b|\n|-|-|\n|1|2|3|", "|a|b|\n|-|-|\n|1|2|3|"},
		{"|a|b|\n|-|-|\n|0123456789|0123456789|", "|a|b|\n|-|-|\n|0123456789|0123456…"},
		{"a | b\nno table", "a | b\nno table"},
		{"a\n---", "a"},
		{`a \* &lt;b&gt; &amp;`, "a * <b> &"},
		{"---", "────────────────────"},
		{"<div>\nx\n</div>", "  <div>\n  x\n  </div>"},
	} {
		if got := plain(test.source, 20); got != test.want {
			t.Errorf("%q gives\n%s\nwant\n%s", test.source, got, test.want)
		}
	}
}

// Nothing that a terminal acts on comes through, also by way of entities.
func TestHostile(t *testing.T) {
	for _, source := range []string{
		"\x1b[2J", "&#x1b;[2J", "[a](&#x1b;]0;x)", "`\x1b[31m`", "\u202e", "&#x202e;", "<\x1b[2J>", "[a](\u200b)",
		"    \x1b[2J",
	} {
		drawn := strings.Join(Render(source, 30, pane.NewTheme(false, true, false)), "\n")
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\x1b[31m", "\u202e", "\u200b"} {
			if strings.Contains(drawn, bad) {
				t.Errorf("%q reached the screen from %q: %q", bad, source, drawn)
			}
		}
	}
}

// More than is read as Markdown is plain text.
func TestHuge(t *testing.T) {
	source := "# a\n\tb " + strings.Repeat("x", MaxSource)
	if got := plain(source, 20); !strings.HasPrefix(got, "# a\n    b\nxxxx") {
		t.Errorf("got %.40q", got)
	}
}

// Text that is made to keep the reader busy is read all the same.
func TestTangled(t *testing.T) {
	for _, part := range []string{"> ", "[a](", "1. ", "- a\n  ", "[", "![", "***a", "`", "<", "\\", "&#"} {
		const size = 4 << 10
		lines := Render(strings.Repeat(part, size/len(part)), 80, pane.NewTheme(false, true, false))
		if len(lines) > size {
			t.Errorf("%q gives %d lines", part, len(lines))
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n- b\n  > c\n\n```\nd\n```", 10)
	f.Add(strings.Repeat("> ", 100)+"deep", 20)
	f.Fuzz(func(t *testing.T, source string, width int) {
		width = 8 + width&127
		for _, line := range Render(source, width, pane.NewTheme(true, true, false)) {
			if got := ansi.StringWidth(line); got > width {
				t.Fatalf("%d cells, want at most %d: %q", got, width, line)
			}
		}
	})
}

// Of a text of any size the beginning is shown, with a word on how much more there is.
func TestHugeTextIsCut(t *testing.T) {
	lines := Render(strings.Repeat("0123456789abcde\n", 1<<20), 80, pane.NewTheme(false, true, false))
	if len(lines) > maxShown/16+2 || !strings.Contains(lines[len(lines)-1], "15.8 MiB more not shown") {
		t.Errorf("%d lines, the last: %q", len(lines), lines[len(lines)-1])
	}
}
