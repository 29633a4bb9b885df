package convert

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
)

// isAnnotation reports whether a keyword does not restrict values.
func isAnnotation(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
		"$comment", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary",
		"$defs", "definitions", "contentMediaType", "contentEncoding", "propertyOrdering":
		return true
	}
	return false
}

// isRestriction reports whether a keyword restricts values. Validators ignore all others.
func isRestriction(keyword string) bool {
	return jsonschema.KeywordKinds(keyword) != jsonschema.AnyKind || slices.Contains([]string{
		"enum", "const", "not", "if", "then", "else", "anyOf", "oneOf", "allOf", "type", "nullable", "$ref",
	}, keyword)
}

// wellFormed reports whether a keyword's value has the kind that JSON Schema requires. Servers send "required": null
// and "properties": null, and providers reject the whole request because of it (ollama#18051).
func wellFormed(keyword string, value *node) bool {
	kind := literal(value)
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions":
		return kind == "object"
	case "dependentRequired":
		return kind == "object" && !slices.ContainsFunc(value.Members(),
			func(m member) bool { return !isStringList(m.Node) })
	case "required":
		return isStringList(value)
	case "examples":
		return kind == "array"
	case "enum", "anyOf", "oneOf", "allOf", "prefixItems":
		return len(value.Elements()) > 0
	case "description", "title", "pattern", "format", "$ref", "$schema", "$comment", "contentEncoding",
		"contentMediaType":
		return kind == "string"
	case "$id": // with a fragment it is an anchor, which later drafts reject
		return kind == "string" && !strings.Contains(strings.TrimSuffix(value.Text(), "#"), "#")
	case "$anchor", "$dynamicAnchor":
		return kind == "string" && isAnchor(value.Text())
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return kind == "boolean"
	case "type":
		return isTypeList(value)
	case "minimum", "maximum":
		return kind == "number"
	case "multipleOf":
		number, ok := numberOf(value)
		return ok && number > 0
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
		"maxContains":
		number, ok := numberOf(value)
		return ok && number >= 0 && number == math.Trunc(number) // 2.0 is valid
	case "exclusiveMinimum", "exclusiveMaximum":
		return kind == "number" || kind == "boolean"
	case "items":
		return kind == "object" || kind == "boolean" || kind == "array"
	}
	if jsonschema.Held(keyword, value) == jsonschema.HoldsSchema {
		return kind == "object" || kind == "boolean"
	}
	return true
}

// numberOf returns a number's value, rounded to a float64.
func numberOf(value *node) (number float64, ok bool) {
	if literal(value) != "number" {
		return 0, false
	}
	number, _ = strconv.ParseFloat(compact(value), 64) // infinite if it is too large
	return number, true
}

// isAnchor reports whether text is a valid anchor (JSON Schema 2020-12, core, 8.2.2).
func isAnchor(text string) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '-' || r == '.')) {
			return false
		}
	}
	return text != ""
}

func isStringList(value *node) bool {
	return value.IsArray() && len(value.Texts()) == len(value.Elements())
}

func isTypeList(value *node) bool {
	return value.IsString() || isStringList(value) && len(value.Elements()) > 0
}
