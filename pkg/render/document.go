package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Document writes JSON of toolx's own making: indented and safe on a terminal, on one
// line elsewhere. Text that is not JSON (a prompt) is written as it is, made safe on
// a terminal, with a newline at its end.
func Document(out io.Writer, text []byte, screen Screen) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	if err := writeDocument(buffered, text, screen); err != nil {
		return err
	}
	return buffered.Flush()
}

// JSONLine writes JSON on one line, safe on a terminal.
func JSONLine(out io.Writer, text json.RawMessage, screen Screen) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := WriteJSONLine(buffered, line.Bytes(), screen); err != nil {
		return err
	}
	return buffered.Flush()
}

func writeDocument(out *bufio.Writer, text []byte, screen Screen) error {
	switch {
	case !json.Valid(text) && screen.TTY:
		return writeBlockText(out, SafeBlock(string(text)))
	case !json.Valid(text):
		return writeBlockText(out, string(text))
	case screen.TTY:
		return WriteJSONLine(out, indent(text), screen)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	return WriteJSONLine(out, line.Bytes(), screen)
}
