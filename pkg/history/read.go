package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"toolx/pkg/state"
)

// Read returns the last n entries of the log at path, oldest first, including rotated logs if the current one has
// fewer. It returns all of them if n is 0 or less. It skips lines that are not entries, because a full disk or a crash
// may have left half a line. A log that does not exist has no entries.
func Read(path string, n int) ([]Entry, error) {
	files := append(rotated(path), path)
	var newestFirst []Entry
	for _, file := range slices.Backward(files) {
		text, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for len(text) > 0 {
			if n > 0 && len(newestFirst) == n {
				break
			}
			text = bytes.TrimRight(text, "\n")
			start := bytes.LastIndexByte(text, '\n') + 1
			if entry, ok := parse(text[start:]); ok {
				newestFirst = append(newestFirst, entry)
			}
			text = text[:start]
		}
	}
	slices.Reverse(newestFirst)
	return newestFirst, nil
}

func readFile(path string) ([]byte, error) {
	file, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

func parse(line []byte) (Entry, bool) {
	var entry Entry
	if json.Unmarshal(line, &entry) != nil || entry.Tool == "" {
		return Entry{}, false
	}
	return entry, true
}
