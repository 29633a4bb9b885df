package tui

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The size of a cell in pictures, in whole pixels, so that the backgrounds of cells meet; and that of a font whose
// letters are as wide.
const (
	cellWidth, cellHeight = 8, 15
	fontSize              = 13.29
)

// paper is what a terminal draws on: its own two colours, and the sixteen of its theme.
type paper struct {
	ink, page string
	palette   [16]string
}

// darkPaper and lightPaper are themes as many terminals have them, vgaPaper the oldest.
func darkPaper() paper {
	return paper{"#d4d4d4", "#1e1e1e", [16]string{
		"#1e1e1e", "#c74e39", "#5a9e4b", "#b58900", "#3f7fbf", "#a05fb0", "#3a9a9a", "#d4d4d4",
		"#808080", "#f07b6a", "#8fd17f", "#e5c07b", "#7fb7ef", "#d19ae0", "#7fd6d6", "#ffffff",
	}}
}

func lightPaper() paper {
	return paper{"#24292f", "#ffffff", [16]string{
		"#24292f", "#cf222e", "#116329", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#6e7781",
		"#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f",
	}}
}

func vgaPaper() paper {
	return paper{"#aaaaaa", "#000000", [16]string{
		"#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa",
		"#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff",
	}}
}

// picture writes the screen as an SVG picture, cell by cell, into docs/pictures; a
// picture that is not what the screen is now fails (go test ./pkg/tui -update).
func (d *driver) picture(name string) {
	d.t.Helper()
	got := darkPaper().svg(d.m.screen(), d.m.width, d.m.height)
	file := filepath.Join("..", "..", "docs", "pictures", name+".svg")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		d.t.Errorf("%s is stale: make pictures", file)
	}
}

// svg draws a styled screen.
func (p paper) svg(screen string, width, height int) []byte {
	cells := uv.NewScreenBuffer(width, height)
	uv.NewStyledString(screen).Draw(cells, cells.Bounds())
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%g">`+"\n",
		width*cellWidth+16, height*cellHeight+16, fontSize)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", p.page)
	for y := range height {
		for x := 0; x < width; {
			x += p.writeRun(&out, cells, x, y, width)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// writeRun draws the cells from x that look alike, and returns how many they are.
func (p paper) writeRun(out *bytes.Buffer, cells uv.ScreenBuffer, x, y, width int) int {
	first := cells.CellAt(x, y)
	text, n := "", 0
	for x+n < width {
		cell := cells.CellAt(x+n, y)
		if cell == nil || !cell.Style.Equal(&first.Style) || n > 0 && ascii(cell.Content) != ascii(first.Content) {
			break // signs come from other fonts, whose widths differ
		}
		text += cell.Content
		n += max(1, cell.Width)
	}
	n = max(n, 1)
	left, top := 8+x*cellWidth, 8+y*cellHeight
	ink, page := p.look(first.Style)
	if page != "" {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, left, top, n*cellWidth, cellHeight, page)
	}
	if strings.TrimSpace(text) == "" {
		return n
	}
	fmt.Fprintf(out, `<text x="%d" y="%d" xml:space="preserve" textLength="%d" fill="%s"%s>`,
		left, top+11, n*cellWidth, ink, weight(first.Style))
	_ = xml.EscapeText(out, []byte(text))
	out.WriteString("</text>\n")
	return n
}

// ascii reports whether the text of a cell is ASCII.
func ascii(content string) bool { return content == "" || content[0] < utf8.RuneSelf }

// look gives the colours of a style; page is empty where it is the paper's own.
func (p paper) look(style uv.Style) (ink, page string) {
	ink = p.hex(style.Fg, p.ink)
	if style.Attrs&uv.AttrReverse != 0 {
		return p.hex(style.Bg, p.page), ink
	}
	return ink, p.hex(style.Bg, "")
}

func weight(style uv.Style) string {
	text := ""
	if style.Attrs&uv.AttrBold != 0 {
		text = ` font-weight="bold"`
	}
	if style.Attrs&uv.AttrFaint != 0 {
		text += ` opacity="0.6"`
	}
	if style.Underline != 0 {
		text += ` text-decoration="underline"`
	}
	return text
}

func (p paper) hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	if basic, ok := c.(ansi.BasicColor); ok {
		return p.palette[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
