package pane

import (
	"strings"
	"testing"
)

// Borders that rectangles share are joined, in the role of the one that was added last.
func TestFrameJoinsBorders(t *testing.T) {
	for name, test := range map[string]struct {
		ascii bool
		want  string
	}{
		"unicode": {want: "╭──┬──╮\n│  │  │\n│  ├──┤\n╰──┴──╯"},
		"ascii":   {ascii: true, want: "+--+--+\n|  |  |\n|  +--+\n+--+--+"},
	} {
		t.Run(name, func(t *testing.T) {
			frame := NewTheme(false, true, test.ascii).NewFrame(7, 4)
			frame.Outline(0, 0, 4, 4, Plain)
			frame.Outline(3, 0, 4, 4, Plain)
			frame.Outline(3, 2, 4, 1, Plain) // folded
			rows := make([]string, 4)
			for y := range rows {
				rows[y] = frame.Run(y, 0, 7)
			}
			if got := strings.Join(rows, "\n"); got != test.want {
				t.Errorf("it is\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	theme := NewTheme(true, true, false)
	frame := theme.NewFrame(3, 3)
	frame.Outline(0, 0, 3, 3, Good)
	frame.Outline(0, 0, 3, 3, Bad)
	if got, want := frame.Run(0, 0, 3), theme.Paint(Bad, "╭─╮"); got != want {
		t.Errorf("it is %q, want %q", got, want)
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
			frame := NewTheme(false, true, false).NewFrame(3, 8)
			frame.Outline(0, 0, 3, 8, Plain)
			frame.Bar(2, 1, 6, test.of)
			got := ""
			for y := 1; y < 7; y++ {
				got += frame.Run(y, 2, 3)
			}
			if got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
}
