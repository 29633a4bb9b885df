package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"toolx/pkg/rawjson"
)

// forms returns the ways in which value may be written, value itself first.
func forms(value string) []string {
	all := []string{value}
	add := func(form string) {
		if len(form) >= minLength && form != value {
			all = append(all, form)
		}
	}
	if escaped, err := json.Marshal(value); err == nil {
		add(string(escaped[1 : len(escaped)-1])) // with <, > and & escaped
	}
	add(inQuotes(value))
	for _, encoded := range []string{url.QueryEscape(value), url.PathEscape(value)} {
		add(encoded)
		add(lowerEscapes(encoded))
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		add(strings.TrimRight(encoding.EncodeToString([]byte(value)), "="))
		for _, inner := range embedded(encoding, value) {
			add(inner)
		}
	}
	return all
}

// inQuotes returns value as the content of a JSON string, with as few escapes as possible.
func inQuotes(value string) string {
	quoted := rawjson.Quote(value)
	return string(quoted[1 : len(quoted)-1])
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(encoded string) string {
	out := []byte(encoded)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(encoded[i+1:i+3]))
		}
	}
	return string(out)
}

// minEmbedded is the shortest piece of base64, in characters, that is searched for inside a longer one; a shorter piece
// would occur by chance.
const minEmbedded = 8

// embedded returns the base64 of value inside a longer text, as in "user:value" of HTTP's basic authentication. There
// is one form for each of the three offsets of value in a group of three bytes, without the characters that also depend
// on its neighbours.
func embedded(encoding *base64.Encoding, value string) []string {
	var pieces []string
	for before := range 3 {
		text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
		// A byte has 8 bits and a character 6: a character counts if it begins and ends inside value.
		from := (8*before + 5) / 6
		to := 8 * (before + len(value)) / 6
		if to-from >= minEmbedded {
			pieces = append(pieces, text[from:to])
		}
	}
	return pieces
}
