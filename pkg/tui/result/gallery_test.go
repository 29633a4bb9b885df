package result

import (
	"bytes"
	"errors"
	"image"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// keyboard gives key by key what is pressed, and then waits for more.
type keyboard struct{ keys []string }

func (k *keyboard) Read(into []byte) (int, error) {
	if len(k.keys) == 0 {
		return 0, io.EOF
	}
	n := copy(into, k.keys[0])
	k.keys = k.keys[1:]
	return n, nil
}

// newGallery is the gallery of a text, an image, and one that is none, on a terminal
// with kitty's pictures.
func newGallery(t *testing.T, keys ...string) (*gallery, *bytes.Buffer) {
	t.Helper()
	v := show(t, `{"content":[{"type":"text","text":"hidden"},{"type":"image","mimeType":"image/png","data":"`+dot+`"},`+
		`{"type":"image","mimeType":"image/\u001b[2J","data":"AAAA"}]}`, "")
	v.getenv = environment("TERM", "xterm-kitty")
	out, g := new(bytes.Buffer), v.gallery()
	var _ tea.ExecCommand = g
	g.SetStdin(&keyboard{keys})
	g.SetStdout(out)
	g.SetStderr(out)
	return g, out
}

// The images are shown one by one, each on a screen of its own, with a word for those
// that cannot be; nothing is left behind.
func TestGallery(t *testing.T) {
	g, out := newGallery(t, "\r", "\r", "not read")
	if err := g.Run(); err != nil {
		t.Fatal(err)
	}
	screens := strings.Split(out.String(), ansi.EraseEntireScreen)
	if len(screens) != 3 {
		t.Fatalf("%d screens instead of the one before and two: %q", len(screens), out)
	}
	for i, wants := range [][]string{
		{ansi.SetModeAltScreenSaveCursor},
		{"2  [image image/png 70 B 1×1]", "\x1b_Gf=100,q=2,C=1,", "1 of 2: enter and arrows go on, q goes back", "\x1b_Ga=d,q=2\x1b\\"},
		{"3  [image image/\\x1b[2J 3 B]", "it cannot be shown: image: unknown format; s saves it", "2 of 2", "\x1b_Ga=d,q=2\x1b\\" + ansi.ResetModeAltScreenSaveCursor},
	} {
		for _, want := range wants {
			if !strings.Contains(screens[i], want) {
				t.Errorf("%q is not in %q", want, screens[i])
			}
		}
	}
	if strings.Contains(out.String(), "hidden") {
		t.Errorf("shown: %q", out)
	}
	if rest := g.in.(*keyboard).keys; len(rest) != 1 {
		t.Errorf("of the keys, %q are left", rest)
	}
}

// Which image a key goes to.
func TestGalleryKeys(t *testing.T) {
	g := &gallery{blocks: make([]numbered, 3)}
	for _, test := range []struct {
		at   int
		key  string
		want int
	}{
		{0, "\r", 1},
		{1, " ", 2},
		{2, "\r", 3},
		{0, "\x1b[C", 1},
		{2, "\x1b[C", 2},
		{2, "n", 2},
		{1, "\x1b[D", 0},
		{0, "p", 0},
		{1, "\x1bOA", 0},
		{1, "q", -1},
		{1, "\x1b", -1},
		{1, "\x03", -1},
		{1, "x", 1},
		{1, "\x1b[99~", 1},
		{0, "line\n", 1},
	} {
		if got := g.after(test.at, test.key); got != test.want {
			t.Errorf("%q goes from %d to %d, want %d", test.key, test.at, got, test.want)
		}
	}
}

// What ends the gallery also gives the screen back: the end of the keys, a broken
// keyboard, a signal.
func TestGalleryEnds(t *testing.T) {
	ends := map[string]io.Reader{"end": &keyboard{}, "broken": brokenKeyboard{}}
	if runtime.GOOS != "windows" { // where no process can be asked to end
		ends["signal"] = signalled{t}
	}
	for name, in := range ends {
		g, out := newGallery(t)
		g.SetStdin(in)
		if err := g.Run(); (err != nil) != (name == "broken") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasSuffix(out.String(), ansi.ResetModeAltScreenSaveCursor) {
			t.Errorf("%s leaves the screen as %q", name, out)
		}
	}
	g, _ := newGallery(t)
	g.SetStdout(brokenScreen{})
	if err := g.Run(); err == nil {
		t.Error("a broken screen is no error")
	}
}

// brokenKeyboard and brokenScreen fail.
type (
	brokenKeyboard struct{}
	brokenScreen   struct{}
)

func (brokenKeyboard) Read([]byte) (int, error) { return 0, errors.New("broken") }
func (brokenScreen) Write([]byte) (int, error)  { return 0, errors.New("broken") }

// signalled is a keyboard at which nobody sits, when the process is asked to end.
type signalled struct{ t *testing.T }

func (s signalled) Read([]byte) (int, error) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGTERM)
	}
	if err != nil {
		s.t.Error(err)
	}
	<-s.t.Context().Done()
	return 0, io.EOF
}

// A picture has all the room that its cells have, and never more.
func TestFitted(t *testing.T) {
	picture := image.NewGray(image.Rect(0, 0, 4000, 1000))
	for _, test := range []struct {
		screen        screen
		width, height int
	}{
		{screen{80, 24, 8, 16}, 640, 160},
		{screen{80, 24, 20, 40}, 1600, 400},
		{screen{80, 9, 10, 20}, 400, 100},
		{screen{40, 1, 10, 20}, 4, 1},
	} {
		if got := fitted(picture, test.screen).Bounds(); got.Dx() != test.width || got.Dy() != test.height {
			t.Errorf("on %+v it is %v", test.screen, got)
		}
	}
	if got := screenOf(io.Discard); got != (screen{80, 24, 8, 16}) {
		t.Errorf("what is no terminal has the size %+v", got)
	}
}
