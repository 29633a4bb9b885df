package pane

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Frame is the borders of rectangles on a screen. Rectangles that share a row or a column of cells share the border
// there, with joints where borders meet.
type Frame struct {
	theme *Theme
	width int
	cells []borderCell // row by row
}

// borderCell is a cell of a border; arms are the directions in which lines leave it. A screen has thousands.
type borderCell struct {
	arms uint8
	role uint8 // a Role
	sign rune  // drawn instead of the line, unless zero
}

// The arms of a border cell, which index Glyphs.Joints.
const (
	armUp uint8 = 1 << iota
	armDown
	armLeft
	armRight
)

// NewFrame returns a frame without borders, for a screen of width by height cells.
func (t *Theme) NewFrame(width, height int) *Frame {
	f := &Frame{theme: t}
	f.Reset(width, height)
	return f
}

// Reset removes all borders, and takes the size of the screen.
func (f *Frame) Reset(width, height int) {
	size := max(0, width*height)
	f.width, f.cells = width, slices.Grow(f.cells[:0], size)[:size]
	clear(f.cells)
}

// Outline adds the border of a rectangle in a role, which wins over those that were added before. A rectangle of one
// row is a line.
func (f *Frame) Outline(x, y, width, height int, role Role) {
	right, bottom := x+width-1, y+height-1
	for at := x; at < right; at++ {
		f.join(at, y, armRight, role)
		f.join(at+1, y, armLeft, role)
		if height > 1 {
			f.join(at, bottom, armRight, role)
			f.join(at+1, bottom, armLeft, role)
		}
	}
	for at := y; at < bottom; at++ {
		for _, column := range []int{x, right} {
			f.join(column, at, armDown, role)
			f.join(column, at+1, armUp, role)
		}
	}
}

func (f *Frame) join(x, y int, arm uint8, role Role) {
	cell := &f.cells[y*f.width+x]
	cell.arms |= arm
	cell.role = uint8(role)
}

// Sign draws a sign of one cell in place of the border there.
func (f *Frame) Sign(x, y int, sign string) {
	f.cells[y*f.width+x].sign, _ = utf8.DecodeRuneInString(sign)
}

// Bar draws a scroll bar on the border, from y on, where an extent says that not all rows are visible.
func (f *Frame) Bar(x, y, height int, of Extent) {
	from, to := of.thumb(height)
	for at := from; at < to; at++ {
		f.Sign(x, y+at, f.theme.Glyphs.Thumb)
	}
}

// Run returns the cells of a row from a column up to another; those without a border are spaces.
func (f *Frame) Run(y, from, to int) string {
	var out, same strings.Builder
	role := Plain
	for x := from; x < to; x++ {
		cell := f.cells[y*f.width+x]
		if Role(cell.role) != role {
			out.WriteString(f.theme.Paint(role, same.String()))
			same.Reset()
			role = Role(cell.role)
		}
		if cell.sign != 0 {
			same.WriteRune(cell.sign)
		} else {
			same.WriteRune(f.theme.Glyphs.Joints[cell.arms])
		}
	}
	out.WriteString(f.theme.Paint(role, same.String()))
	return out.String()
}

// Extent is the part of its rows that a pane shows. The zero Extent shows all.
type Extent struct{ Top, Height, Rows int }

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
