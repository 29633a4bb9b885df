package jsonschema

// Holding says in which forms a keyword holds schemas: a set of them.
type Holding int

// The forms.
const (
	HoldsSchema Holding = 1 << iota
	HoldsList
	HoldsNamed // names, which are no keywords, and their schemas

	HoldsNone Holding = 0
)

// Holds says in which forms a keyword of any draft holds schemas. It is asked about keywords only: a property that is
// called "items" stands under "properties", and is a name.
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

// Held says in which one of the forms a keyword holds schemas, given its value.
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

// referenceKeywords are those that refer to another schema. The dynamic one of newer and
// the recursive one of older drafts name the same places in a single document.
func referenceKeywords() []string { return []string{"$ref", "$dynamicRef", "$recursiveRef"} }

// KeywordKinds returns the kinds of the values that a keyword speaks about; AnyKind for one that speaks about all.
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
