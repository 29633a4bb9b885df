package pane

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// A frame has its title at the left of the top border and its hint at the right of the bottom border, cut to its width;
// that of the pane with focus has a bar instead.
func TestFramed(t *testing.T) {
	for name, test := range map[string]struct {
		ascii         bool
		frame         Frame
		width, height int
		want          string
	}{
		"unicode": {false, Frame{Title: "1 tools", Hint: "7 of 11"}, 15, 3, "╭─1 tools ────╮\n│             │\n╰─── 7 of 11 ─╯"},
		"ascii":   {true, Frame{Title: "1", Hint: "2"}, 9, 3, "+-1 ----+\n|       |\n+--- 2 -+"},
		"focus":   {false, Frame{Title: "1 tools", Filled: true}, 15, 3, "╭ 1 tools     ╮\n│             │\n╰─────────────╯"},
		"cut":     {false, Frame{Title: "1 tools", Hint: "7 of 11"}, 9, 3, "╭─1 t… ─╮\n│       │\n╰─ 7 … ─╯"},
		"folded":  {false, Frame{Title: "1 tools", Hint: "7 of 11"}, 15, 1, "──1 tools ─────"},
	} {
		t.Run(name, func(t *testing.T) {
			theme := NewTheme(true, true, test.ascii)
			block := theme.Block(nil, test.width-2, test.height-2)
			got := ansi.Strip(theme.Framed(test.frame, block, test.width, test.height))
			if got != test.want {
				t.Errorf("it is\n%s\nwant\n%s", got, test.want)
			}
			hint := theme.HintSpan(test.frame.Hint, test.width)
			rows := strings.Split(got, "\n")
			last := []rune(rows[len(rows)-1])
			if hint.To == hint.From || test.height == 1 {
				return
			}
			if last[hint.From-1] != ' ' || last[hint.From] == ' ' || last[hint.To] != ' ' {
				t.Errorf("the hint is not at %v", hint)
			}
		})
	}
}

// A scroll bar is there where not all rows are visible, and touches an end where that is visible.
func TestScrollBar(t *testing.T) {
	for name, test := range map[string]struct {
		of   Extent
		want string
	}{
		"all is visible": {Extent{0, 6, 6}, "││││││"},
		"none":           {Extent{}, "││││││"},
		"the beginning":  {Extent{0, 6, 18}, "┃┃││││"},
		"the middle":     {Extent{6, 6, 18}, "││┃┃││"},
		"almost the end": {Extent{11, 6, 18}, "││┃┃││"},
		"the end":        {Extent{12, 6, 18}, "││││┃┃"},
		"beyond the end": {Extent{20, 6, 18}, "││││┃┃"},
		"one row more":   {Extent{0, 6, 7}, "┃┃┃┃││"},
		"very many":      {Extent{0, 6, 100_000}, "┃│││││"},
		"second of many": {Extent{1, 6, 100_000}, "│┃││││"},
	} {
		t.Run(name, func(t *testing.T) {
			theme := NewTheme(false, true, false)
			rows := strings.Split(theme.Framed(Frame{Extent: test.of}, theme.Block(nil, 3, 6), 5, 8), "\n")
			got := ""
			for _, row := range rows[1:7] {
				got += string([]rune(row)[4:])
			}
			if got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
}

// A failure stands out in the title of the pane with the focus, on every terminal; other colours would be unreadable
// there.
func TestFailureInTheFilledTitle(t *testing.T) {
	fixed := NewTheme(true, true, false)
	fixed.FixColors(true)
	for name, theme := range map[string]*Theme{
		"fixed": fixed, "16 colours": NewTheme(true, false, false), "plain": NewTheme(false, true, false),
	} {
		title := theme.Paint(Good, "ok") + " " + theme.Paint(Bad, "failed")
		top := theme.Framed(Frame{Title: title, Filled: true}, "", 20, 1)
		good := name != "plain" && strings.Contains(top, theme.Paint(Good, "ok"))
		if good || !strings.Contains(top, theme.Paint(Alarm, "failed")) {
			t.Errorf("%s: it is %q", name, top)
		}
	}
}
