package convert

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// shape is what stands under a keyword.
type shape int

const (
	plain     shape = iota // data, which is never walked
	oneSchema              // a schema
	schemas                // an array of schemas
	schemaMap              // names, which are no keywords, and their schemas
)

// shapeOf says where in a schema other schemas stand. It is asked only about
// keywords: a property named "items" stands under "properties", and is a name.
func shapeOf(keyword string, value json.RawMessage) shape {
	switch keyword {
	case "items":
		if literal(value) == "array" {
			return schemas
		}
		return oneSchema
	case "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
		"propertyNames", "not", "if", "then", "else", "contentSchema":
		return oneSchema
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return schemas
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions":
		return schemaMap
	}
	return plain
}

// isAnnotation says that a keyword describes, and restricts nothing.
func isAnnotation(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
		"$comment", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary",
		"$defs", "definitions", "contentMediaType", "contentEncoding", "propertyOrdering":
		return true
	}
	return false
}

// isRestriction says that a keyword of JSON Schema restricts values. All other
// words say nothing to a validator.
func isRestriction(keyword string) bool {
	_, typed := typeOfKeyword(keyword)
	return typed || slices.Contains([]string{
		"enum", "const", "not", "if", "then", "else", "anyOf", "oneOf", "allOf", "type", "nullable", "$ref",
	}, keyword)
}

// typeOfKeyword is the type of the values that a keyword speaks about.
func typeOfKeyword(keyword string) (string, bool) {
	switch keyword {
	case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
		"maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties":
		return "object", true
	case "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
		"maxContains", "unevaluatedItems":
		return "array", true
	case "minLength", "maxLength", "pattern", "format":
		return "string", true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number", true
	}
	return "", false
}

// wellFormed says whether a keyword's value is of the kind that JSON Schema wants.
// Servers send "required": null and "properties": null, and one such word takes a
// whole request down (ollama#18051).
func wellFormed(keyword string, value json.RawMessage) bool {
	kind := literal(value)
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "dependentRequired", "$defs", "definitions":
		return kind == "object"
	case "required":
		return isStringList(value)
	case "examples":
		return kind == "array"
	case "enum", "anyOf", "oneOf", "allOf", "prefixItems":
		list, ok := rawjson.Elements(value)
		return ok && len(list) > 0
	case "description", "title", "pattern", "format", "$ref", "$id", "$schema", "$anchor":
		return kind == "string"
	case "type":
		return isTypeList(value)
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return kind == "integer" || kind == "number"
	case "exclusiveMinimum", "exclusiveMaximum":
		return kind == "integer" || kind == "number" || kind == "boolean"
	case "items":
		return kind == "object" || kind == "boolean" || kind == "array"
	}
	if shapeOf(keyword, value) == oneSchema {
		return kind == "object" || kind == "boolean"
	}
	return true
}

func isStringList(value json.RawMessage) bool {
	list, ok := rawjson.Elements(value)
	return ok && !slices.ContainsFunc(list, func(e json.RawMessage) bool { return !rawjson.IsString(e) })
}

func isTypeList(value json.RawMessage) bool {
	return rawjson.IsString(value) || isStringList(value) && len(stringList(value)) > 0
}
