package mask

import (
	"bytes"
	"encoding/json"
)

// JSON hides secrets in a JSON text and keeps it valid: strings and numbers under the name of a secret (also deep
// inside an object or array under it), and what Text finds in any other string or key. Order, spaces and everything
// else stay byte for byte; if nothing is hidden, it returns the input itself. It treats invalid JSON as text.
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
			return text // which is quicker to see than by a walk
		}
	}
	w := walker{masker: m, in: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	w.decoder.UseNumber()
	w.value(place{})
	if w.done == 0 {
		return text
	}
	w.out.Write(text[w.done:])
	return w.out.Bytes()
}

// walker goes through valid JSON once. If anything was changed, out holds everything before done.
type walker struct {
	masker  *Masker
	in      []byte
	decoder *json.Decoder
	done    int
	out     bytes.Buffer
}

// place holds what the position of a value says about it.
type place struct {
	secret bool // under the name of a secret
	schema bool // the object under "properties": its keys name parameters, they hold no values
}

// rest returns the input from the next token on.
func (w *walker) rest() []byte { return bytes.TrimLeft(w.in[w.decoder.InputOffset():], " \t\r\n,:") }

// value passes a value, hides what is secret in it, and returns the text of a string. A secret number
// becomes a string, because no number can say that it was hidden.
func (w *walker) value(p place) (said string) {
	start := len(w.in) - len(w.rest())
	token, _ := w.decoder.Token() // the input is valid
	switch token := token.(type) {
	case json.Delim:
		for w.decoder.More() {
			inner := place{secret: p.secret}
			if token == '{' {
				key := w.value(place{})
				inner = place{secret: p.secret || Name(key), schema: key == "properties"}
				if p.schema && w.rest()[0] == '{' {
					inner.secret = p.secret // a schema about a secret, not a secret
				}
			}
			w.value(inner)
		}
		_, _ = w.decoder.Token() // the end
	case string:
		masked := Mask
		if !p.secret {
			masked = w.masker.Text(token)
		}
		if masked != token && token != "" {
			w.replace(start, masked)
		}
		return token
	case json.Number:
		if p.secret || w.masker.known(token.String()) != token.String() {
			w.replace(start, Mask)
		}
	}
	return ""
}

// replace writes a string in place of the input from start up to here.
func (w *walker) replace(start int, text string) {
	w.out.Write(w.in[w.done:start])
	w.out.WriteString(`"` + jsonText(text) + `"`)
	w.done = int(w.decoder.InputOffset())
}

// jsonText returns text as it is written between the quotes of a JSON string, with as few escapes as possible.
func jsonText(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return text
	}
	return out.String()[1 : out.Len()-2] // without the quotes and the newline
}
