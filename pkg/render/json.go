package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// EscapeJSON writes JSON for a terminal: inside strings, it escapes what Safe escapes as \uXXXX, so that the JSON has
// the same meaning.
func EscapeJSON(out io.Writer, text []byte) error {
	done := 0
	for at := 0; at < len(text); {
		if b := text[at]; b < utf8.RuneSelf && b != 0x7f {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if !escapedInJSON(r) && (r != utf8.RuneError || size != 1) {
			at += size
			continue
		}
		if _, err := fmt.Fprintf(out, "%s%s", text[done:at], jsonEscape(r)); err != nil {
			return err
		}
		at += size
		done = at
	}
	_, err := out.Write(text[done:])
	return err
}

// escapedInJSON is stricter than Safe: JSON shows values exactly, so it also escapes joiners and selectors.
func escapedInJSON(r rune) bool {
	return invisible(r) || r == 0x7f || isTag(r) || unicode.Is(unicode.Variation_Selector, r)
}

// jsonEscape writes r as JSON does, with a surrogate pair beyond the basic plane.
func jsonEscape(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

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
		return EscapeJSON(out, text)
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
