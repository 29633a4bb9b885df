package mask

import (
	"bytes"
	"encoding/json"

	"toolx/pkg/rawjson"
)

// JSON hides secrets in a JSON text and keeps it valid: strings and numbers under the name of a secret (also deep
// inside an object or array under it), and what Text finds in any other string or key. Order, spaces and everything
// else are preserved byte for byte; if nothing is hidden, it returns the input itself. It treats invalid JSON as text.
func (m *Masker) JSON(text []byte) []byte {
	if !json.Valid(text) {
		masked := m.Text(string(text))
		if masked == string(text) {
			return text
		}
		return []byte(masked)
	}
	if value := bytes.TrimSpace(text); value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		if said := string(value[1 : len(value)-1]); m.Text(said) == said {
			return text // which is faster than a walk
		}
	}
	w := walker{masker: m, in: text}
	w.value(place{})
	if w.done == 0 {
		return text
	}
	w.out.Write(text[w.done:])
	return w.out.Bytes()
}

// walker walks through valid JSON once. If anything was changed, out has everything before done.
type walker struct {
	masker *Masker
	in     []byte
	at     int // the end of what was read
	done   int
	out    bytes.Buffer
}

// place describes a value by its position.
type place struct {
	secret bool // under the name of a secret
	schema bool // the object under "properties": its keys are names of parameters, without values
}

// next skips to the next token, and returns its first byte.
func (w *walker) next() byte {
	for w.at = rawjson.SpaceEnd(w.in, w.at); w.in[w.at] == ',' || w.in[w.at] == ':'; {
		w.at = rawjson.SpaceEnd(w.in, w.at+1)
	}
	return w.in[w.at]
}

// value reads a value, hides secrets in it, and returns the text of a string. A secret number becomes a string, because
// no number can show that it was hidden.
func (w *walker) value(p place) (said string) {
	start := w.next()
	begin := w.at
	switch start {
	case '{', '[':
		w.members(p, start == '{')
	case '"':
		w.at = rawjson.StringEnd(w.in, w.at)
		said = rawjson.Unquote(w.in[begin:w.at])
		masked := Mask
		if !p.secret {
			masked = w.masker.Text(said)
		}
		if masked != said && said != "" {
			w.replace(begin, masked)
		}
	default: // a number or a word
		w.at = rawjson.ValueEnd(w.in, w.at)
		number := string(w.in[begin:w.at])
		if rawjson.IsNumber(number) && (p.secret || w.masker.known(number) != number) {
			w.replace(begin, Mask)
		}
	}
	return said
}

// members reads an object or an array.
func (w *walker) members(p place, object bool) {
	w.at++
	for end := w.next(); end != '}' && end != ']'; end = w.next() {
		inner := place{secret: p.secret}
		if object {
			key := w.value(place{})
			inner = place{secret: p.secret || Name(key), schema: key == "properties"}
			if p.schema && w.next() == '{' {
				inner.secret = p.secret // a schema about a secret, not a secret
			}
		}
		w.value(inner)
	}
	w.at++
}

// replace writes a string in place of the input from begin up to the current position.
func (w *walker) replace(begin int, text string) {
	w.out.Write(w.in[w.done:begin])
	w.out.Write(rawjson.Quote(text))
	w.done = w.at
}
