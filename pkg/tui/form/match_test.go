package form

import (
	"encoding/json"
	"testing"

	"toolx/pkg/jsonschema"
)

// TestAlternative: a value that is filled in finds its alternative by constants, then
// by what is required, then by names, then by types.
func TestAlternative(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"v":{"anyOf":[
		{"title":"circle","type":"object","required":["kind","r"],"properties":{"kind":{"const":"circle"},"r":{"type":"number"}}},
		{"title":"box","type":"object","required":["kind"],"properties":{"kind":{"enum":["box"]},"w":{"type":"number"},"r":{"type":"number"}}},
		{"title":"free","type":"object","properties":{"w":{"type":"string"}}},
		{"title":"numbers","type":"array","items":{"type":"number"}},
		{"title":"texts","type":"array","items":{"type":"string"}},
		{"title":"whole","type":"integer"},
		{"title":"word","enum":["on","off"]},
		{"title":"fraction","type":"number"},
		{"title":"text","type":"string"}]}}}`)
	v := f.root.children[0]
	for value, want := range map[string]string{
		`{"kind":"circle","r":1}`:       "circle",
		`{"kind":"box","r":1,"more":1}`: "box",
		`{"kind":"circle"}`:             "circle",
		`{"w":"x"}`:                     "free",
		`{}`:                            "free",
		`[1,2]`:                         "numbers",
		`["a"]`:                         "texts",
		`[]`:                            "numbers",
		`3`:                             "whole",
		`3.5`:                           "fraction",
		`"off"`:                         "word",
		`"other"`:                       "text",
	} {
		v.put(json.RawMessage(value))
		if v.alternative < 0 || v.shape.Alternatives[v.alternative].Label != want {
			t.Errorf("%s is %d, want %s", value, v.alternative, want)
		}
	}
	if v.put(json.RawMessage(`true`)); v.kind != jsonschema.ShapeJSON || v.text() != "true" {
		t.Errorf("true is %s %q", v.kind, v.text())
	}
}
