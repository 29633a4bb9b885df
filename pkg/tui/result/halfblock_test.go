package result

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// Each cell has two pixels; what is transparent has no colour.
func TestHalfBlocks(t *testing.T) {
	pixels := map[byte]color.Color{
		'r': color.NRGBA{255, 0, 0, 255}, 'g': color.NRGBA{0, 255, 0, 255}, 'b': color.NRGBA{0, 0, 255, 200},
		'.': color.NRGBA{255, 255, 255, 90},
	}
	for name, test := range map[string]struct{ rows, want string }{
		"two pixels":        {"rr gg", "\x1b[38;2;255;0;0;48;2;0;255;0m▀▀\x1b[m"},
		"an odd row":        {"r g b", "\x1b[38;2;255;0;0;48;2;0;255;0m▀\x1b[m\n\x1b[0;38;2;0;0;255m▀\x1b[m"},
		"nothing above":     {". g", "\x1b[0;38;2;0;255;0m▄\x1b[m"},
		"nothing":           {". .", " \x1b[m"},
		"nothing, after it": {"r. r.", "\x1b[38;2;255;0;0;48;2;255;0;0m▀\x1b[m \x1b[m"},
	} {
		rows := strings.Fields(test.rows)
		picture := image.NewNRGBA(image.Rect(3, 5, 3+len(rows[0]), 5+len(rows)))
		for y, row := range rows {
			for x := range row {
				picture.Set(3+x, 5+y, pixels[row[x]])
			}
		}
		if got := strings.Join(halfBlocks(picture), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Pictures are drawn below their labels, as far as there is room, where the terminal has colours for that. What is no
// picture is only named, and so is what comes after as many pixels as are read at once.
func TestContentDrawsPictures(t *testing.T) {
	block := func(width, height int) string {
		var file bytes.Buffer
		if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
			t.Fatal(err)
		}
		return `{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(file.Bytes()) + `"}`
	}
	tinted := pane.NewTheme(true, true, false)
	tinted.FixColors(true)
	asciiOnly := pane.NewTheme(true, true, true)
	asciiOnly.FixColors(true)
	for name, test := range map[string]struct {
		theme *pane.Theme
		block string
		lines int // of pixels
		width int // of the first of them
	}{
		"as it is":      {tinted, block(8, 6), 3, 8},
		"as wide as":    {tinted, block(300, 30), 2, 40},
		"as high as":    {tinted, block(10, 400), maxPictureLines, 1},
		"too large":     {tinted, block(4096, 1025), 0, 0},
		"no picture":    {tinted, `{"type":"image","mimeType":"image/png","data":"AAAA"}`, 0, 0},
		"few colours":   {pane.NewTheme(true, true, false), block(8, 6), 0, 0},
		"only ASCII":    {asciiOnly, block(8, 6), 0, 0},
		"more pixels":   {tinted, block(2048, 2048) + "," + block(8, 6), maxPictureLines, 40},
		"a picture two": {tinted, block(8, 2) + "," + block(8, 2), 2, 8},
	} {
		var blocks []json.RawMessage
		if err := json.Unmarshal([]byte("["+test.block+"]"), &blocks); err != nil {
			t.Fatal(err)
		}
		lines, width := 0, 0
		for _, line := range newMessages(test.theme, exec.Message{Blocks: blocks}).compose(40) {
			if plain := ansi.Strip(line); strings.Contains(plain, "▀") {
				if lines++; lines == 1 {
					width = ansi.StringWidth(plain)
				}
			}
		}
		if lines != test.lines || width != test.width {
			t.Errorf("%s: %d lines, the first of %d cells, want %d of %d", name, lines, width, test.lines, test.width)
		}
	}
}
