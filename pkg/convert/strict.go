package convert

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// carriesStrict reports whether a tool is written as a strict one: always as openai-strict; elsewhere where a document
// of another format calls it so, and the target has a word for it and would take the schema. A strict tool whose schema
// does not obey its rules takes the whole request down; among formats with the same rules, that is as it was.
func carriesStrict(definition members, to Format, schema json.RawMessage) bool {
	target, _ := dialectOf(to)
	switch {
	case to == OpenAIStrict:
		return true
	case target.layout.strict == nil, formFor(to, definition) != nil:
		return false
	}
	from, strict := strictSource(definition)
	if !strict || obeysOpenAI(from) && obeysOpenAI(to) {
		return strict
	}
	if obeysOpenAI(to) {
		again, err := fit(schema, OpenAIStrict)
		return err == nil && rawjson.Same(again.schema, schema)
	}
	again, err := fit(schema, Qwen) // which has no refs
	recursive := slices.ContainsFunc(again.losses, func(l Loss) bool { return l.Kind == "cut" })
	return err == nil && !recursive && isClosed(schema)
}

// obeysOpenAI reports whether a format's strict schemas obey OpenAI's rules; Anthropic's are others.
func obeysOpenAI(format Format) bool { return format != Anthropic && format != Bedrock }

// strictSource returns the format of a document that calls the tool strict.
func strictSource(definition members) (Format, bool) {
	for _, member := range membersOf(definition.get(metaMember)) {
		name, isForm := strings.CutPrefix(member.Name, formPrefix)
		source, known := dialectOf(Format(name))
		if isForm && known && source.layout.strict != nil && isTrue(valueAt(member.Value, source.layout.strict)) {
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
			`"date-time"`, `"time"`, `"date"`, `"duration"`, `"email"`, `"hostname"`, `"uri"`, `"ipv4"`, `"ipv6"`, `"uuid"`,
		}, value)
	}
	return false
}
