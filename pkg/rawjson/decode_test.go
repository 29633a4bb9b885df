package rawjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// decodeAsGo reads JSON as encoding/json does.
func decodeAsGo(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// Decode reads what encoding/json reads, and refuses what it refuses.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		` { "a" : [ 1 , -2.50e3 , true , false , null ] , "a" : { } , "b\"\u00e9" : "\ud800 x\n" } `,
		`[]`, `[[],{},[{"":[]}]]`, `"text"`, "\"\xff\"", `12345678901234567890`, `null`, `true x`, `{"a":1`, ``, `,`,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := decodeAsGo(text)
		got, err := Decode([]byte(text))
		if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("Decode(%q) = %#v, %v, want %#v, %v", text, got, err, want, wantErr)
		}
	})
}

// Quote writes what Marshal writes.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "plain", "a\"b", `a\b`, "<&>", "\x1f\x7f", "é", "\xff", "\u2028"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := Marshal(text)
		if got := Quote(text); err != nil || string(got) != string(want) {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	})
}
