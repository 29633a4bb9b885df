package tui

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The size of a cell in pictures, and the colours of the page behind them.
const (
	cellWidth, cellHeight = 8.4, 17
	inkColor, pageColor   = "#d4d4d4", "#1e1e1e"
)

// picture writes the screen as an SVG picture, cell by cell, into docs/pictures; a
// picture that is not what the screen is now fails (go test ./pkg/tui -update).
func (d *driver) picture(name string) {
	d.t.Helper()
	got := svg(d.m.screen(), d.m.width, d.m.height)
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
func svg(screen string, width, height int) []byte {
	cells := uv.NewScreenBuffer(width, height)
	uv.NewStyledString(screen).Draw(cells, cells.Bounds())
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n",
		float64(width)*cellWidth+16, height*cellHeight+16)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", pageColor)
	for y := range height {
		for x := 0; x < width; {
			x += writeRun(&out, cells, x, y, width)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// writeRun draws the cells from x that look alike, and returns how many they are.
func writeRun(out *bytes.Buffer, cells uv.ScreenBuffer, x, y, width int) int {
	first := cells.CellAt(x, y)
	text, n := "", 0
	for x+n < width {
		cell := cells.CellAt(x+n, y)
		if cell == nil || !cell.Style.Equal(&first.Style) {
			break
		}
		text += cell.Content
		n += max(1, cell.Width)
	}
	n = max(n, 1)
	left, top := 8+float64(x)*cellWidth, 8+y*cellHeight
	ink, page := look(first.Style)
	if page != "" {
		fmt.Fprintf(out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top, float64(n)*cellWidth, cellHeight, page)
	}
	if strings.TrimSpace(text) == "" {
		return n
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%d" xml:space="preserve" textLength="%.1f" fill="%s"%s>`,
		left, top+13, float64(n)*cellWidth, ink, weight(first.Style))
	_ = xml.EscapeText(out, []byte(text))
	out.WriteString("</text>\n")
	return n
}

// look gives the colours of a style; page is empty where it is the picture's own.
func look(style uv.Style) (ink, page string) {
	ink = hex(style.Fg, inkColor)
	if style.Attrs&uv.AttrReverse != 0 {
		return pageColor, ink
	}
	return ink, hex(style.Bg, "")
}

func weight(style uv.Style) string {
	switch {
	case style.Attrs&uv.AttrBold != 0:
		return ` font-weight="bold"`
	case style.Attrs&uv.AttrFaint != 0:
		return ` opacity="0.6"`
	}
	return ""
}

func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	if basic, ok := c.(ansi.BasicColor); ok {
		return palette()[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// palette is a theme for the sixteen colours, as terminals have one.
func palette() [16]string {
	return [16]string{
		"#1e1e1e", "#c74e39", "#5a9e4b", "#b58900", "#3f7fbf", "#a05fb0", "#3a9a9a", "#d4d4d4",
		"#808080", "#f07b6a", "#8fd17f", "#e5c07b", "#7fb7ef", "#d19ae0", "#7fd6d6", "#ffffff",
	}
}
