package convert

import (
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// tidier corrects invalid and outdated schemas.
type tidier struct{ *report }

// tidy corrects invalid JSON Schema, and old drafts that providers reject.
func (t tidier) tidy(o *object, at place) {
	t.dropMalformed(o, at)
	t.dropRepeated(o, at)
	t.exclusiveBounds(o, at)
	t.repairTypes(o, at)
	if !at.profile.openAPI {
		t.smallTypes(o, at)
	}
}

func (t tidier) dropMalformed(o *object, at place) {
	for _, m := range slices.Clone(o.Members()) {
		if wellFormed(m.Name, m.Node) {
			continue
		}
		severity := Lossy
		describes := isAnnotation(m.Name) && m.Name != "description"
		if describes || m.Name != "enum" && slices.Contains([]string{"null", "[]", "{}", "false"},
			compact(m.Node)) {
			severity = Info
		}
		o.Drop(m.Name)
		t.recordLoss(at, severity, "dropped", "malformed "+m.Name)
	}
}

// dropRepeated removes duplicates from lists, which the meta-schema forbids and OpenAI rejects ("has non-unique
// elements").
func (t tidier) dropRepeated(o *object, at place) {
	for _, name := range []string{"required", "enum", "type"} {
		list := o.Get(name).Elements()
		if once := distinct(list); len(once) < len(list) {
			o.Set(name, jsonschema.List(once...))
			t.recordLoss(at, Info, "dropped", "repeated entries of "+name)
		}
	}
}

// exclusiveBounds converts the bounds of draft 4, where exclusiveMinimum is a boolean, to later drafts.
func (t tidier) exclusiveBounds(o *object, at place) {
	for _, bound := range []string{"minimum", "maximum"} {
		exclusive := "exclusive" + strings.ToUpper(bound[:1]) + bound[1:]
		value := o.Get(exclusive)
		if !isBoolean(value) {
			continue
		}
		o.Drop(exclusive)
		if value.Is("true") && o.Has(bound) {
			o.Rename(bound, exclusive)
			t.recordLoss(at, Info, "changed", bound+" to "+exclusive)
		}
	}
}

// repairTypes replaces type names of programming languages with JSON Schema's. Others are an error for providers that
// would reject the whole request.
func (t tidier) repairTypes(o *object, at place) {
	var types []string
	changed := false
	for _, name := range typesOf(o.node) {
		kind, known := typeMeant(name)
		switch {
		case !known && !at.profile.looseTypes:
			t.refuse(at, "%q is not a JSON Schema type", words.Shorten(name, words.MaxGiven))
			return
		case !known:
			kind = name
			t.recordLoss(at, Info, Kept, "type "+words.Shorten(name, words.MaxGiven)+", unknown to JSON Schema,")
		case kind == "":
			o.Drop("type")
			t.recordLoss(at, Info, dropped, "type "+words.Shorten(name, words.MaxGiven)+", which allows any value")
			return
		case kind != name:
			changed = true
			t.recordLoss(at, Info, "changed", "type "+words.Shorten(name, words.MaxGiven)+" to "+kind)
		}
		types = union(types, []string{kind})
	}
	if changed {
		o.Set("type", quoteTypes(types))
	}
}

// typeMeant returns the JSON Schema type for a name; empty for any value.
func typeMeant(name string) (kind string, known bool) {
	if isType(name) {
		return name, true
	}
	kind, known = map[string]string{
		"int": "integer", "long": "integer", "float": "number", "double": "number", "str": "string", "bool": "boolean",
		"dict": "object", "map": "object", "list": "array", "tuple": "array", "none": "null", "any": "",
	}[strings.ToLower(name)]
	return kind, known
}

// smallTypes converts types to lower case, as in all APIs except Google's.
func (t tidier) smallTypes(o *object, at place) {
	if types := typesOf(o.node); !slices.Equal(types, writtenTypes(o.node)) {
		o.Set("type", quoteTypes(types))
		t.recordLoss(at, Info, "changed", "type to lower case")
	}
}

// dropEmpty removes empty members, which Ollama's encoder omits.
func dropEmpty(o *object) {
	for _, name := range []string{"description", "enum", "required"} {
		if value := compact(o.Get(name)); value == `""` || value == "[]" {
			o.Drop(name)
		}
	}
}
