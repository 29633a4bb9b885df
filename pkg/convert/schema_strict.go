package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Limits of structured outputs (OpenAI, "Structured model outputs", supported schemas).
const (
	strictProperties = 5000
	strictDepth      = 10
	strictEnums      = 1000
	strictRunes      = 120_000
)

// strict makes objects declare and require all properties, and optional ones nullable. Objects with undeclared
// properties cannot be expressed.
func (r *objectRules) strict(o *object, at place) {
	if !at.profile.closed {
		return
	}
	r.isolateRef(o, at)
	types := typesOf(o.node)
	switch {
	case slices.Contains(types, "object"):
		r.closeObject(o, at)
	case slices.Contains(types, "array") && !o.Get("items").IsObject():
		r.refuse(at, "an array with items of any type cannot be expressed with strict")
	case !o.Has("type", "anyOf", "$ref", "enum", "const"):
		r.refuse(at, "a value of any type cannot be expressed with strict")
	}
}

// isolateRef moves a ref with other keywords into an anyOf of one. Restrictions other than the type were already merged
// with the definition.
func (r *objectRules) isolateRef(o *object, at place) {
	if !o.Has("$ref") || len(o.Members()) == 1 {
		return
	}
	for _, m := range o.Keep(func(m member) bool { return m.Name == "$ref" || isAnnotation(m.Name) }) {
		r.recordLoss(at, Lossy, "dropped", m.Name+" beside $ref")
	}
	if len(o.Members()) == 1 {
		return
	}
	o.Set("anyOf", jsonschema.List(jsonschema.Build("$ref", o.Drop("$ref"))))
}

func (r *objectRules) closeObject(o *object, at place) {
	required := o.Get("required").Texts()
	var all []string
	o.Set("properties", editable(o.Get("properties")).Map(func(_ int, m member) *node {
		all = append(all, m.Name)
		child, ok := parseObject(m.Node)
		if !ok || slices.Contains(required, m.Name) || r.shape(m.Node).Kinds().Has(jsonschema.Null) {
			return m.Node
		}
		r.types.addNull(child)
		r.recordLoss(at.property(m.Name), Info, "changed", "optional to null")
		return child.node
	}))
	if !slices.Equal(required, all) {
		o.Set("required", jsonschema.Strings(all))
	}
	o.Set("additionalProperties", valueOf("false"))
}

// refuseMap reports an error for objects with arbitrary keys, before their parts are walked.
func (r *objectRules) refuseMap(o *object, at place) {
	if !at.profile.closed || !slices.Contains(typesOf(o.node), "object") {
		return
	}
	rest := o.Get("additionalProperties")
	open := rest.Is("true") || compact(rest) == "{}"
	named := len(o.Get("properties").Members()) > 0
	switch {
	case rest.IsObject() && !open:
		r.refuse(at, "an object with arbitrary keys (additionalProperties) cannot be expressed with strict")
	case o.Has("patternProperties"):
		r.refuse(at, "an object with arbitrary keys (patternProperties) cannot be expressed with strict")
	case !named && !at.root && !rest.Is("false"):
		r.refuse(at, "an object without named properties cannot be expressed with strict")
	case open:
		r.recordLoss(at, Lossy, "dropped", "additionalProperties")
	}
}

// strictCount has the counts for the limits of structured outputs.
type strictCount struct{ properties, enums, runes, depth int }

func checkStrictLimits(schema *node) error {
	var count strictCount
	count.add(schema, 0)
	switch {
	case count.properties > strictProperties:
		return fmt.Errorf("its input schema has %d properties; strict allows at most %d",
			count.properties, strictProperties)
	case count.depth > strictDepth:
		return fmt.Errorf("its input schema has %d levels; strict allows at most %d", count.depth, strictDepth)
	case count.enums > strictEnums:
		return fmt.Errorf("its input schema has %d enum values; strict allows at most %d", count.enums, strictEnums)
	case count.runes > strictRunes:
		return fmt.Errorf("names and values in its input schema have %d characters; strict allows at most %d",
			count.runes, strictRunes)
	}
	return nil
}

func (c *strictCount) add(schema *node, depth int) {
	if !schema.IsObject() {
		return
	}
	c.depth = max(c.depth, depth)
	for _, value := range valuesOf(schema) {
		c.enums++
		c.runes += len(value.Bytes())
	}
	for _, m := range schema.Members() {
		c.addMember(m, depth)
	}
}

func (c *strictCount) addMember(m member, depth int) {
	if jsonschema.Held(m.Name, m.Node) != jsonschema.HoldsNamed {
		for _, child := range schemasIn(m) {
			c.add(child, depth)
		}
		return
	}
	for _, inner := range m.Node.Members() {
		c.runes += len(inner.Name)
		if m.Name == "properties" {
			c.properties++
			c.add(inner.Node, depth+1)
			continue
		}
		c.add(inner.Node, 0)
	}
}

// carriesStrict reports whether a tool is written as strict: always in openai-strict, otherwise if its document sets
// strict and the target has strict tools and would accept the schema. A strict tool with an invalid schema makes the
// provider reject the whole request. Formats with the same rules keep the setting.
func carriesStrict(definition *node, to Format, schema json.RawMessage) bool {
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
	again, err := fit(schema, Qwen) // expands refs
	recursive := slices.ContainsFunc(again.losses, func(l Loss) bool { return l.Kind == "cut" })
	return err == nil && !recursive && isClosed(jsonschema.NewNode(schema))
}

// strictSource returns the format of a document in which the tool is strict.
func strictSource(definition *node) (Format, bool) {
	for _, m := range definition.Get(metaMember).Members() {
		name, isForm := strings.CutPrefix(m.Name, formPrefix)
		source := recordOf(Format(name))
		if isForm && source.layout.strict != nil && at(m.Node, source.layout.strict).Is("true") {
			return Format(name), true
		}
	}
	return "", false
}

// isClosed reports whether a schema follows the rules of Anthropic's strict tools (schemautil in its SDK): objects have
// no additional properties, and only some keywords are allowed.
func isClosed(schema *node) bool {
	isObject := schema.Has("properties") || slices.Contains(typesOf(schema), "object")
	if !schema.IsObject() || isObject && !schema.Get("additionalProperties").Is("false") {
		return false
	}
	for _, m := range schema.Members() {
		if !closedKeyword(m.Name, compact(m.Node)) {
			return false
		}
		if m.Name == "additionalProperties" {
			continue
		}
		if slices.ContainsFunc(schemasIn(m), func(child *node) bool { return !isClosed(child) }) {
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
