package jsonschema

// Holding is a set of forms in which a keyword contains schemas.
type Holding int

// The forms.
const (
	HoldsSchema Holding = 1 << iota
	HoldsList
	HoldsNamed // names, which are not keywords, and their schemas

	HoldsNone Holding = 0
)

// Holds returns the forms in which a keyword of any draft contains schemas. It is for keywords only: a property named
// "items" is under "properties", and is a name.
func Holds(keyword string) Holding {
	switch keyword {
	case "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties":
		return HoldsSchema
	case "items": // a list of them before 2020-12
		return HoldsSchema | HoldsList
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return HoldsList
	case "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties":
		return HoldsNamed
	}
	return HoldsNone
}

// Held returns the form in which a keyword contains schemas, given its value.
func Held(keyword string, value *Node) Holding {
	holds := Holds(keyword)
	if holds == HoldsSchema|HoldsList {
		if value.IsArray() {
			return HoldsList
		}
		return HoldsSchema
	}
	return holds
}

// referenceKeywords refer to another schema. The dynamic one of newer and the recursive one of older drafts name the
// same places in a single document.
func referenceKeywords() []string { return []string{"$ref", "$dynamicRef", "$recursiveRef"} }

// KeywordKinds returns the kinds of value that a keyword applies to; AnyKind for one that applies to all.
func KeywordKinds(keyword string) Kinds {
	switch keyword {
	case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
		"maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties":
		return Object
	case "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
		"maxContains", "unevaluatedItems":
		return Array
	case "minLength", "maxLength", "pattern", "format":
		return String
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return AnyNumber
	}
	return AnyKind
}
