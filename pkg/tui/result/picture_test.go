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
	"testing"
)

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
	if picture, err := readPicture(broken, maxDrawnPixels); err != nil || picture.Bounds() != image.Rect(0, 0, 3, 2) {
		t.Errorf("%v, %v", picture, err)
	}
	broken[pixels+len(remark)+9]++
	if _, err := readPicture(broken, maxDrawnPixels); err == nil {
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
		if picture, err := readPicture(data, maxDrawnPixels); err == nil && picture.Bounds().Dx() > maxDrawnPixels {
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
	_, err := readPicture(file.Bytes(), maxDrawnPixels)
	if err == nil || err.Error() != "png of 32768×32768 is too large; s saves it" {
		t.Errorf("a picture of 2^30 pixels: %v", err)
	}
}
