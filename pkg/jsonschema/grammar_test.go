package jsonschema

import (
	"strings"
	"testing"
)

// TestGrammarLimits names what llama.cpp cannot make a grammar of, and nothing of what it can.
func TestGrammarLimits(t *testing.T) {
	union := func(levels int) string {
		schema := `{"type":"string"}`
		for range levels {
			schema = `{"oneOf":[` + schema + `,{"type":"integer"}]}`
		}
		return schema
	}
	for _, test := range []struct{ name, property, want string }{
		{"look-ahead", `{"pattern":"^(?=.*x).+$"}`, "a pattern with a look-ahead!"},
		{"look-ahead in items", `{"type":"array","items":{"pattern":"^(?!\\\\.)[a-z]+$"}}`, "a pattern with a look-ahead!"},
		{"look-behind", `{"pattern":"^.+(?<!x)$"}`, "a pattern with a look-behind!"},
		{"digits", `{"pattern":"^\\d{4}$"}`, "a pattern with \\d!"},
		{"words in a class", `{"pattern":"^[\\w.]+$"}`, "a pattern with \\w!"},
		{"back-reference", `{"pattern":"^(a)\\1$"}`, "a pattern with a back-reference!"},
		{"part of a text", `{"pattern":"[a-z]+"}`, "a pattern without ^ and $ around it!"},
		{"ends in a dollar sign", `{"pattern":"^a\\$"}`, "a pattern without ^ and $ around it!"},
		{"plain pattern", `{"pattern":"^(?:[a-z]{2}\\.|\\\\d)+$"}`, ""},
		{"length", `{"maxLength":10000,"minLength":2000}`, "maxLength 10000, minLength 2000"},
		{"items", `{"type":"array","maxItems":1e6}`, "maxItems 1000000"},
		{"small bounds", `{"maxLength":1999,"maxItems":1000}`, ""},
		{"a bound that is no number", `{"maxLength":"5000"}`, ""},
		{"alternatives", union(4), ""},
		{"deep alternatives, told once", union(7), "oneOf below 4 others"},
		{"optional values", strings.Repeat(`{"anyOf":[{"type":"null"},`, 9) + `{}` + strings.Repeat("]}", 9), ""},
		{"a property of that name", `{"properties":{"pattern":{"description":"a pattern such as \\d"}}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			tree := Parse([]byte(`{"type":"object","properties":{"a":` + test.property + `}}`)).Tree("")
			for _, limit := range tree.GrammarLimits() {
				text := limit.Text
				if limit.Always {
					text += "!"
				}
				if limit.At.PropertyPath() == "" || limit.At.Get(limit.Keyword) == nil {
					t.Errorf("%s at %s", text, limit.At.Pointer())
				}
				got = append(got, text)
			}
			if joined := strings.Join(got, ", "); joined != test.want {
				t.Errorf("%q, want %q", joined, test.want)
			}
		})
	}
}
