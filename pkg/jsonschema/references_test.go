package jsonschema

import (
	"strings"
	"testing"
)

// TestLocalReferences proves that every way to name a schema of the same document
// becomes a pointer, and that nothing else changes.
func TestLocalReferences(t *testing.T) {
	const level = `"$defs": {"lvl": {"$anchor": "level", "type": "integer"}}`
	for name, test := range map[string]struct{ schema, want string }{
		"pointer":  {`{"properties": {"a": {"$ref": "#/$defs/lvl"}}, ` + level + `}`, ""},
		"the root": {`{"properties": {"a": {"$ref": "#"}}}`, ""},
		"anchor":   {`{"properties": {"a": {"$ref": "#level"}}, ` + level + `}`, "#level → #/$defs/lvl"},
		"unknown":  {`{"properties": {"a": {"$ref": "#nowhere"}}, ` + level + `}`, ""},
		"unknown, in an embedded schema": {
			`{"not": {"$ref": "lvl#nowhere"}, "$defs": {"x": {"$id": "lvl"}}}`, "lvl#nowhere → #nowhere",
		},
		"elsewhere": {`{"properties": {"a": {"$ref": "https://example.com/a"}}}`, ""},
		"id": {
			`{"properties": {"a": {"$ref": "lvl"}}, "$defs": {"x": {"$id": "lvl", "type": "integer"}}}`, "lvl → #/$defs/x",
		},
		"id, counted from the root's": {
			`{"$id": "https://example.com/s/root", "properties": {"a": {"$ref": "lvl"}}, "$defs": {"x": {"$id": "https://example.com/s/lvl"}}}`,
			"lvl → #/$defs/x",
		},
		"the whole address": {
			`{"$id": "https://example.com/root", "properties": {"a": {"$ref": "https://example.com/root#/$defs/x"}}, "$defs": {"x": {}}}`,
			"https://example.com/root#/$defs/x → #/$defs/x",
		},
		"inside an embedded schema": {
			`{"$defs": {"x": {"$id": "lvl", "$defs": {"y/z": {}}, "not": {"$ref": "#/$defs/y~1z"}}}}`, "#/$defs/y~1z → #/$defs/x/$defs/y~1z",
		},
		"anchors of two schemas": {
			`{"$defs": {"x": {"$id": "a", "$anchor": "n", "not": {"$ref": "#n"}}, "y": {"$id": "b", "$anchor": "n"}}}`, "#n → #/$defs/x",
		},
		"draft 7's anchor": {
			`{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": "#n"}, "definitions": {"x": {"$id": "#n"}}}`,
			"#n → #/definitions/x",
		},
		"draft 4's id": {
			`{"$schema": "http://json-schema.org/draft-04/schema#", "items": {"$ref": "n"}, "definitions": {"x": {"id": "n"}}}`,
			"n → #/definitions/x",
		},
		"a property that is called id": {`{"properties": {"id": {"$ref": "n"}, "n": {"properties": {"id": "n"}}}}`, ""},
		"dynamic": {
			`{"$dynamicAnchor": "n", "$defs": {"x": {"$id": "x", "$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}}}`, "#n → #",
		},
		"dynamic, of one schema": {
			`{"$defs": {"x": {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}}}`, "#n → #/$defs/x",
		},
		"recursive": {
			`{"$recursiveAnchor": true, "$defs": {"x": {"$id": "x", "$recursiveAnchor": true, "items": {"$recursiveRef": "#"}}}}`, "",
		},
		"recursive, of one schema": {
			`{"$defs": {"x": {"$id": "x", "items": {"$recursiveRef": "#"}}}}`, "# → #/$defs/x",
		},
		"data":                    {`{"enum": [{"$ref": "#level"}], "properties": {"$ref": {"const": {"$ref": "#level"}}}, ` + level + `}`, ""},
		"a place for anything":    {`{"not": {"$ref": "#/x"}, "x": {"not": {"$ref": "#level"}}, ` + level + `}`, "#level → #/$defs/lvl"},
		"signs":                   {`{"not": {"$ref": "#n"}, "$defs": {"a b%/": {"$anchor": "n"}}}`, "#n → #/$defs/a%20b%25~1"},
		"in a list":               {`{"anyOf": [true, {"$ref": "#level"}], ` + level + `}`, "#level → #/$defs/lvl"},
		"no schema":               {`["$ref"]`, ""},
		"no JSON":                 {`{"$ref"`, ""},
		"an endless chain of ids": {`{"$id": "` + strings.Repeat("a", 3000) + `", "not": {"$ref": "#/x"}}`, ""},
	} {
		want := test.schema
		if from, to, changed := strings.Cut(test.want, " → "); changed {
			want = strings.Replace(want, `ef": "`+from+`"`, `ef": "`+to+`"`, 1)
		}
		got := string(localReferences([]byte(test.schema)))
		if strip(got) != strip(want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if test.want == "" && got != test.schema {
			t.Errorf("%s: bytes changed: %s", name, got)
		}
	}
}

func strip(text string) string { return strings.ReplaceAll(text, " ", "") }
