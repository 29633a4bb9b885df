package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/jsonschema"
)

const (
	cosmetic   = jsonschema.Cosmetic
	compatible = jsonschema.Compatible
	breaking   = jsonschema.Breaking
)

// mutation is one kind of change, and the worst effect that it must have.
type mutation struct {
	name          string
	before, after string
	want          jsonschema.Effect
}

// schemaChange is a change of a property's schema, and its effect for callers and for readers.
type schemaChange struct {
	name          string
	before, after string
	input, output jsonschema.Effect
}

func schemaChanges() []schemaChange {
	changes := []schemaChange{
		{"enum value removed", `{"enum":["a","b"]}`, `{"enum":["a"]}`, breaking, compatible},
		{"enum value added", `{"enum":["a"]}`, `{"enum":["a","b"]}`, compatible, breaking},
		{"enum values exchanged", `{"enum":["a","b"]}`, `{"enum":["b","a"]}`, cosmetic, cosmetic},
		{"enum begins", `{"type":"string"}`, `{"type":"string","enum":["a"]}`, breaking, compatible},
		{"enum ends", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, compatible, breaking},
		{"const changes", `{"const":"a"}`, `{"const":"b"}`, breaking, breaking},
		{"type narrows", `{"type":["string","null"]}`, `{"type":"string"}`, breaking, compatible},
		{"type widens", `{"type":"string"}`, `{"type":["string","null"]}`, compatible, breaking},
		{"integer to number", `{"type":"integer"}`, `{"type":"number"}`, compatible, breaking},
		{"number to integer", `{"type":"number"}`, `{"type":"integer"}`, breaking, compatible},
		{"another type", `{"type":"string"}`, `{"type":"integer"}`, breaking, breaking},
		{"type begins", `{}`, `{"type":"string"}`, breaking, compatible},
		{"type ends", `{"type":"string"}`, `{}`, compatible, breaking},
		{"schema false", `{}`, `false`, breaking, compatible},
		{"schema no longer false", `false`, `{}`, compatible, breaking},
		{"description", `{"description":"A."}`, `{"description":"B."}`, cosmetic, cosmetic},
		{"description begins", `{}`, `{"description":"B."}`, cosmetic, cosmetic},
		{"description ends", `{"description":"A."}`, `{}`, cosmetic, cosmetic},
		{"title", `{"title":"A"}`, `{"title":"B"}`, cosmetic, cosmetic},
		{"examples", `{"examples":[1]}`, `{"examples":[2]}`, cosmetic, cosmetic},
		{"comment", `{"$comment":"a"}`, `{"$comment":"b"}`, cosmetic, cosmetic},
		{"deprecated", `{}`, `{"deprecated":true}`, cosmetic, cosmetic},
		{"unknown keyword", `{"x-order":1}`, `{"x-order":2}`, cosmetic, cosmetic},
		{"default", `{"default":1}`, `{"default":2}`, compatible, compatible},
		{"element type", `{"items":{"type":"string"}}`, `{"items":{"type":"integer"}}`, breaking, breaking},
		{"element narrows", `{"items":{}}`, `{"items":{"type":"integer"}}`, breaking, compatible},
		{"tuple", `{"items":[{"type":"string"}]}`, `{"items":[{"type":"integer"}]}`, breaking, breaking},
		{"prefixItems begins", `{}`, `{"prefixItems":[{"type":"string"}]}`, breaking, compatible},
		{"alternative removed", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"}]}`, breaking, compatible},
		{"alternative added", `{"oneOf":[{"type":"string"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`, compatible, breaking},
		{"null in an alternative", `{"type":"string"}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, compatible, breaking},
		{"alternatives as types", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":["string","null"]}`, cosmetic, cosmetic},
		{"alternative changes", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, breaking, breaking},
		{"nested parameter removed", `{"properties":{"x":{},"y":{}}}`, `{"properties":{"x":{}}}`, breaking, breaking},
		{"nested parameter added", `{"properties":{"x":{}}}`, `{"properties":{"x":{},"y":{}}}`, compatible, compatible},
		{"nested parameter required", `{"properties":{"x":{}}}`, `{"properties":{"x":{}},"required":["x"]}`, breaking, compatible},
		{"nested parameter optional", `{"properties":{"x":{}},"required":["x"]}`, `{"properties":{"x":{}}}`, compatible, breaking},
		{"nested required and new", `{"properties":{}}`, `{"properties":{"x":{}},"required":["x"]}`, breaking, compatible},
		{"object closes", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, breaking, compatible},
		{"object opens", `{"type":"object","additionalProperties":false}`, `{"type":"object"}`, compatible, breaking},
		{"map values", `{"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"integer"}}`, breaking, breaking},
		{"second part", `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"c"}]}`, breaking, breaking},
		{"part begins", `{}`, `{"allOf":[{"type":"string"}]}`, breaking, compatible},
		{"nullable ends", `{"type":"string","nullable":true}`, `{"type":"string"}`, breaking, compatible},
		{"nullable begins", `{"type":"string"}`, `{"type":"string","nullable":true}`, compatible, breaking},
		{"alternatives end", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":"string"}`, breaking, compatible},
		{"alternatives instead", `{"type":"string"}`, `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, breaking, breaking},
		{"nothing but a reference", `{"$ref":"#/$defs/a"}`, `{"$ref":"#/$defs/b"}`, cosmetic, cosmetic},
		{"unique elements", `{"type":"array"}`, `{"type":"array","uniqueItems":true}`, breaking, compatible},
		{"any elements", `{"type":"array","uniqueItems":true}`, `{"type":"array"}`, compatible, compatible},
		{"content type", `{"contentMediaType":"text/csv"}`, `{"contentMediaType":"text/html"}`, breaking, breaking},
		{"content encoding", `{"contentEncoding":"base64"}`, `{"contentEncoding":"base32"}`, breaking, breaking},
	}
	for _, keyword := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"} {
		changes = append(changes,
			schemaChange{keyword + " rises", `{"` + keyword + `":1}`, `{"` + keyword + `":2}`, breaking, compatible},
			schemaChange{keyword + " falls", `{"` + keyword + `":2}`, `{"` + keyword + `":1}`, compatible, compatible},
			schemaChange{keyword + " begins", `{}`, `{"` + keyword + `":1}`, breaking, compatible})
	}
	for _, keyword := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"} {
		changes = append(changes,
			schemaChange{keyword + " falls", `{"` + keyword + `":2}`, `{"` + keyword + `":1}`, breaking, compatible},
			schemaChange{keyword + " rises", `{"` + keyword + `":1}`, `{"` + keyword + `":2}`, compatible, compatible},
			schemaChange{keyword + " ends", `{"` + keyword + `":1}`, `{}`, compatible, compatible})
	}
	for keyword, values := range map[string][2]string{
		"pattern": {`"a"`, `"b"`}, "format": {`"email"`, `"uri"`}, "multipleOf": {"2", "3"},
		"contains": {`{"type":"string"}`, `{"type":"null"}`}, "minContains": {"2", "3"}, "maxContains": {"3", "2"},
		"propertyNames": {`{"pattern":"a"}`, `{"pattern":"b"}`}, "dependentRequired": {`{"a":["b"]}`, `{"a":["c"]}`},
	} {
		a, b := `{"`+keyword+`":`+values[0]+`}`, `{"`+keyword+`":`+values[1]+`}`
		changes = append(changes, schemaChange{keyword + " begins", `{}`, a, breaking, compatible},
			schemaChange{keyword + " ends", a, `{}`, compatible, compatible},
			schemaChange{keyword + " changes", a, b, breaking, compatible})
	}
	for _, keyword := range []string{
		"not", "if", "then", "else", "patternProperties", "dependentSchemas", "dependencies", "additionalItems",
		"unevaluatedItems", "unevaluatedProperties",
	} {
		a, b := `{"`+keyword+`":{"a":{"type":"string"}}}`, `{"`+keyword+`":{"a":{"type":"null"}}}`
		changes = append(changes, schemaChange{keyword + " begins", `{}`, a, breaking, compatible},
			schemaChange{keyword + " ends", a, `{}`, compatible, breaking},
			schemaChange{keyword + " changes", a, b, breaking, breaking})
	}
	return changes
}

// snapshotOf makes a snapshot of JSON, as a file has it.
func snapshotOf(t *testing.T, text string) *Snapshot {
	t.Helper()
	var set Set
	if err := json.Unmarshal([]byte(`{"x":`+text+`}`), &set); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return set["x"]
}

// mutations returns each kind of change once.
func mutations() []mutation {
	tool := func(members string) string { return `{"tools":{"f":{"name":"f"` + members + `}}}` }
	var all []mutation
	add := func(name, before, after string, want jsonschema.Effect) {
		all = append(all, mutation{name, before, after, want})
	}
	for _, c := range schemaChanges() {
		schema := func(member, property string) string {
			return tool(`,"` + member + `":{"type":"object","properties":{"p":` + property + `}}`)
		}
		add("input: "+c.name, schema("inputSchema", c.before), schema("inputSchema", c.after), c.input)
		add("output: "+c.name, schema("outputSchema", c.before), schema("outputSchema", c.after), c.output)
	}
	object := func(member, rest string) string { return tool(`,"` + member + `":{"type":"object"` + rest + `}`) }
	for member, effects := range map[string][]jsonschema.Effect{
		"inputSchema":  {breaking, compatible, breaking, compatible, breaking, compatible},
		"outputSchema": {breaking, compatible, compatible, breaking, compatible, compatible},
	} {
		p := `,"properties":{"p":{}}`
		add(member+": property removed", object(member, p), object(member, `,"properties":{}`), effects[0])
		add(member+": property added", object(member, `,"properties":{}`), object(member, p), effects[1])
		add(member+": property required", object(member, p), object(member, p+`,"required":["p"]`), effects[2])
		add(member+": property optional", object(member, p+`,"required":["p"]`), object(member, p), effects[3])
		add(member+": new and required", object(member, ``), object(member, p+`,"required":["p"]`), effects[4])
		add(member+": closes", object(member, p), object(member, p+`,"additionalProperties":false`), effects[5])
		add(member+": reference moves", tool(`,"`+member+`":{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`),
			tool(`,"`+member+`":{"$ref":"#/$defs/b","$defs":{"b":{"type":"object"}}}`), cosmetic)
	}
	add("outputSchema begins", tool(""), object("outputSchema", ""), compatible)
	add("outputSchema ends", object("outputSchema", ""), tool(""), breaking)
	for hint, promise := range map[string]string{
		"readOnlyHint": "true", "idempotentHint": "true", "destructiveHint": "false", "openWorldHint": "false",
	} {
		other := map[string]string{"true": "false", "false": "true"}[promise]
		with := func(value string) string { return tool(`,"annotations":{"` + hint + `":` + value + `}`) }
		add(hint+" is withdrawn", with(promise), with(other), breaking)
		add(hint+" is gone", with(promise), tool(""), breaking)
		add(hint+" is promised", tool(""), with(promise), cosmetic)
		add(hint+" says the default", tool(""), with(other), cosmetic)
	}
	add("annotations: title", tool(`,"annotations":{"title":"a"}`), tool(`,"annotations":{"title":"b"}`), cosmetic)
	for _, member := range []string{"title", "description"} {
		add("tool: "+member, tool(`,"`+member+`":"a"`), tool(`,"`+member+`":"b"`), cosmetic)
		add("tool: "+member+" begins", tool(""), tool(`,"`+member+`":"b"`), cosmetic)
	}
	add("tool: icons", tool(`,"icons":[1]`), tool(`,"icons":[2]`), cosmetic)
	add("tool: _meta", tool(`,"_meta":{"a":1}`), tool(`,"_meta":{"a":2}`), cosmetic)
	add("tool: task required", tool(""), tool(`,"execution":{"taskSupport":"required"}`), breaking)
	add("tool: task possible", tool(""), tool(`,"execution":{"taskSupport":"optional"}`), compatible)
	add("tool: task forbidden", tool(""), tool(`,"execution":{"taskSupport":"forbidden"}`), cosmetic)
	add("tool: no task", tool(`,"execution":{"taskSupport":"optional"}`), tool(""), breaking)
	return append(all, otherMutations()...)
}

// otherMutations are changes of other things than a tool's definition.
func otherMutations() (all []mutation) {
	add := func(name, before, after string, want jsonschema.Effect) {
		all = append(all, mutation{name, before, after, want})
	}
	for folder, key := range map[string]string{
		"tools": "name", "prompts": "name", "resources": "uri", "templates": "uriTemplate",
	} {
		one, none := `{"`+folder+`":{"a:b":{"`+key+`":"a:b"}}}`, `{"`+folder+`":{}}`
		add(folder+": one is removed", one, none, breaking)
		add(folder+": one is new", none, one, compatible)
	}
	prompt := func(arguments string) string { return `{"prompts":{"p":{"name":"p","arguments":[` + arguments + `]}}}` }
	add("prompt: argument required", prompt(`{"name":"a"}`), prompt(`{"name":"a","required":true}`), breaking)
	add("prompt: argument optional", prompt(`{"name":"a","required":true}`), prompt(`{"name":"a"}`), compatible)
	add("prompt: argument removed", prompt(`{"name":"a"}`), prompt(``), breaking)
	add("prompt: argument new", prompt(``), prompt(`{"name":"a"}`), compatible)
	add("prompt: argument new, required", prompt(``), prompt(`{"name":"a","required":true}`), breaking)
	add("prompt: argument's description", prompt(`{"name":"a"}`), prompt(`{"name":"a","description":"x"}`), cosmetic)
	add("prompt: description", `{"prompts":{"p":{"name":"p"}}}`, `{"prompts":{"p":{"name":"p","description":"x"}}}`, cosmetic)
	for folder, key := range map[string]string{"resources": "uri", "templates": "uriTemplate"} {
		one := func(rest string) string { return `{"` + folder + `":{"a":{"` + key + `":"a"` + rest + `}}}` }
		add(folder+": MIME type", one(`,"mimeType":"text/plain"`), one(`,"mimeType":"text/html"`), breaking)
		add(folder+": MIME type begins", one(``), one(`,"mimeType":"text/html"`), compatible)
		add(folder+": description", one(`,"description":"a"`), one(`,"description":"b"`), cosmetic)
		add(folder+": name", one(`,"name":"a"`), one(`,"name":"b"`), cosmetic)
		add(folder+": audience", one(`,"annotations":{"audience":["user"]}`), one(`,"annotations":{"audience":["assistant"]}`), cosmetic)
	}
	server := func(members string) string { return `{"capabilities":{},` + members + `}` }
	add("server's name", server(`"server":{"name":"a","version":"1"}`), server(`"server":{"name":"b","version":"1"}`), cosmetic)
	add("server's version", server(`"server":{"name":"a","version":"1"}`), server(`"server":{"name":"a","version":"2"}`), cosmetic)
	add("instructions", server(`"instructions":"a"`), server(`"instructions":"b"`), cosmetic)
	add("protocol rises", server(`"protocol":"2025-03-26"`), server(`"protocol":"2025-11-25"`), compatible)
	add("protocol falls", server(`"protocol":"2025-11-25"`), server(`"protocol":"2025-03-26"`), breaking)
	capabilities := func(text string) string { return `{"capabilities":` + text + `}` }
	add("capability removed", capabilities(`{"prompts":{}}`), capabilities(`{}`), breaking)
	add("capability new", capabilities(`{}`), capabilities(`{"logging":{}}`), compatible)
	add("capability's part removed", capabilities(`{"resources":{"subscribe":true}}`), capabilities(`{"resources":{}}`), breaking)
	add("capability's part false", capabilities(`{"resources":{"subscribe":true}}`), capabilities(`{"resources":{"subscribe":false}}`), breaking)
	add("capability's part new", capabilities(`{"tools":{}}`), capabilities(`{"tools":{"listChanged":true}}`), compatible)
	add("extension removed", capabilities(`{"extensions":{"x/ui":{}}}`), capabilities(`{"extensions":{}}`), breaking)
	add("extension's setting", capabilities(`{"extensions":{"x":{"n":1}}}`), capabilities(`{"extensions":{"x":{"n":2}}}`), compatible)
	return all
}

// TestMutations classifies each kind of change: by its worst effect, and as more than nothing.
func TestMutations(t *testing.T) {
	all := mutations()
	if len(all) < 200 {
		t.Errorf("%d mutations", len(all))
	}
	for _, m := range all {
		before, after := snapshotOf(t, m.before), snapshotOf(t, m.after)
		changes := Compare(before, after)
		worst := func(a, b Change) int { return int(a.Effect) - int(b.Effect) }
		if len(changes) == 0 || slices.MaxFunc(changes, worst).Effect != m.want {
			t.Errorf("%s: %s, want %s\n%s\n%s", m.name, shown(changes), m.want, m.before, m.after)
		}
		for _, same := range []*Snapshot{before, after} {
			if changes := Compare(same, same); len(changes) > 0 {
				t.Errorf("%s: the same differs: %s", m.name, shown(changes))
			}
		}
	}
	t.Logf("%d mutations", len(all))
}

// TestNoMutations compares definitions that differ in how they are written, or in what is no part of a contract.
func TestNoMutations(t *testing.T) {
	tool := func(schema string) string { return `{"tools":{"f":{"name":"f","inputSchema":` + schema + `}}}` }
	resource := func(rest string) string { return `{"resources":{"a":{"uri":"a"` + rest + `}}}` }
	for name, pair := range map[string][2]string{
		"order of members":  {tool(`{"type":"object","title":"a"}`), tool(`{"title":"a","type":"object"}`)},
		"order of required": {tool(`{"required":["a","b"]}`), tool(`{"required":["b","a"]}`)},
		"order of types":    {tool(`{"type":["string","null"]}`), tool(`{"type":["null","string"]}`)},
		"size":              {resource(`,"size":1`), resource(`,"size":2`)},
		"last change":       {resource(`,"annotations":{"lastModified":"a"}`), resource(`,"annotations":{"lastModified":"b"}`)},
		"first change":      {resource(``), resource(`,"annotations":{"lastModified":"b"}`)},
		"unknown list":      {`{"tools":{}}`, resource(``)},
	} {
		changes := Compare(snapshotOf(t, pair[0]), snapshotOf(t, pair[1]))
		for _, c := range changes {
			if c.Effect != cosmetic || c.Text != "is written differently" {
				t.Errorf("%s: %s", name, shown(changes))
			}
		}
	}
}

func shown(changes []Change) string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = fmt.Sprintf("%s %s %s %s: %s", c.Effect, c.Kind, c.Name, c.Pointer, c.Text)
	}
	return strings.Join(lines, "; ")
}
