package pane

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestFind(t *testing.T) {
	nothing := func() tea.Cmd { return nil }
	bindings := []Binding{
		{Keys: []string{"j", "down"}, Help: "down", Do: nothing},
		{Keys: []string{"enter"}, Help: "open", Do: nothing},
	}
	if found := Find(bindings, "down"); found == nil || found.Help != "down" {
		t.Errorf("down is %v", found)
	}
	if found := Find(bindings, "x"); found != nil {
		t.Errorf("x is %v", found)
	}
}

// What is cut is marked, and what is fitted has exactly its width, in cells.
func TestFit(t *testing.T) {
	for _, theme := range []*Theme{NewTheme(false, true, false), NewTheme(true, false, true)} {
		more := theme.Glyphs.More
		for _, test := range []struct {
			text  string
			width int
			want  string
		}{
			{"abc", 5, "abc  "},
			{"abcdef", 4, "abc" + more},
			{"日本語", 5, "日本" + more},
			{"日本語", 4, "日" + more + " "},
			{"abc", 0, ""},
		} {
			if got := ansi.Strip(theme.Fit(test.text, test.width)); got != test.want {
				t.Errorf("Fit(%q, %d) is %q, want %q", test.text, test.width, got, test.want)
			}
		}
		if got := theme.Block([]string{"one", "two", "three"}, 2, 2); ansi.Strip(got) != "o"+more+"\nt"+more {
			t.Errorf("the block is %q", got)
		}
		if got := theme.Paint(Bad, ""); got != "" {
			t.Errorf("nothing is painted as %q", got)
		}
	}
}

// What is fitted has exactly its width as the terminal counts it: emoji of several parts,
// and letters with signs, are one sign where it knows clusters, and several where not.
func TestFitOfClusters(t *testing.T) {
	family, dev, heart, thumb := "👩\u200d👩\u200d👧\u200d👦", "👩\u200d💻", "❤\ufe0f", "👍🏽"
	old, modern := NewTheme(false, true, false), NewTheme(false, true, false)
	modern.Clusters = true
	for _, text := range []string{
		family, family + family + " end", "a " + dev + " b", heart + heart, thumb + thumb, "क्षि देवनागरी", "ไทยกำ",
		"🇩🇪 flag", "1\ufe0f\u20e3",
	} {
		for _, width := range []int{1, 2, 3, 7, 20} {
			if line := old.Fit(text, width); ansi.StringWidthWc(line) != width {
				t.Errorf("Fit(%q, %d) is %q, %d cells", text, width, line, ansi.StringWidthWc(line))
			}
			if line := modern.Fit(text, width); ansi.StringWidth(line) != width {
				t.Errorf("with clusters, Fit(%q, %d) is %q, %d cells", text, width, line, ansi.StringWidth(line))
			}
			if width < 8 {
				continue // a sign is not broken
			}
			for _, line := range append(Wrap(text+text+text, width), old.Break(text+text+text, width)...) {
				if old.Width(line) > width {
					t.Errorf("%q is broken into %q at %d", text, line, width)
				}
			}
		}
	}
	for text, want := range map[string]string{dev: "👩💻", heart: "❤", "नमस\u200dते": "नमस\u200dते"} {
		if got := old.Cut(text, 20); got != want {
			t.Errorf("%q is drawn as %q, want %q", text, got, want)
		}
		if got := modern.Cut(text, 20); got != text {
			t.Errorf("with clusters %q is drawn as %q", text, got)
		}
	}
}

// What was scrolled stays until the cursor moves.
func TestScroll(t *testing.T) {
	var list List
	window := func(wantFrom int) {
		t.Helper()
		if from, _ := list.Window(10, 4); from != wantFrom {
			t.Errorf("the window begins at %d, want %d", from, wantFrom)
		}
	}
	list.Scroll(3)
	window(3)
	list.Set(0, 10) // as it was
	window(3)
	list.Scroll(100)
	window(6)
	list.Move(1, 10)
	window(1)
	list.Scroll(-5)
	window(0)
	list.Set(9, 10)
	window(6)
}

// The window follows the cursor, and never leaves the list.
func TestList(t *testing.T) {
	var list List
	for _, step := range []struct{ by, n, height, cursor, from, to int }{
		{0, 10, 4, 0, 0, 4},
		{3, 10, 4, 3, 0, 4},
		{1, 10, 4, 4, 1, 5},
		{100, 10, 4, 9, 6, 10},
		{-1, 10, 4, 8, 6, 10},
		{0, 5, 4, 4, 1, 5}, // the list became shorter
		{0, 0, 4, 0, 0, 0},
		{1, 3, 0, 1, 1, 2},
	} {
		list.Move(step.by, step.n)
		from, to := list.Window(step.n, step.height)
		if list.Cursor != step.cursor || from != step.from || to != step.to {
			t.Errorf("%+v gives cursor %d, window %d to %d", step, list.Cursor, from, to)
		}
	}
}

// fixedTheme is the theme of a terminal with 256 colours.
func fixedTheme(dark bool) *Theme {
	theme := NewTheme(true, dark, false)
	theme.FixColors(dark)
	return theme
}

// colors returns the colours of text and background in a code, nil where it sets none.
func (c code) colors(t *testing.T) (ink, paper color.Color) {
	t.Helper()
	for _, layer := range []struct {
		begin string
		color *color.Color
	}{{"38;2;", &ink}, {"48;2;", &paper}} {
		_, rest, found := strings.Cut(c.open, layer.begin)
		if !found {
			continue
		}
		one := color.RGBA{A: 255}
		if _, err := fmt.Sscanf(rest, "%d;%d;%d", &one.R, &one.G, &one.B); err != nil {
			t.Fatalf("%q: %v", c.open, err)
		}
		*layer.color = one
		if drawn := colorprofile.ANSI256.Convert(one); luminance(drawn) != luminance(one) {
			t.Errorf("%v becomes %v on a terminal with 256 colours", one, drawn)
		}
	}
	return ink, paper
}

// luminance is the relative luminance of a colour, and contrast the ratio of two colours (WCAG 2.2).
func luminance(c color.Color) float64 {
	linear := func(part uint32) float64 {
		share := float64(part) / 0xffff
		if share <= 0.04045 {
			return share / 12.92
		}
		return math.Pow((share+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.Color) float64 {
	one, other := luminance(a), luminance(b)
	return (max(one, other) + 0.05) / (min(one, other) + 0.05)
}

// TestContrast: every role can be read on the backgrounds of usual terminal themes, on the row under the cursor, and on
// that of another pane.
func TestContrast(t *testing.T) {
	const least = 4.5
	for dark, papers := range map[bool][]string{
		true:  {"#000000", "#1e1e1e", "#282c34", "#282a36", "#002b36", "#2e3440"},
		false: {"#ffffff", "#fafafa", "#fdf6e3", "#eff1f5"},
	} {
		theme := fixedTheme(dark)
		_, tint := theme.codes[Tinted].colors(t)
		backgrounds := []color.Color{tint}
		for _, paper := range papers {
			backgrounds = append(backgrounds, lipgloss.Color(paper))
		}
		for role, code := range theme.codes {
			ink, paper := code.colors(t)
			switch {
			case paper != nil:
				if got := contrast(ink, paper); got < least {
					t.Errorf("dark %v, role %d: the contrast is %.2f", dark, role, got)
				}
			case ink != nil:
				for _, background := range backgrounds {
					if got := contrast(ink, background); got < least {
						t.Errorf("dark %v, role %d on %v: the contrast is %.2f", dark, role, background, got)
					}
				}
			case role != Strong && role != Inverse: // which have the terminal's own colours
				t.Errorf("role %d has no colour", role)
			}
		}
	}
}

// TestUnderCursor: the row under the cursor stands out on every terminal, with colours that can be read there, and
// keeps what else marks its parts.
func TestUnderCursor(t *testing.T) {
	for name, tt := range map[string]struct {
		theme *Theme
		want  string // what begins the row
		found string // the style of a match in it
		match string // the style of the match that was found last
	}{
		"256 colours":          {fixedTheme(true), "\x1b[38;2;0;0;0;48;2;95;175;255m", "\x1b[1;4;4m", "\x1b[7m"},
		"256 colours on light": {fixedTheme(false), "\x1b[38;2;255;255;255;48;2;0;95;175m", "\x1b[1;4;4m", "\x1b[7m"},
		"16 colours":           {NewTheme(true, true, false), "\x1b[30;106m", "\x1b[1;4;4m", "\x1b[7m"},
		"16 colours on light":  {NewTheme(true, false, false), "\x1b[97;44m", "\x1b[1;4;4m", "\x1b[7m"},
		"no colours":           {NewTheme(false, true, false), "\x1b[7m", "\x1b[1;4;4m", "\x1b[27m"},
	} {
		t.Run(name, func(t *testing.T) {
			row := tt.theme.Paint(Found, "name") + tt.theme.Paint(Dim, " ") + tt.theme.Paint(Inverse, "match")
			got := tt.theme.UnderCursor(row, true, 12)
			open := ansi.ResetStyle + tt.want
			want := tt.want + tt.found + "name" + open + " " + open + tt.match + "match" + open + "  " + ansi.ResetStyle
			if got != want {
				t.Errorf("the row is %q, want %q", got, want)
			}
			if other := tt.theme.UnderCursor(row, false, 12); other == row || other == got {
				t.Errorf("in another pane the row is %q", other)
			}
		})
	}
}
