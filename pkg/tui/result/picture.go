package result

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // to read it
	_ "image/jpeg" // to read it
	_ "image/png"  // to read it
	"slices"
)

// readPicture reads a picture of at most most pixels.
func readPicture(data []byte, most int) (image.Image, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w; s saves it", err)
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > most/config.Height {
		return nil, fmt.Errorf("%s of %d×%d is too large; s saves it", format, config.Width, config.Height)
	}
	if format == "png" {
		data = withoutExtras(data)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	return picture, err
}

// withoutExtras returns a PNG reduced to the chunks that its pixels need. Real servers send comments
// and colour profiles with broken checksums, which no viewer but Go's rejects.
func withoutExtras(data []byte) []byte {
	const signature, around = 8, 12 // around the data of a chunk: its length, name and checksum
	kept := slices.Clone(data[:signature])
	for rest := data[signature:]; len(rest) >= around; {
		size := around + int64(binary.BigEndian.Uint32(rest))
		if size > int64(len(rest)) {
			return append(kept, rest...)
		}
		name := string(rest[4:8])
		if critical := name[0] >= 'A' && name[0] <= 'Z'; critical || name == "tRNS" {
			kept = append(kept, rest[:size]...)
		}
		rest = rest[size:]
	}
	return kept
}

// shrunk scales a picture down to fit into width and height; one that fits is unchanged.
func shrunk(picture image.Image, width, height int) image.Image {
	width, height = max(1, width), max(1, height)
	from := picture.Bounds()
	scale := max(float64(from.Dx())/float64(width), float64(from.Dy())/float64(height))
	if scale <= 1 {
		return picture
	}
	return &smaller{picture, scale}
}

// smaller is a picture in which each pixel represents scale times scale pixels of another.
type smaller struct {
	image.Image
	scale float64
}

// Bounds implements image.Image.
func (s *smaller) Bounds() image.Rectangle {
	from := s.Image.Bounds()
	return image.Rect(0, 0, max(1, int(float64(from.Dx())/s.scale)), max(1, int(float64(from.Dy())/s.scale)))
}

// maxSamples limits the pixels of a row, and of a column, that are mixed into one.
const maxSamples = 4

// At implements image.Image. It mixes several pixels into one, so that thin lines remain visible.
func (s *smaller) At(x, y int) color.Color {
	from := s.Image.Bounds()
	n := min(maxSamples, max(1, int(s.scale)))
	var red, green, blue, alpha uint32
	for i := range n * n {
		dx, dy := float64(i%n)/float64(n), float64(i/n)/float64(n)
		at := s.Image.At(
			min(from.Max.X-1, from.Min.X+int((float64(x)+dx)*s.scale)),
			min(from.Max.Y-1, from.Min.Y+int((float64(y)+dy)*s.scale)))
		r, g, b, a := at.RGBA()
		red, green, blue, alpha = red+r, green+g, blue+b, alpha+a
	}
	of := uint32(n * n)
	return color.RGBA64{uint16(red / of), uint16(green / of), uint16(blue / of), uint16(alpha / of)}
}
