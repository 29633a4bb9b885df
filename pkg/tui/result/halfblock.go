package result

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
)

// The bounds of pictures between texts: the most lines of each, and the most pixels of all together, because the screen
// waits while they are read.
const (
	maxPictureLines = 20
	maxDrawnPixels  = 4 << 20
)

// drawPicture draws the picture in a block, at most width cells wide. lines is nil if it has more than most pixels, or
// if toolx cannot read it.
func drawPicture(block *exec.Block, width, most int) (lines []string, pixels int) {
	if len(block.Raw) > maxTree {
		return nil, 0
	}
	data, err := block.Data()
	if err != nil {
		return nil, 0
	}
	picture, err := readPicture(data, most)
	if err != nil {
		return nil, 0
	}
	size := picture.Bounds()
	return halfBlocks(shrunk(picture, width, 2*maxPictureLines)), size.Dx() * size.Dy()
}

// halfBlocks draws a picture. A cell is twice as high as wide, so it has two pixels: the upper one as foreground, the
// lower one as background. Transparent pixels have no colour.
func halfBlocks(picture image.Image) []string {
	bounds := picture.Bounds()
	var lines []string
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 2 {
		var line strings.Builder
		before := ""
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			lower, seen := "", false
			if y+1 < bounds.Max.Y {
				lower, seen = trueColor(picture.At(x, y+1))
			}
			upper, visible := trueColor(picture.At(x, y))
			style, sign := "", " "
			switch {
			case visible && seen:
				style, sign = "\x1b[38;2;"+upper+";48;2;"+lower+"m", "▀"
			case visible:
				style, sign = "\x1b[0;38;2;"+upper+"m", "▀"
			case seen:
				style, sign = "\x1b[0;38;2;"+lower+"m", "▄"
			case before != "":
				style = ansi.ResetStyle
			}
			if style != before {
				line.WriteString(style)
				before = style
			}
			line.WriteString(sign)
		}
		lines = append(lines, line.String()+ansi.ResetStyle)
	}
	return lines
}

// trueColor returns a colour as the parameters of a control sequence; visible reports whether it is more than half
// opaque.
func trueColor(c color.Color) (parameters string, visible bool) {
	of := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("%d;%d;%d", of.R, of.G, of.B), of.A >= 128
}
