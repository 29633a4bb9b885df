package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// The limits of structured outputs (OpenAI, "Structured model outputs", supported schemas).
const (
	strictProperties = 5000
	strictDepth      = 10
	strictEnums      = 1000
	strictRunes      = 120_000
)

// strict makes objects list and require all of their properties: what was optional may be null. What cannot be listed
// cannot be expressed.
func (f *fitter) strict(o *object, at place) {
	if !at.profile.closed {
		return
	}
	f.standAlone(o, at)
	types := typesOf(o)
	switch {
	case slices.Contains(types, "object"):
		f.closeObject(o, at)
	case slices.Contains(types, "array") && literal(o.value("items")) != "object":
		f.refuse(at, "an array whose items are of any kind cannot be expressed with strict")
	case !o.has("type", "anyOf", "$ref", "enum", "const"):
		f.refuse(at, "a value of any kind cannot be expressed with strict")
	}
}

// standAlone puts a ref with keywords beside it into a union of one. All restrictions but a type were merged with the
// definition before.
func (f *fitter) standAlone(o *object, at place) {
	if !o.has("$ref") || len(o.members) == 1 {
		return
	}
	for _, m := range o.keepOnly(func(name string) bool { return name == "$ref" || isAnnotation(name) }) {
		f.recordLoss(at, Lossy, "dropped", m.Name+" beside $ref")
	}
	if len(o.members) == 1 {
		return
	}
	o.set("anyOf", rawjson.Array([]json.RawMessage{rawjson.Build("$ref", o.drop("$ref"))}))
}

func (f *fitter) closeObject(o *object, at place) {
	properties := o.objectOfOrEmpty("properties")
	required := o.stringsOf("required")
	var all []string
	for i, m := range properties.members {
		all = append(all, m.Name)
		if slices.Contains(required, m.Name) {
			continue
		}
		if child, ok := parseObject(m.Value); ok && !f.shape(m.Value).Kinds().Has(jsonschema.Null) {
			f.addNull(child)
			properties.put(i, child.raw())
			f.recordLoss(at.property(m.Name), Info, "changed", "optional to null")
		}
	}
	o.set("properties", properties.raw())
	if !slices.Equal(required, all) {
		o.set("required", quoteList(all))
	}
	o.set("additionalProperties", json.RawMessage("false"))
}

// refuseMap refuses objects with free keys, before the walk goes into them.
func (f *fitter) refuseMap(o *object, at place) {
	if !at.profile.closed || !slices.Contains(typesOf(o), "object") {
		return
	}
	rest := o.value("additionalProperties")
	open := isTrue(rest) || string(rawjson.Compact(rest)) == "{}"
	named := len(o.objectOfOrEmpty("properties").members) > 0
	switch {
	case literal(rest) == "object" && !open:
		f.refuse(at, "an object whose keys are free (additionalProperties) cannot be expressed with strict")
	case o.has("patternProperties"):
		f.refuse(at, "an object whose keys are free (patternProperties) cannot be expressed with strict")
	case !named && !at.root && !isFalse(rest):
		f.refuse(at, "an object without named properties cannot be expressed with strict")
	case open:
		f.recordLoss(at, Lossy, "dropped", "additionalProperties")
	}
}

// strictCount is what the limits of structured outputs count.
type strictCount struct{ properties, enums, runes, depth int }

func checkStrictLimits(text json.RawMessage) error {
	var count strictCount
	count.add(text, 0)
	switch {
	case count.properties > strictProperties:
		return fmt.Errorf("its input schema has %d properties, and strict takes %d", count.properties, strictProperties)
	case count.depth > strictDepth:
		return fmt.Errorf("its input schema nests %d levels deep, and strict takes %d", count.depth, strictDepth)
	case count.enums > strictEnums:
		return fmt.Errorf("its input schema has %d values of enum, and strict takes %d", count.enums, strictEnums)
	case count.runes > strictRunes:
		return fmt.Errorf("the names and values of its input schema have %d characters, and strict takes %d",
			count.runes, strictRunes)
	}
	return nil
}

func (c *strictCount) add(text json.RawMessage, depth int) {
	o, ok := parseObject(text)
	if !ok {
		return
	}
	c.depth = max(c.depth, depth)
	for _, value := range valuesOf(o) {
		c.enums++
		c.runes += len(value)
	}
	for _, m := range o.members {
		c.addMember(m, depth)
	}
}

func (c *strictCount) addMember(m rawjson.Member, depth int) {
	if jsonschema.Held(m.Name, m.Value) != jsonschema.HoldsNamed {
		for _, child := range schemasIn(m) {
			c.add(child, depth)
		}
		return
	}
	for inner := range rawjson.Each(m.Value) {
		c.runes += len(inner.Name)
		if m.Name == "properties" {
			c.properties++
			c.add(inner.Value, depth+1)
			continue
		}
		c.add(inner.Value, 0)
	}
}

// carriesStrict reports whether a tool is written as strict: always in openai-strict, else if a document of another
// format says so and the target has strict tools and would take the schema. A strict tool with a schema that breaks the
// rules makes the provider refuse the whole request. Formats with the same rules keep the setting.
func carriesStrict(definition members, to Format, schema json.RawMessage) bool {
	target := recordOf(to)
	switch {
	case target.strict:
		return true
	case target.layout.strict == nil, formFor(to, definition) != nil:
		return false
	}
	from, strict := strictSource(definition)
	if !strict || !recordOf(from).closed && !target.closed {
		return strict
	}
	if !target.closed {
		again, err := fit(schema, OpenAIStrict)
		return err == nil && rawjson.Same(again.schema, schema)
	}
	again, err := fit(schema, Qwen) // which has no refs
	recursive := slices.ContainsFunc(again.losses, func(l Loss) bool { return l.Kind == "cut" })
	return err == nil && !recursive && isClosed(schema)
}

// strictSource returns the format of a document that calls the tool strict.
func strictSource(definition members) (Format, bool) {
	for _, member := range membersOf(definition.get(metaMember)) {
		name, isForm := strings.CutPrefix(member.Name, formPrefix)
		source := recordOf(Format(name))
		if isForm && source.layout.strict != nil && isTrue(valueAt(member.Value, source.layout.strict)) {
			return Format(name), true
		}
	}
	return "", false
}

// isClosed reports whether a schema obeys the rules of Anthropic's strict tools (schemautil of its SDK): objects take
// no other properties, and only some keywords are known.
func isClosed(text json.RawMessage) bool {
	o, ok := parseObject(text)
	if !ok {
		return false
	}
	if (o.has("properties") || slices.Contains(typesOf(o), "object")) && !isFalse(o.value("additionalProperties")) {
		return false
	}
	for _, m := range o.members {
		if !closedKeyword(m.Name, string(rawjson.Compact(m.Value))) {
			return false
		}
		if m.Name == "additionalProperties" {
			continue
		}
		if slices.ContainsFunc(schemasIn(m), func(child json.RawMessage) bool { return !isClosed(child) }) {
			return false
		}
	}
	return true
}

func closedKeyword(name, value string) bool {
	switch name {
	case "type", "title", "description", "default", "enum", "const", "properties", "required", "additionalProperties",
		"items", "anyOf", "allOf", "$ref", "$defs", "definitions":
		return true
	case "minItems":
		return value == "0" || value == "1"
	case "format":
		return slices.Contains([]string{
			`"date-time"`, `"time"`, `"date"`, `"duration"`, `"email"`, `"hostname"`, `"uri"`, `"ipv4"`, `"ipv6"`,
			`"uuid"`,
		}, value)
	}
	return false
}
