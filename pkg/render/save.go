package render

import (
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"toolx/pkg/exec"
)

// SaveBlocks writes every binary block of a result into the folder dir, which is
// made where it is missing, and returns the paths in the order of the blocks
// (EXEC-15). A file is named after the tool and the block's place among all blocks,
// "server__camera-1.png"; nothing is ever overwritten: a name that is taken gets
// "-1", "-2" and so on. Files are for the user alone (0600).
//
// One block that cannot be saved holds back no other: the paths are of those that
// were, the error tells of those that were not.
func SaveBlocks(dir string, result *exec.Result) (paths []string, err error) {
	var failures []error
	for i, raw := range result.Content {
		block := exec.ParseBlock(raw)
		if !block.Binary() {
			continue
		}
		path, err := saveBlock(dir, result.ToolName, i+1, block)
		if err != nil {
			failures = append(failures, fmt.Errorf("block %d of %s is not saved: %w", i+1, result.ToolName, err))
			continue
		}
		paths = append(paths, path)
	}
	return paths, errors.Join(failures...)
}

func saveBlock(dir, tool string, number int, block exec.Block) (string, error) {
	if block.DataErr != nil {
		return "", fmt.Errorf("its data is not valid base64: %w", block.DataErr)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, err := create(dir, fmt.Sprintf("%s-%d", fileName(tool), number), extension(block.MIMEType))
	if err != nil {
		return "", err
	}
	_, err = file.Write(block.Data)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// create makes a file that was not there before. O_EXCL also refuses a symbolic link
// that somebody laid in the way.
func create(dir, base, extension string) (*os.File, error) {
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
	return nil, fmt.Errorf("%s has %d files of that name already", dir, attempts)
}

// fileName makes a server's word harmless as part of a file name, on any system: no
// separators, no dot in front, no endless length.
func fileName(word string) string {
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

// extension gives the file extension for a MIME type, from a list of toolx's own: the
// system's would name one file differently on every machine. An image, sound or film
// of a type that is not in it gives its own subtype where that looks like an
// extension; of other types only known ones do, so that no server can name a file so
// that a double click runs it.
func extension(mimeType string) string {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	switch media {
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	case "image/x-icon", "image/vnd.microsoft.icon":
		return ".ico"
	case "audio/mpeg":
		return ".mp3"
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return ".wav"
	case "audio/mp4":
		return ".m4a"
	case "video/quicktime":
		return ".mov"
	case "text/plain":
		return ".txt"
	case "text/markdown":
		return ".md"
	case "application/gzip":
		return ".gz"
	case "application/pdf", "application/json", "application/zip", "application/xml", "text/csv", "text/html", "text/xml":
		return "." + media[strings.IndexByte(media, '/')+1:]
	}
	family, subtype, _ := strings.Cut(media, "/")
	plain := (family == "image" || family == "audio" || family == "video") && subtype != "" && len(subtype) <= 5 &&
		!strings.ContainsFunc(subtype, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
	if !plain {
		return ".bin"
	}
	return "." + subtype
}
