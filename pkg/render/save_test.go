package render

import "testing"

// TestExtension names files by a list of toolx's own: a server cannot make one that a double
// click runs (EXEC-15).
func TestExtension(t *testing.T) {
	for mimeType, want := range map[string]string{
		"image/png":                    ".png",
		"image/jpeg":                   ".jpg",
		"IMAGE/PNG":                    ".png",
		"audio/mpeg; charset=binary":   ".mp3",
		"application/pdf":              ".pdf",
		"text/html":                    ".txt",
		"image/svg+xml":                ".txt",
		"application/xml":              ".txt",
		"application/xhtml+xml":        ".bin",
		"image/bat":                    ".bin",
		"image/lnk":                    ".bin",
		"audio/exe":                    ".bin",
		"video/hta":                    ".bin",
		"application/hta":              ".bin",
		"application/x-msdownload":     ".bin",
		"application/x-sh":             ".bin",
		"application/octet-stream":     ".bin",
		"":                             ".bin",
		"image/../../.bashrc":          ".bin",
		"image/png/../x":               ".bin",
		"application/vnd.ms-shortcut+": ".bin",
	} {
		if got := extension(mimeType); got != want {
			t.Errorf("%q: %s, want %s", mimeType, got, want)
		}
	}
}
