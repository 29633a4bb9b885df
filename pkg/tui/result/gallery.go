package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"toolx/pkg/exec"
	"toolx/pkg/render"
)

// ShowsPictures reports whether a terminal shows images, by its environment.
func ShowsPictures(getenv func(string) string) bool { return protocolOf(getenv) != nil }

// noPictures returns why images cannot be shown.
func (v *View) noPictures() string {
	switch {
	case !v.images:
		return "there is no image"
	case protocolOf(v.getenv) == nil:
		return "this terminal shows no images as far as toolx knows; s saves them"
	}
	return ""
}

// showPictures suspends the interface and shows the images of the result one by one.
func (v *View) showPictures() tea.Cmd {
	return tea.Exec(v.gallery(), func(err error) tea.Msg {
		if err != nil {
			return NoteMsg{"images: " + err.Error(), true}
		}
		return nil
	})
}

func (v *View) gallery() *gallery {
	g := &gallery{protocol: protocolOf(v.getenv)}
	for i, raw := range v.result.Content {
		if _, image := carries(membersOf(raw)); image {
			g.blocks = append(g.blocks, numbered{i + 1, raw})
		}
	}
	return g
}

// gallery shows the images of a result, as a tea.ExecCommand. It draws on the terminal's alternate
// screen, so that nothing stays on the terminal.
type gallery struct {
	protocol *protocol
	blocks   []numbered
	in       io.Reader
	out      io.Writer
}

// numbered is an image, with the number of its block in the result.
type numbered struct {
	number int
	raw    json.RawMessage
}

// SetStdin implements tea.ExecCommand.
func (g *gallery) SetStdin(in io.Reader) { g.in = in }

// SetStdout implements tea.ExecCommand.
func (g *gallery) SetStdout(out io.Writer) { g.out = out }

// SetStderr implements tea.ExecCommand.
func (g *gallery) SetStderr(io.Writer) {}

// Run implements tea.ExecCommand. It returns errors of the terminal; an image that cannot be shown is
// replaced by the reason. A signal ends it, as q does.
func (g *gallery) Run() (err error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	defer g.raw()()
	defer func() {
		if failed := g.say(g.protocol.clear + ansi.ResetModeAltScreenSaveCursor); err == nil {
			err = failed
		}
	}()
	if err := g.say(ansi.SetModeAltScreenSaveCursor); err != nil {
		return err
	}
	for at := 0; at >= 0 && at < len(g.blocks); {
		if err := g.show(at); err != nil {
			return err
		}
		turn, err := g.turn(at, signals)
		if err != nil {
			return err
		}
		at = turn
	}
	return nil
}

// raw puts the terminal in raw mode and returns a function that undoes it.
func (g *gallery) raw() (undo func()) {
	file, ok := g.in.(*os.File)
	if !ok {
		return func() {}
	}
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return func() {} // keys come line by line
	}
	return func() { _ = term.Restore(int(file.Fd()), before) }
}

// say writes control sequences and text. In raw mode a line has to end with CR LF.
func (g *gallery) say(text string) error {
	_, err := io.WriteString(g.out, text)
	return err
}

// The lines of the screen besides the image: a caption and a blank line above it, a blank line and the keys below.
const aroundImage = 4

// show draws one image.
func (g *gallery) show(at int) error {
	s := screenOf(g.out)
	block := exec.ParseBlock(g.blocks[at].raw)
	caption := fmt.Sprintf("%d  %s", g.blocks[at].number, render.Safe(block.String()))
	erase := g.protocol.clear + ansi.EraseEntireScreen + ansi.CursorHomePosition
	if err := g.say(erase + ansi.Truncate(caption, s.columns, "") + "\r\n\r\n"); err != nil {
		return err
	}
	if err := g.draw(block.Data, s); err != nil {
		if err := g.say("it cannot be shown: " + render.Safe(err.Error())); err != nil {
			return err
		}
	}
	keys := "enter goes back"
	if last := len(g.blocks) - 1; last > 0 {
		keys = fmt.Sprintf("%d of %d: enter and arrows go on, q goes back", at+1, last+1)
	}
	return g.say(ansi.CursorPosition(1, s.rows) + ansi.Truncate(keys, s.columns-1, "") + " ")
}

// draw draws an image at its size, scaled down if there is less room.
func (g *gallery) draw(data []byte, s screen) error {
	picture, err := readPicture(data, maxPixels)
	if err != nil {
		return err
	}
	return g.protocol.write(g.out, fitted(picture, s))
}

// fitted returns a picture that fits below its caption.
func fitted(picture image.Image, s screen) image.Image {
	return shrunk(picture, s.columns*s.cellWidth, (s.rows-aroundImage)*s.cellHeight)
}

// turn waits for a key and returns the image to show next. An index that is out of range ends the gallery.
func (g *gallery) turn(at int, signals <-chan os.Signal) (next int, err error) {
	type pressed struct {
		key string
		err error
	}
	keys := make(chan pressed, 1)
	go func() { // a signal leaves it waiting: toolx ends then
		key := make([]byte, 16)
		n, err := g.in.Read(key)
		keys <- pressed{string(key[:n]), err}
	}()
	select {
	case <-signals:
		return -1, nil
	case p := <-keys:
		switch {
		case p.key != "":
			return g.after(at, p.key), nil
		case errors.Is(p.err, io.EOF):
			return -1, nil
		}
		return -1, p.err
	}
}

// after returns the image that a key goes to.
func (g *gallery) after(at int, key string) int {
	const ctrlC, esc = "\x03", "\x1b"
	switch key {
	case "\r", "\n", "\r\n", " ":
		return at + 1 // after the last one it ends
	case "n", "l", "j", esc + "[C", esc + "[B", esc + "OC", esc + "OB":
		return min(at+1, len(g.blocks)-1)
	case "p", "h", "k", esc + "[D", esc + "[A", esc + "OD", esc + "OA":
		return max(at-1, 0)
	case "q", esc, ctrlC:
		return -1
	}
	if strings.ContainsAny(key, "\r\n") { // a line, where keys do not come one by one
		return at + 1
	}
	return at
}

// screen is the size of a terminal in cells, and the size of a cell in pixels.
type screen struct {
	columns, rows         int
	cellWidth, cellHeight int
}

// screenOf asks a terminal for its size. If it does not report the size of its cells, a small cell is
// assumed: real ones are about as large or larger.
func screenOf(out io.Writer) screen {
	s := screen{80, 24, 8, 16}
	file, ok := out.(interface{ Fd() uintptr })
	if !ok {
		return s
	}
	fd := int(file.Fd())
	if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
		s.columns, s.rows = columns, rows
	}
	if width, height := pixels(fd); width >= s.columns && height >= s.rows {
		s.cellWidth, s.cellHeight = width/s.columns, height/s.rows
	}
	return s
}
