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

// maxSamples limits the pixels of a row, and of a column, that are mixed into one.
const maxSamples = 4

// shrunk scales a picture down to fit into width and height; one that fits is unchanged. It mixes several pixels into
// one, so that thin lines remain visible.
func shrunk(picture image.Image, width, height int) image.Image {
	from := picture.Bounds()
	scale := max(float64(from.Dx())/float64(max(1, width)), float64(from.Dy())/float64(max(1, height)))
	if scale <= 1 {
		return picture
	}
	size := func(of int) int { return max(1, int(float64(of)/scale)) }
	small := image.NewRGBA64(image.Rect(0, 0, size(from.Dx()), size(from.Dy())))
	n := min(maxSamples, max(1, int(scale)))
	for at := range small.Bounds().Dx() * small.Bounds().Dy() {
		x, y := at%small.Bounds().Dx(), at/small.Bounds().Dx()
		var sum [4]uint32
		for i := range n * n {
			dx, dy := float64(i%n)/float64(n), float64(i/n)/float64(n)
			red, green, blue, alpha := picture.At(
				min(from.Max.X-1, from.Min.X+int((float64(x)+dx)*scale)),
				min(from.Max.Y-1, from.Min.Y+int((float64(y)+dy)*scale))).RGBA()
			sum[0], sum[1], sum[2], sum[3] = sum[0]+red, sum[1]+green, sum[2]+blue, sum[3]+alpha
		}
		of := func(i int) uint16 { return uint16(sum[i] / uint32(n*n)) }
		small.SetRGBA64(x, y, color.RGBA64{R: of(0), G: of(1), B: of(2), A: of(3)})
	}
	return small
}
