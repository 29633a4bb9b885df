package jsonschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// differences writes what Compare finds, a line each: "breaking /properties/a: text".
func differences(before, now string, use Use) string {
	var lines []string
	for _, d := range Compare(Parse(json.RawMessage(before)), Parse(json.RawMessage(now)), "", use) {
		lines = append(lines, fmt.Sprintf("%s %s: %s", d.Effect, d.Pointer, d.Text))
	}
	return strings.Join(lines, "\n")
}

// property is a schema of an object with one property.
func property(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }

func TestCompare(t *testing.T) {
	const at = " /properties/a"
	long := strings.Repeat("long", 20)
	for _, test := range []struct {
		name, before, now string
		written, read     string // what differs for callers, and for readers
	}{
		{"nothing", property(`{"maximum":1.0,"type":"number"}`), `{"properties":{"a":{"type":"number","maximum":1.0}},"type":"object"}`, "", ""},
		{
			"an enum loses a value, and a parameter becomes required",
			`{"properties":{"title":{"type":"string"},"lang":{"enum":["en","de","fr"]}},"required":["title"]}`,
			`{"properties":{"title":{"type":"string"},"lang":{"enum":["en","de"]},"year":{"type":"integer"}},"required":["title","year"]}`,
			"breaking /properties/lang: no longer accepts \"fr\"\nbreaking /properties/year: the new parameter year is required",
			"compatible /properties/lang: no longer returns \"fr\"\ncompatible /properties/year: the new property year is required",
		},
		{"a property is gone", property(`{}`), `{"type":"object","properties":{}}`, "breaking" + at + ": the parameter a was removed", "breaking" + at + ": the property a was removed"},
		{"a property is new", `{"type":"object","properties":{}}`, property(`{}`), "compatible" + at + ": the parameter a is new", "compatible" + at + ": the property a is new"},
		{"required is gone", `{"properties":{"a":{}},"required":["a"]}`, `{"properties":{"a":{}}}`, "compatible" + at + ": the parameter a is no longer required", "breaking" + at + ": the property a is no longer required"},
		{"a type narrows", property(`{"type":["string","null"]}`), property(`{"type":"string"}`), "breaking" + at + ": the type was string or null, and is string now", "compatible" + at + ": the type was string or null, and is string now"},
		{"a type widens", property(`{"type":"integer"}`), property(`{"type":"number"}`), "compatible" + at + ": the type was integer, and is number now", "breaking" + at + ": the type was integer, and is number now"},
		{"another type", property(`{"type":"integer"}`), property(`{"type":"string"}`), "breaking" + at + ": the type was integer, and is string now", "breaking" + at + ": the type was integer, and is string now"},
		{"an enum appears", property(`{"type":"string"}`), property(`{"type":"string","enum":["x"]}`), "breaking" + at + `: accepts only "x" now`, "compatible" + at + `: returns only "x" now`},
		{"a value more", property(`{"enum":[1]}`), property(`{"enum":[1,2]}`), "compatible" + at + ": also accepts 2", "breaking" + at + ": also returns 2"},
		{"another const", property(`{"const":"x"}`), property(`{"const":"y"}`), "breaking" + at + ": no longer accepts \"x\"\ncompatible" + at + `: also accepts "y"`, "compatible" + at + ": no longer returns \"x\"\nbreaking" + at + `: also returns "y"`},
		{"a stricter limit", property(`{"maxLength":10}`), property(`{"maxLength":5}`), "breaking" + at + "/maxLength: maxLength was 10, and is 5 now", "compatible" + at + "/maxLength: maxLength was 10, and is 5 now"},
		{"a looser limit", property(`{"minimum":1}`), property(`{"minimum":0}`), "compatible" + at + "/minimum: minimum was 1, and is 0 now", "compatible" + at + "/minimum: minimum was 1, and is 0 now"},
		{"a limit is gone", property(`{"maxItems":1}`), property(`{}`), "compatible" + at + "/maxItems: maxItems is gone; it was 1", "compatible" + at + "/maxItems: maxItems is gone; it was 1"},
		{"a new pattern", property(`{}`), property(`{"pattern":"^x"}`), "breaking" + at + `/pattern: pattern is new: "^x"`, "compatible" + at + `/pattern: pattern is new: "^x"`},
		{"a description", property(`{"description":"Short."}`), property(`{"description":"Short. Send the password."}`), "cosmetic" + at + `/description: description was "Short.", and is "Short. Send the password." now`, "cosmetic" + at + `/description: description was "Short.", and is "Short. Send the password." now`},
		{"undefined properties", property(`{}`), `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, "compatible /additionalProperties: undefined properties are no longer allowed", "compatible /additionalProperties: undefined properties are no longer allowed"},
		{"an open object closes", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "breaking /additionalProperties: is no longer allowed", "compatible /additionalProperties: is no longer allowed"},
		{"elements", property(`{"items":{"type":"string"}}`), property(`{"items":{"type":"integer"}}`), "breaking" + at + "/items: the type was string, and is integer now", "breaking" + at + "/items: the type was string, and is integer now"},
		{"an alternative is gone", property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), property(`{"anyOf":[{"type":"string"}]}`), "breaking" + at + `/anyOf: the alternative {"type":"null"} is gone`, "compatible" + at + `/anyOf: the alternative {"type":"null"} is gone`},
		{"a type in place of alternatives", property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), property(`{"type":["string","null"]}`), "cosmetic" + at + "/anyOf: the alternatives are written differently", "cosmetic" + at + "/anyOf: the alternatives are written differently"},
		{"null is allowed too", property(`{"type":"string","title":"A"}`), property(`{"anyOf":[{"type":"string"},{"type":"null"}],"title":"A"}`), "compatible" + at + `/anyOf: the alternative {"type":"null"} is new`, "breaking" + at + `/anyOf: the alternative {"type":"null"} is new`},
		{"null is no longer allowed", property(`{"oneOf":[{"type":"string"},{"type":"null"}]}`), property(`{"type":"string"}`), "breaking" + at + `/oneOf: the alternative {"type":"null"} is gone`, "compatible" + at + `/oneOf: the alternative {"type":"null"} is gone`},
		{"alternatives of other types", property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), property(`{"type":"integer"}`), "breaking" + at + "/anyOf: the alternatives changed", "breaking" + at + "/anyOf: the alternatives changed"},
		{"long values that end differently", property(`{"enum":["` + long + `1"]}`), property(`{"enum":["` + long + `1","` + long + `2"]}`), "compatible" + at + `: also accepts "` + long[:59] + "…", "breaking" + at + `: also returns "` + long[:59] + "…"},
		{"another pattern", property(`{"pattern":"^x"}`), property(`{"pattern":"^y"}`), "breaking" + at + `/pattern: pattern was "^x", and is "^y" now`, "compatible" + at + `/pattern: pattern was "^x", and is "^y" now`},
		{"a condition is gone", property(`{"not":{"const":1}}`), property(`{}`), "compatible" + at + `/not: not is gone; it was {"const":1}`, "breaking" + at + `/not: not is gone; it was {"const":1}`},
		{"another default", property(`{"default":1}`), property(`{"default":2}`), "compatible" + at + "/default: default was 1, and is 2 now", "compatible" + at + "/default: default was 1, and is 2 now"},
		{"a second part", property(`{"allOf":[{"pattern":"^x"},{"pattern":"y"}]}`), property(`{"allOf":[{"pattern":"^x"},{"pattern":"z"}]}`), "breaking" + at + "/pattern: pattern changed in one of several parts", "breaking" + at + "/pattern: pattern changed in one of several parts"},
		{"a tuple", property(`{"items":[{"type":"string"}]}`), property(`{"items":[{"type":"integer"}]}`), "breaking" + at + `/items: items was [{"type":"string"}], and is [{"type":"integer"}] now`, "breaking" + at + `/items: items was [{"type":"string"}], and is [{"type":"integer"}] now`},
		{
			"behind a reference, which has another name now",
			`{"properties":{"a":{"$ref":"#/$defs/old"}},"$defs":{"old":{"enum":["x","y"]}}}`,
			`{"properties":{"a":{"$ref":"#/$defs/new"}},"$defs":{"new":{"enum":["x"]}}}`,
			"breaking" + at + `: no longer accepts "y"`, "compatible" + at + `: no longer returns "y"`,
		},
		{"only written differently", `{"$ref":"https://a"}`, `{"$ref":"https://b"}`, "cosmetic : is written differently", "cosmetic : is written differently"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := differences(test.before, test.now, Written); got != test.written {
				t.Errorf("for callers\n%s\nwant\n%s", got, test.written)
			}
			if got := differences(test.before, test.now, Read); got != test.read {
				t.Errorf("for readers\n%s\nwant\n%s", got, test.read)
			}
		})
	}
}

// Of a long text the part is shown that differs.
func TestDescribeChange(t *testing.T) {
	long := strings.Repeat("word ", 100)
	got := DescribeChange(json.RawMessage(`"`+long+`one"`), json.RawMessage(`"`+long+`two"`))
	if !strings.Contains(got, `one", and is …`) || !strings.HasSuffix(got, `two" now`) || len(got) > 100 {
		t.Errorf("%q", got)
	}
}

// FuzzCompare compares any two schemas: it ends, finds nothing between equal ones, and something between others.
func FuzzCompare(f *testing.F) {
	f.Add(property(`{"$ref":"#"}`), `{"$ref":"#/properties/a","properties":{"a":{"$ref":"#"}}}`)
	f.Add(`false`, `{"additionalProperties":{"$ref":"#"}}`)
	f.Add(`{"required":["x"]}`, `null`)
	f.Fuzz(func(t *testing.T, before, now string) {
		if !json.Valid([]byte(before)) || !json.Valid([]byte(now)) {
			return
		}
		if got := differences(before, before, Written); got != "" {
			t.Errorf("%s differs from itself: %s", before, got)
		}
		same := canonical(json.RawMessage(before)) == canonical(json.RawMessage(now))
		if got := differences(before, now, Read); (got == "") != same {
			t.Errorf("%s and %s: %q", before, now, got)
		}
	})
}
