package pane

import (
	"fmt"
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"
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

// TestTintsAreGrey: a terminal of 256 colours draws the row under the cursor in grey, in the pane with focus and in
// others, on a dark and a light background: none of it in a colour that means something.
func TestTintsAreGrey(t *testing.T) {
	for _, dark := range []bool{true, false} {
		theme := NewTheme(true, dark, false)
		theme.Tint(dark)
		for _, focused := range []bool{true, false} {
			row := theme.UnderCursor("name", focused, 6)
			var r, g, b uint8
			if _, err := fmt.Sscanf(row, "\x1b[48;2;%d;%d;%dm", &r, &g, &b); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			const ramp = 232 // the first grey of the palette's end
			drawn, ok := colorprofile.ANSI256.Convert(color.RGBA{r, g, b, 255}).(ansi.IndexedColor)
			if !ok || drawn < ramp {
				t.Errorf("dark %v, focused %v: drawn in colour %v", dark, focused, drawn)
			}
		}
	}
}

// TestUnderCursor: the row under the cursor stands out on every terminal, and keeps the colours that can be seen there.
func TestUnderCursor(t *testing.T) {
	fine := func(dark bool) *Theme {
		theme := NewTheme(true, dark, false)
		theme.Tint(dark)
		return theme
	}
	for name, tt := range map[string]struct {
		theme *Theme
		want  string // what begins the row
		kept  string // the style of the row's first word
		match string // the style of a match in it
	}{
		"256 colours":          {fine(true), "\x1b[48;2;58;58;58m", "\x1b[94m", "\x1b[7m"},
		"256 colours on light": {fine(false), "\x1b[48;2;208;208;208m", "\x1b[34m", "\x1b[7m"},
		"16 colours":           {NewTheme(true, true, false), "\x1b[44m", "\x1b[97m", "\x1b[7m"},
		"16 colours on light":  {NewTheme(true, false, false), "\x1b[7m", "\x1b[34m", "\x1b[27m"},
		"no colours":           {NewTheme(false, true, false), "\x1b[7m", "", "\x1b[27m"},
	} {
		t.Run(name, func(t *testing.T) {
			row := tt.theme.Paint(Name, "name") + " " + tt.theme.Paint(Inverse, "match")
			got := tt.theme.UnderCursor(row, true, 12)
			open := ansi.ResetStyle + tt.want
			if tt.kept == "" {
				open = ""
			}
			want := tt.want + tt.kept + "name" + open + " " + tt.match + "match" + ansi.ResetStyle + tt.want + "  " +
				ansi.ResetStyle
			if got != want {
				t.Errorf("the row is %q, want %q", got, want)
			}
			if other := tt.theme.UnderCursor(row, false, 12); other == row || other == got {
				t.Errorf("in another pane the row is %q", other)
			}
		})
	}
}
