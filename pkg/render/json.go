package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"toolx/pkg/rawjson"
)

// Document writes JSON from toolx: indented and safe on a terminal, on one line elsewhere. It writes other text (a
// prompt) unchanged, or safe on a terminal, with a newline at its end.
func Document(out io.Writer, text []byte, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		if json.Valid(text) {
			return writeJSON(out, text, screen)
		}
		return writeLines(out, string(text), screen)
	})
}

// JSONLine writes JSON on one line, safe on a terminal.
func JSONLine(out io.Writer, text json.RawMessage, screen Screen) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	return buffered(out, func(out *bufio.Writer) error { return WriteJSONLine(out, line.Bytes(), screen) })
}

// writeJSON writes JSON over several lines on a terminal, on one line elsewhere; it keeps order and digits.
func writeJSON(out *bufio.Writer, text json.RawMessage, screen Screen) error {
	var lines bytes.Buffer
	var err error
	if screen.TTY {
		err = json.Indent(&lines, text, "", "  ")
	} else {
		err = json.Compact(&lines, text)
	}
	if err != nil {
		return err
	}
	return WriteJSONLine(out, lines.Bytes(), screen)
}

// WriteJSONLine writes JSON unchanged, or safe on a terminal, and ends the line.
func WriteJSONLine(out *bufio.Writer, text []byte, screen Screen) error {
	if err := writeExactJSON(out, text, screen); err != nil {
		return err
	}
	return out.WriteByte('\n')
}

func writeExactJSON(out *bufio.Writer, text []byte, screen Screen) error {
	if screen.TTY {
		return rawjson.Escape(out, text)
	}
	_, err := out.Write(text)
	return err
}

// buffered runs write with a buffered out. It also flushes after an error.
func buffered(out io.Writer, write func(*bufio.Writer) error) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	if err := write(buffer); err != nil {
		buffer.Flush() //nolint:errcheck // the first error is the one to return
		return err
	}
	return buffer.Flush()
}
