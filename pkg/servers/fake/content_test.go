package fake

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"image/png"
	"testing"
)

// TestBinariesAreReal keeps the faults where they are meant: the samples of the good server are valid files.
func TestBinariesAreReal(t *testing.T) {
	t.Parallel()
	decode := func(text string) []byte {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if picture, err := png.Decode(bytes.NewReader(decode(pngPixel))); err != nil || picture.Bounds().Dx() != 1 {
		t.Errorf("the image: %v", err)
	}
	sound := decode(wavBlip)
	if !bytes.HasPrefix(sound, []byte("RIFF")) || int(sound[4]) != len(sound)-8 {
		t.Errorf("the sound is no WAV file of %d bytes: % x", len(sound), sound)
	}
	archive := decode(zipEmpty)
	if _, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err != nil {
		t.Errorf("the archive: %v", err)
	}
}
