package mask

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON hides secrets in a JSON text and keeps it valid: strings and numbers under the name of a secret
// (also deep inside an object or array under it), and what Text finds in any other string or key.
// Order, spaces and everything else stay byte for byte; if nothing is hidden, it returns the input
// itself. It treats invalid JSON as text.
func (m *Masker) JSON(text []byte) []byte {
	if !json.Valid(text) {
		masked := m.Text(string(text))
		if masked == string(text) {
			return text
		}
		return []byte(masked)
	}
	w := walker{masker: m, in: text}
	w.value(place{})
	if w.done == 0 {
		return text
	}
	w.out.Write(text[w.done:])
	return w.out.Bytes()
}

// walker goes through valid JSON once. If anything was changed, out holds everything before done.
type walker struct {
	masker   *Masker
	in       []byte
	at, done int
	out      bytes.Buffer
}

// place holds what the position of a value says about it.
type place struct {
	secret bool // under the name of a secret
	schema bool // the object under "properties": its keys name parameters, they hold no values
}

func (w *walker) value(p place) {
	w.space()
	switch w.in[w.at] {
	case '{':
		w.object(p)
	case '[':
		w.array(p)
	case '"':
		w.string(p.secret)
	default:
		w.scalar(p.secret)
	}
	w.space()
}

func (w *walker) object(p place) {
	w.at++ // {
	for w.space(); w.in[w.at] != '}'; w.space() {
		if w.in[w.at] == ',' {
			w.at++
			w.space()
		}
		key := w.string(false)
		w.space()
		w.at++ // :
		w.space()
		inner := place{secret: p.secret || Name(key), schema: key == "properties"}
		if p.schema && w.in[w.at] == '{' {
			inner.secret = p.secret // a schema about a secret, not a secret
		}
		w.value(inner)
	}
	w.at++
}

func (w *walker) array(p place) {
	w.at++ // [
	for w.space(); w.in[w.at] != ']'; w.space() {
		if w.in[w.at] == ',' {
			w.at++
		}
		w.value(place{secret: p.secret})
	}
	w.at++
}

// string passes a string, hides what is secret in it, and returns its text.
func (w *walker) string(secret bool) string {
	start := w.at
	escapes := false
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			escapes = true
			w.at++
		}
	}
	w.at++
	said := string(w.in[start+1 : w.at-1])
	if escapes || !validText(said) {
		var decoded string
		if json.Unmarshal(w.in[start:w.at], &decoded) == nil {
			said = decoded
		}
	}
	masked := Mask
	if !secret {
		masked = w.masker.Text(said)
	}
	if masked != said && said != "" {
		w.replace(start, `"`+jsonText(masked)+`"`)
	}
	return said
}

// scalar passes a number or literal. A secret number becomes a string, because no number can say that
// it was hidden.
func (w *walker) scalar(secret bool) {
	start := w.at
	for w.at < len(w.in) && strings.IndexByte(",]} \t\r\n", w.in[w.at]) < 0 {
		w.at++
	}
	said := string(w.in[start:w.at])
	if isLiteral(said) {
		return
	}
	if secret || w.masker.known(said) != said {
		w.replace(start, `"`+Mask+`"`)
	}
}

// replace writes text in place of the input from start up to here.
func (w *walker) replace(start int, text string) {
	w.out.Write(w.in[w.done:start])
	w.out.WriteString(text)
	w.done = w.at
}

func (w *walker) space() {
	for w.at < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.at]) >= 0 {
		w.at++
	}
}

func validText(text string) bool { return strings.ToValidUTF8(text, "") == text }

// jsonText returns text as it is written between the quotes of a JSON string, with as few escapes as
// possible.
func jsonText(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return text
	}
	return out.String()[1 : out.Len()-2] // without the quotes and the newline
}
