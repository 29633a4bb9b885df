package render

import (
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolx/pkg/exec"
)

// SaveBlocks writes every binary block of a result into the folder dir, which it creates if necessary, and returns the
// paths in the order of the blocks (EXEC-15). A file is named after the tool and the block's number,
// "server__camera-1.png". SaveBlocks overwrites no file: it appends "-1", "-2" and so on to existing names. Only the
// user can read the files (0600).
//
// If a block cannot be saved, the others are saved nevertheless; the error names each failure.
func SaveBlocks(dir, name string, result *exec.Result) (paths []string, err error) {
	var failures []error
	for i, raw := range result.Content {
		block := exec.ReadBlock(raw)
		if !block.Binary() {
			continue
		}
		path, err := saveBlock(dir, name, i+1, block)
		if err != nil {
			failures = append(failures, fmt.Errorf("block %d of %s was not saved: %w", i+1, result.ToolName, err))
			continue
		}
		paths = append(paths, path)
	}
	return paths, errors.Join(failures...)
}

func saveBlock(dir, tool string, number int, block exec.Block) (string, error) {
	data, err := block.Data()
	if err != nil {
		return "", fmt.Errorf("its data is not valid base64: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, err := CreateNew(dir, fmt.Sprintf("%s-%d", FileName(tool), number), extension(block.MIMEType))
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// CreateNew creates a file that only the user can read. If the name is taken, it appends a number. O_EXCL also fails
// for a symbolic link in its place.
func CreateNew(dir, base, extension string) (*os.File, error) {
	const attempts = 10_000
	for n := range attempts {
		name := base + extension
		if n > 0 {
			name = fmt.Sprintf("%s-%d%s", base, n, extension)
		}
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s already has %d files of that name", dir, attempts)
}

// FileName converts a server's text to a safe part of a file name on any system: no separators, no leading dot, a
// limited length.
func FileName(word string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '_'
	}, word)
	name = strings.TrimLeft(name, ".-")
	if name == "" {
		name = "block"
	}
	return name[:min(len(name), 100)]
}

// extension returns the file extension for a MIME type from toolx's own list, ".bin" for any other type. The system's
// list differs between machines, and a server's own type (image/bat, application/hta) could result in a file that a
// double click runs.
func extension(mimeType string) string {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	for _, known := range knownExtensions {
		if slices.Contains(known.types, media) {
			return known.extension
		}
	}
	return ".bin"
}

// knownExtensions are types that tools return and that neither systems nor browsers run.
var knownExtensions = [...]struct {
	extension string
	types     []string
}{
	{".png", []string{"image/png"}},
	{".jpg", []string{"image/jpeg", "image/jpg"}},
	{".gif", []string{"image/gif"}},
	{".webp", []string{"image/webp"}},
	{".bmp", []string{"image/bmp", "image/x-ms-bmp"}},
	{".ico", []string{"image/x-icon", "image/vnd.microsoft.icon"}},
	{".tiff", []string{"image/tiff"}},
	{".avif", []string{"image/avif"}},
	{".heic", []string{"image/heic"}},
	{".apng", []string{"image/apng"}},
	{".jxl", []string{"image/jxl"}},
	{".mp3", []string{"audio/mpeg", "audio/mp3"}},
	{".wav", []string{"audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"}},
	{".m4a", []string{"audio/mp4", "audio/x-m4a"}},
	{".aac", []string{"audio/aac"}},
	{".ogg", []string{"audio/ogg", "video/ogg"}},
	{".opus", []string{"audio/opus"}},
	{".flac", []string{"audio/flac", "audio/x-flac"}},
	{".weba", []string{"audio/webm"}},
	{".mid", []string{"audio/midi"}},
	{".mp4", []string{"video/mp4"}},
	{".webm", []string{"video/webm"}},
	{".mov", []string{"video/quicktime"}},
	{".mpeg", []string{"video/mpeg"}},
	// A browser would run scripts in the other types.
	{".txt", []string{"text/plain", "text/html", "image/svg+xml", "text/xml", "application/xml"}},
	{".md", []string{"text/markdown"}},
	{".csv", []string{"text/csv"}},
	{".json", []string{"application/json"}},
	{".pdf", []string{"application/pdf"}},
	{".zip", []string{"application/zip"}},
	{".gz", []string{"application/gzip", "application/x-gzip"}},
	{".tar", []string{"application/x-tar"}},
}
