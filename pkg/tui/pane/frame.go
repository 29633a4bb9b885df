package pane

import (
	"fmt"
	"strings"
)

// Frame is the border of a pane or a dialog.
type Frame struct {
	Title  string // in the top border; may be styled
	Hint   string // in the bottom border, at its right end: a position, or a key; may be styled
	Role   Role   // of the border
	Filled bool   // the top border is a bar: the pane has the focus
	Extent Extent // for a scroll bar in the right border
}

// TitleLeft is the column of a top border where its title begins.
const TitleLeft = 2

// Cells of a top border that are not the title's, and of a bottom border that are not the hint's: corners, lines and
// spaces around them.
const (
	AroundTitle = TitleLeft + 3
	aroundHint  = 6
)

// Framed draws a frame around a block of exactly width-2 by height-2 cells. A frame of one row is only its title.
func (t *Theme) Framed(f Frame, block string, width, height int) string {
	glyphs := t.Glyphs
	corners := glyphs.Corners
	if height == 1 {
		corners = [4]string{glyphs.Horizontal, glyphs.Horizontal}
	}
	rows := make([]string, 0, height)
	title := t.Cut(f.Title, width-AroundTitle)
	line := strings.Repeat(glyphs.Horizontal, max(0, width-AroundTitle-t.Width(title)+1))
	switch {
	case f.Filled:
		bar := t.bar(t.titled, t.Fit(" "+title, width-2))
		rows = append(rows, t.Paint(f.Role, corners[0])+bar+t.Paint(f.Role, corners[1]))
	default:
		rows = append(rows, t.Paint(f.Role, corners[0]+glyphs.Horizontal)+title+" "+t.Paint(f.Role, line+corners[1]))
	}
	if height == 1 {
		return rows[0]
	}
	side, thumb := t.Paint(f.Role, glyphs.Vertical), t.Paint(f.Role, glyphs.Thumb)
	from, to := f.Extent.thumb(height - 2)
	for y, line := range strings.Split(block, "\n")[:height-2] {
		right := side
		if y >= from && y < to {
			right = thumb
		}
		rows = append(rows, side+line+right)
	}
	return strings.Join(append(rows, t.bottom(f, width)), "\n")
}

// bottom draws the bottom border.
func (t *Theme) bottom(f Frame, width int) string {
	line, corners := t.Glyphs.Horizontal, t.Glyphs.Corners
	hint := t.Cut(f.Hint, width-aroundHint)
	if hint == "" {
		return t.Paint(f.Role, corners[2]+strings.Repeat(line, width-2)+corners[3])
	}
	left := corners[2] + strings.Repeat(line, max(0, width-aroundHint-t.Width(hint)+1))
	return t.Paint(f.Role, left) + " " + hint + " " + t.Paint(f.Role, line+corners[3])
}

// HintSpan returns the columns of a bottom border where a hint is.
func (t *Theme) HintSpan(hint string, width int) Span {
	to := width - aroundHint/2
	return Span{From: to - t.Width(t.Cut(hint, width-aroundHint)), To: to}
}

// Extent is the part of its rows that a pane shows. The zero Extent shows all.
type Extent struct{ Top, Height, Rows int }

// String returns which rows are visible, such as "3-20 of 41"; empty if all are.
func (e Extent) String() string {
	if e.Rows <= e.Height {
		return ""
	}
	return fmt.Sprintf("%d-%d of %d", e.Top+1, min(e.Rows, e.Top+e.Height), e.Rows)
}

// Scrolling is a pane that may have more rows than it shows.
type Scrolling interface{ Extent() Extent }

// ExtentOf returns what is visible of a pane, the zero Extent if it does not scroll.
func ExtentOf(p any) Extent {
	if scrolling, ok := p.(Scrolling); ok {
		return scrolling.Extent()
	}
	return Extent{}
}

// thumb returns where the thumb of a scroll bar begins and ends; nowhere if all rows are visible. It touches an end of
// the bar only where the first or the last row is visible.
func (e Extent) thumb(height int) (from, to int) {
	if e.Rows <= e.Height || e.Height <= 0 || height < 3 {
		return 0, 0
	}
	size := max(1, min(height-2, height*e.Height/e.Rows))
	last := e.Rows - e.Height // the largest Top
	switch top := min(e.Top, last); top {
	case 0:
	case last:
		from = height - size
	default:
		from = 1 + (height-size-2)*top/last
	}
	return from, from + size
}
