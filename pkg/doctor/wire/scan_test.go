package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestScanJSON(t *testing.T) {
	for _, one := range []struct {
		text  string
		depth int
		want  string // kind pointer detail, joined
	}{
		{`{"a":1,"b":[1,2,{"c":"x"}]}`, 3, ""},
		{`{"a":1,"a":"two"}`, 1, `0 /a 1 and then "two"`},
		{`{"a":{"b/c":[true,{"~":1,"~":2}]}}`, 4, `0 /a/b~1c/1/~0 1 and then 2`},
		{`[{"a":1},{"a":2}]`, 2, ""},
		{`{"a":1,"\u0061":2}`, 1, `0 /a 1 and then 2`},
		{`[9007199254740992,-9007199254740992,0.1,1e308]`, 1, ""},
		{`[9007199254740993,1e400]`, 1, `1 /0 9007199254740993; 1 /1 1e400`},
		{`{"n":-123456789012345678901234567890}`, 1, `1 /n -123456789012345678901234567890`},
		{`["\ud83d\ude00","plain","\\ud800"]`, 1, ""},
		{`["\ud800","x\udc00","\ud800\u0041"]`, 1, `2 /0 \ud800; 2 /1 \udc00; 2 /2 \ud800`},
		{`{"\ud800":1}`, 1, `2 / \ud800`},
		{strings.Repeat("[", 20_000), 20_000, ""},
		{`{"a":"unended`, 1, ""},
		{`}]`, 0, ""},
		{``, 0, ""},
	} {
		depth, found := ScanJSON([]byte(one.text))
		var got []string
		for _, odd := range found {
			got = append(got, strings.Join([]string{string('0' + rune(odd.Kind)), odd.Pointer, odd.Detail}, " "))
		}
		if text := strings.Join(got, "; "); depth != one.depth || text != one.want {
			t.Errorf("%.60s: depth %d, %q; want depth %d, %q", one.text, depth, text, one.depth, one.want)
		}
	}
}

// FuzzScanJSON shows that the scan ends on any text, and agrees with encoding/json
// about what is twice in an object of scalars.
func FuzzScanJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":2}`, `[1e999,"\ud800"]`, `{"a":{"b":[]}}`, `"\`, `{"`, `{"a"`, "[[[[", `{"a":1,"b":"\ud83d\ude00"}`, "\x00", `{"":0,"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		depth, found := ScanJSON(text)
		if depth > len(text) || len(found) > maxOddities {
			t.Errorf("depth %d, %d places in %d bytes", depth, len(found), len(text))
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return
		}
		again, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		for _, odd := range found {
			if odd.Kind == DuplicateKey && strings.Count(odd.Pointer, "/") == 1 && len(again) >= len(text) &&
				!strings.ContainsAny(string(text), `\<>&`) {
				t.Errorf("%q: %s is said to be twice", text, odd.Pointer)
			}
		}
	})
}
