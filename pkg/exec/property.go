package exec

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// Property returns the schema of one parameter, as deep as path goes; "0" stands
// for the elements of an array. References inside the document and allOf are
// resolved on the way and in the result itself, though not below it: a $ref
// further down still counts from the whole schema. ok is false where the schema
// does not know the path. An empty path gives the whole schema.
func Property(schema json.RawMessage, path ...string) (property json.RawMessage, ok bool) {
	document := newDocument(schema)
	found, ok := document.at(path)
	if !ok || found == nil {
		return nil, false
	}
	raw, err := rawjson.Marshal(document.flat(found))
	return raw, err == nil
}

// Parameter is one top-level parameter of a tool.
type Parameter struct {
	Name        string
	Required    bool
	Type        string // in words: `"on" or "off"`, "array of string"; empty where anything goes
	Description string // as the schema's author wrote it; may be empty
	// Schema is as Property returns it.
	Schema json.RawMessage
}

// Parameters lists what a tool's schema names on its top level, alternatives
// included: what is required first, then the rest, each in the schema's order.
func Parameters(schema json.RawMessage) []Parameter {
	document := newDocument(schema)
	required := document.required(document.root)
	names := unique(slices.Concat(required, topNames(schema), document.names(document.root)))
	parameters := make([]Parameter, len(names))
	for i, name := range names {
		parameters[i] = Parameter{Name: name, Required: i < len(required)}
		property, ok := document.property(document.root, name)
		if !ok {
			continue
		}
		parameters[i].Type = document.typeName(property)
		parameters[i].Description = document.description(property)
		if raw, err := rawjson.Marshal(document.flat(property)); err == nil {
			parameters[i].Schema = raw
		}
	}
	return parameters
}

// topNames lists the properties of the schema's own object in its order, which
// a decoded one no longer has.
func topNames(schema json.RawMessage) []string {
	if checkJSON(schema) != nil {
		return nil
	}
	keywords, _ := rawjson.Members(schema)
	at := find(keywords, "properties")
	if at < 0 {
		return nil
	}
	properties, _ := rawjson.Members(keywords[at].Value)
	names := make([]string, len(properties))
	for i, property := range properties {
		names[i] = property.Name
	}
	return names
}

// flat merges the facets of a schema into one: properties and required add up,
// of other keywords the nearest wins.
func (d *document) flat(schema any) any {
	parts := d.facets(schema)
	if len(parts) < 2 {
		return schema
	}
	properties := make(map[string]any)
	merged := make(map[string]any)
	for _, part := range parts {
		for keyword, value := range part {
			if _, taken := merged[keyword]; !taken && keyword != "$ref" && keyword != "allOf" {
				merged[keyword] = value
			}
		}
		own, _ := part["properties"].(map[string]any)
		for name, value := range own {
			if _, taken := properties[name]; !taken {
				properties[name] = value
			}
		}
	}
	if len(properties) > 0 {
		merged["properties"] = properties
	}
	if required := d.required(schema); len(required) > 0 {
		merged["required"] = required
	}
	return merged
}
