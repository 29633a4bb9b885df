package exec

import (
	"encoding/json"
	"math/big"
	"strings"
)

// kinds is a set of JSON's kinds of value. A whole number is both integer and
// number; a schema of type number allows both.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindInteger
	kindNumber // with a fraction
	kindString
	kindArray
	kindObject

	noKinds   kinds = 0
	anyNumber       = kindInteger | kindNumber
	anyKind         = kindNull | kindBoolean | anyNumber | kindString | kindArray | kindObject
)

// has says whether the sets have a kind in common.
func (k kinds) has(other kinds) bool { return k&other != 0 }

// String lists the kinds as people name them: "integer or null".
func (k kinds) String() string {
	var names []string
	for _, kind := range []struct {
		bit  kinds
		name string
	}{
		{kindString, "string"},
		{kindInteger, "integer"},
		{kindNumber, "number"},
		{kindBoolean, "boolean"},
		{kindArray, "array"},
		{kindObject, "object"},
		{kindNull, "null"},
	} {
		if !k.has(kind.bit) || kind.bit == kindInteger && k.has(kindNumber) {
			continue
		}
		names = append(names, kind.name)
	}
	return strings.Join(names, " or ")
}

// kindNamed returns the kinds that a schema's type allows.
func kindNamed(name string) kinds {
	switch name {
	case "null":
		return kindNull
	case "boolean":
		return kindBoolean
	case "integer":
		return kindInteger
	case "number":
		return anyNumber
	case "string":
		return kindString
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return noKinds
}

// kindOf returns the kind of a decoded value.
func kindOf(value any) kinds {
	switch value := value.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case json.Number:
		if isWhole(value.String()) {
			return kindInteger
		}
		return kindNumber
	case string:
		return kindString
	case []any:
		return kindArray
	}
	return kindObject
}

// describeKind names the kind of a decoded value with its article.
func describeKind(value any) string {
	switch kind := kindOf(value); kind {
	case kindNull:
		return "null"
	case kindInteger, kindArray, kindObject:
		return "an " + kind.String()
	default:
		return "a " + kind.String()
	}
}

// isWhole says whether a JSON number is whole: 3, 3.0, 1e3 (JSON Schema 2020-12,
// validation 6.1.1).
func isWhole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	if checkNumber(number) != nil {
		return false
	}
	value, ok := new(big.Rat).SetString(number)
	return ok && value.IsInt()
}

// kindBudget bounds how many alternatives one question about kinds looks at.
const kindBudget = 500

// kinds returns the kinds of value that schema allows; anyKind where it says
// nothing, or contradicts itself.
func (d *document) kinds(schema any) kinds {
	budget := kindBudget
	allowed := d.allowed(schema, &budget)
	if allowed == noKinds {
		return anyKind
	}
	return allowed
}

func (d *document) allowed(schema any, budget *int) kinds {
	if valid, ok := schema.(bool); ok && !valid {
		return noKinds
	}
	if *budget--; *budget < 0 {
		return anyKind
	}
	allowed := anyKind
	for _, part := range d.facets(schema) {
		allowed &= ownKinds(part)
		for _, keyword := range []string{"anyOf", "oneOf"} {
			list, ok := part[keyword].([]any)
			if !ok {
				continue
			}
			some := noKinds
			for _, alternative := range list {
				some |= d.allowed(alternative, budget)
			}
			allowed &= some
		}
	}
	return allowed
}

// ownKinds returns the kinds that type, enum and const of one object allow.
func ownKinds(part map[string]any) kinds {
	allowed := anyKind
	switch types := part["type"].(type) {
	case string:
		allowed = kindNamed(types)
	case []any:
		allowed = noKinds
		for _, entry := range types {
			name, _ := entry.(string)
			allowed |= kindNamed(name)
		}
	}
	if allowed == noKinds {
		allowed = anyKind // a type that JSON Schema does not know
	}
	if values, ok := ownOptions(part); ok {
		some := noKinds
		for _, value := range values {
			some |= kindOf(value)
		}
		allowed &= some
	}
	return allowed
}

// ownOptions returns the values that enum or const of one object list.
func ownOptions(part map[string]any) ([]any, bool) {
	if value, ok := part["const"]; ok {
		return []any{value}, true
	}
	values, ok := part["enum"].([]any)
	return values, ok && len(values) > 0
}

// options returns the values that a schema lists, whether as enum, const, or
// alternatives of them; ok is false where others are valid too.
func (d *document) options(schema any) (values []any, ok bool) {
	parts := d.facets(schema)
	for _, part := range parts {
		if values, ok := ownOptions(part); ok {
			return values, true
		}
	}
	for _, part := range parts {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			list, _ := part[keyword].([]any)
			if values, ok := d.listed(list); ok {
				return values, true
			}
		}
	}
	return nil, false
}

// listed returns the values that all alternatives together list.
func (d *document) listed(list []any) (values []any, ok bool) {
	for _, alternative := range list {
		found := false
		for _, part := range d.facets(alternative) {
			if some, ok := ownOptions(part); ok {
				values, found = append(values, some...), true
				break
			}
			if part["type"] == "null" {
				values, found = append(values, nil), true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return values, len(values) > 0
}

// typeName describes what a schema expects in a few words: `"on" or "off"`,
// "integer", "array of string". It is empty where anything goes.
func (d *document) typeName(schema any) string {
	if values, ok := d.options(schema); ok {
		return listOptions(values, " or ")
	}
	allowed := d.kinds(schema)
	if allowed == anyKind {
		return ""
	}
	if allowed&^kindNull == kindArray {
		if items, ok := d.element(schema, 0); ok {
			if of := d.kinds(items); of != anyKind {
				return strings.Replace(allowed.String(), "array", "array of "+of.String(), 1)
			}
		}
	}
	return allowed.String()
}
