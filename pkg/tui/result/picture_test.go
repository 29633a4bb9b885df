package result

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/tui/pane"
)

// environment is one of a test.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// Which terminal shows pictures, and by which sequences.
func TestProtocol(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 20, 10))
	for _, test := range []struct {
		name, want string
		getenv     func(string) string
	}{
		{"kitty", "\x1b_G", environment("TERM", "xterm-kitty")},
		{"kitty under another name", "\x1b_G", environment("TERM", "xterm-256color", "KITTY_WINDOW_ID", "1")},
		{"ghostty", "\x1b_G", environment("TERM", "xterm-ghostty")},
		{"iTerm2", "\x1b]1337;File=", environment("TERM", "xterm-256color", "TERM_PROGRAM", "iTerm.app")},
		{"WezTerm", "\x1b]1337;File=", environment("TERM_PROGRAM", "WezTerm")},
		{"foot", "\x1bP0;1q", environment("TERM", "foot-extra")},
		{"Windows Terminal", "\x1bP0;1q", environment("WT_SESSION", "x")},
		{"tmux in kitty", "", environment("TERM", "tmux-256color", "KITTY_WINDOW_ID", "1")},
		{"xterm", "", environment("TERM", "xterm-256color")},
		{"footage", "", environment("TERM", "footage")},
	} {
		by := protocolOf(test.getenv)
		if by == nil || test.want == "" {
			if (by == nil) != (test.want == "") {
				t.Errorf("%s: shows pictures: %v", test.name, by != nil)
			}
			continue
		}
		var out bytes.Buffer
		if err := by.write(&out, picture); err != nil || !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("%s begins with %.20q, %v, want %q", test.name, out.String(), err, test.want)
		}
	}
}

// Where a terminal shows no pictures, the key says so; the label names it only where it works.
func TestNoPictures(t *testing.T) {
	shows := show(t, `{"content":[{"type":"image","mimeType":"image/png","data":"`+dot+`"}]}`, "")
	shows.theme.Pictures = ShowsPictures(environment("TERM", "xterm-kitty"))
	holds(t, frame(t, shows, 60, 8), "(i shows it)")
	v := show(t, `{"content":[{"type":"image","mimeType":"image/png","data":"`+dot+`"}]}`, "")
	v.getenv = environment("TERM", "xterm")
	told := press(v, "i")
	if len(told) != 1 || !strings.Contains(told[0].(NoteMsg).Text, "this terminal shows no images") {
		t.Errorf("told %v", told)
	}
	v = show(t, ofText("x"), "")
	if told := press(v, "i"); len(told) != 1 || told[0] != (NoteMsg{"show images: there is no image", true}) {
		t.Errorf("told %v", told)
	}
	if pane.Find(v.Bindings(), "i").Off == "" {
		t.Error("the help does not say that there is no image")
	}
}

// A picture is never larger than the terminal, and never deformed.
func TestShrunk(t *testing.T) {
	picture := image.NewRGBA(image.Rect(10, 10, 1010, 510))
	picture.Set(1009, 509, color.White)
	small := shrunk(picture, 100, 400)
	if got := small.Bounds(); got != image.Rect(0, 0, 100, 50) {
		t.Errorf("bounds %v", got)
	}
	if small := shrunk(picture, 1000, 500); small != image.Image(picture) {
		t.Error("what fits was changed")
	}
	var out bytes.Buffer
	if err := writeSixel(&out, small); err != nil {
		t.Error(err)
	}
}

// A broken remark in a picture does not spoil it; broken pixels do.
func TestBrokenPNG(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	const pixels = 33 // where they begin: behind the signature and the header
	remark := append([]byte{0, 0, 0, 2}, "tEXtab\x00\x00\x00\x00"...)
	broken := slices.Concat(file.Bytes()[:pixels], remark, file.Bytes()[pixels:])
	if picture, err := readPicture(broken, maxPixels); err != nil || picture.Bounds() != image.Rect(0, 0, 3, 2) {
		t.Errorf("%v, %v", picture, err)
	}
	broken[pixels+len(remark)+9]++
	if _, err := readPicture(broken, maxPixels); err == nil {
		t.Error("broken pixels are shown")
	}
}

// FuzzPicture reads any file: it may be refused, and no more.
func FuzzPicture(f *testing.F) {
	file, _ := base64.StdEncoding.DecodeString(dot)
	f.Add(file)
	f.Add([]byte("GIF89a"))
	f.Add([]byte("\xff\xd8\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if picture, err := readPicture(data, maxPixels); err == nil && picture.Bounds().Dx() > maxPixels {
			t.Errorf("a picture of %v", picture.Bounds())
		}
	})
}

// A small file that is a huge picture is not unpacked.
func TestPictureBomb(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	header := file.Bytes()[12:29] // IHDR with width and height, ahead of its checksum
	binary.BigEndian.PutUint32(header[4:], 1<<15)
	binary.BigEndian.PutUint32(header[8:], 1<<15)
	binary.BigEndian.PutUint32(file.Bytes()[29:], crc32.ChecksumIEEE(header))
	_, err := readPicture(file.Bytes(), maxPixels)
	if err == nil || err.Error() != "png of 32768×32768 is too large; s saves it" {
		t.Errorf("a picture of 2^30 pixels: %v", err)
	}
}
