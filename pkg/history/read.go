package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"toolx/pkg/mask"
	"toolx/pkg/state"
)

// Call is an entry with its number: its line, counted from 1 through all files of the log. It does not change until the
// oldest file is removed.
type Call struct {
	Number int `json:"number"`
	Entry
}

// IsCut reports whether the arguments are incomplete, or were not a JSON object.
func (e Entry) IsCut() bool {
	object := bytes.HasPrefix(bytes.TrimSpace(e.Arguments), []byte("{"))
	return e.ArgumentsBytes > 0 || !json.Valid(e.Arguments) || !object
}

// IsMasked reports whether the log hides secrets of the arguments.
func (e Entry) IsMasked() bool { return bytes.Contains(e.Arguments, []byte(mask.Mask)) }

// Duration returns how long the call took.
func (e Entry) Duration() time.Duration {
	return time.Duration(e.ExecutionTimeMS * float64(time.Millisecond))
}

// Calls returns the last n entries of the log at path, oldest first, including rotated logs if the current one has
// fewer. It returns all of them if n is 0 or less. It skips lines that are not entries, because a full disk or a crash
// may have left half a line. A log that does not exist has no entries.
func Calls(path string, n int) ([]Call, error) {
	var newestFirst []Call
	err := backward(path, func(number int, line []byte) bool {
		if entry, ok := parse(line); ok {
			newestFirst = append(newestFirst, Call{number, entry})
		}
		return n <= 0 || len(newestFirst) < n
	})
	slices.Reverse(newestFirst)
	return newestFirst, err
}

// Find returns the call of a number; nil if there is none.
func Find(path string, number int) (found *Call, err error) {
	err = backward(path, func(at int, line []byte) bool {
		if at > number {
			return true
		}
		if entry, ok := parse(line); at == number && ok {
			found = &Call{at, entry}
		}
		return false
	})
	return found, err
}

// Clear removes the log at path with its rotated files, and returns how many calls there were.
func Clear(path string) (calls int, err error) {
	unlock, ok, err := state.TryLock(path + ".lock")
	switch {
	case errors.Is(err, fs.ErrNotExist): // or its folder
		return 0, nil
	case err != nil:
		return 0, err
	case !ok:
		return 0, errors.New("another toolx is rotating it")
	}
	defer unlock()
	for _, file := range append(rotated(path), path) {
		count, err := countLines(file)
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return calls, err
		}
		calls += count
	}
	return calls, nil
}

// counted returns the files of a log, oldest first, and the number of lines before each.
func counted(path string) (files []string, before []int, err error) {
	files, total := append(rotated(path), path), 0
	for _, file := range files {
		before = append(before, total)
		if file == path {
			break
		}
		count, err := countLines(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		total += count
	}
	return files, before, nil
}

// countLines returns how many lines a file has, without keeping it in memory.
func countLines(path string) (count int, err error) {
	file, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	buffer, last := make([]byte, 64<<10), byte('\n')
	for {
		n, err := file.Read(buffer)
		count += bytes.Count(buffer[:n], []byte{'\n'})
		if n > 0 {
			last = buffer[n-1]
		}
		switch {
		case errors.Is(err, io.EOF) && last != '\n': // a line that is not whole
			return count + 1, nil
		case errors.Is(err, io.EOF):
			return count, nil
		case err != nil:
			return 0, err
		}
	}
}

// backward passes the calls of a log to visit, newest first, until it returns false. It skips files that do not exist.
func backward(path string, visit func(number int, line []byte) bool) error {
	files, before, err := counted(path)
	if err != nil {
		return err
	}
	for i, file := range slices.Backward(files) {
		text, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		text = bytes.TrimSuffix(text, []byte{'\n'})
		for line := bytes.Count(text, []byte{'\n'}) + 1; line > 0; line-- {
			start := bytes.LastIndexByte(text, '\n') + 1
			if !visit(before[i]+line, text[start:]) {
				return nil
			}
			text = text[:max(0, start-1)]
		}
	}
	return nil
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
