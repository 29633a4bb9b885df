package form

// types is a set of JSON Schema's types.
type types uint8

const (
	typeString types = 1 << iota
	typeInteger
	typeNumber
	typeBoolean
	typeObject
	typeArray
	typeNull

	anyType types = 1<<7 - 1
)

// typeNamed returns the type of that name, no type for an unknown one. A number may
// be whole, so "number" has both.
func typeNamed(name string) types {
	switch name {
	case "string":
		return typeString
	case "integer":
		return typeInteger
	case "number":
		return typeNumber | typeInteger
	case "boolean":
		return typeBoolean
	case "object":
		return typeObject
	case "array":
		return typeArray
	case "null":
		return typeNull
	}
	return 0
}

// names lists the types as schemas call them; a number that may be whole is one.
func (t types) names() []string {
	var list []string
	for _, entry := range []struct {
		bit  types
		name string
	}{
		{typeString, "string"},
		{typeNumber, "number"},
		{typeInteger, "integer"},
		{typeBoolean, "boolean"},
		{typeObject, "object"},
		{typeArray, "array"},
		{typeNull, "null"},
	} {
		if t&entry.bit != 0 && (entry.bit != typeInteger || t&typeNumber == 0) {
			list = append(list, entry.name)
		}
	}
	return list
}

// allowed returns the types that all parts allow; anyType where none says.
func allowed(parts []*node) types {
	all := anyType
	for _, part := range parts {
		all &= own(part)
	}
	return all
}

// own is what one part's "type" allows. A type that JSON Schema does not know says
// nothing.
func own(part *node) types {
	keyword := part.get("type")
	set := typeNamed(keyword.text())
	for _, entry := range keyword.list() {
		set |= typeNamed(entry.text())
	}
	if set == 0 {
		return anyType
	}
	return set
}

// implied guesses the type of a schema without one, where its keywords leave no
// doubt what its author meant.
func implied(parts []*node) types {
	switch {
	case first(parts, "properties") != nil || first(parts, "additionalProperties").opens("{") ||
		first(parts, "patternProperties").opens("{") || len(first(parts, "required").list()) > 0:
		return typeObject
	case first(parts, "items") != nil || first(parts, "prefixItems") != nil:
		return typeArray
	}
	return anyType
}

// typeOf is the type of a JSON value by its first sign; both of numbers.
func typeOf(raw []byte) types {
	if len(raw) == 0 {
		return 0
	}
	switch raw[0] {
	case '"':
		return typeString
	case '{':
		return typeObject
	case '[':
		return typeArray
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeNumber | typeInteger
}
