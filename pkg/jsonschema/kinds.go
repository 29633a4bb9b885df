package jsonschema

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolx/pkg/rawjson"
)

// Kinds is a set of kinds of JSON values. Numbers have two: the type integer allows whole numbers, the type number
// both kinds.
type Kinds uint8

// The kinds.
const (
	Null Kinds = 1 << iota
	Boolean
	Integer
	Fraction // a number that is not whole
	String
	Array
	Object

	noKinds   Kinds = 0
	AnyNumber       = Integer | Fraction
	AnyKind         = Null | Boolean | AnyNumber | String | Array | Object
)

// Has reports whether the sets have a kind in common.
func (k Kinds) Has(other Kinds) bool { return k&other != 0 }

// kindNames are the names of kinds in schemas; the type number has both kinds of numbers.
var kindNames = [...]struct {
	kinds Kinds
	name  string
}{
	{String, "string"},
	{Integer, "integer"},
	{AnyNumber, "number"},
	{Boolean, "boolean"},
	{Array, "array"},
	{Object, "object"},
	{Null, "null"},
}

// Names lists the kinds by their names in schemas; both kinds of numbers together are "number".
func (k Kinds) Names() []string {
	var names []string
	for _, kind := range kindNames {
		named := k & kind.kinds
		if named != 0 && (kind.kinds != Integer || !k.Has(Fraction)) &&
			(kind.kinds != AnyNumber || named.Has(Fraction)) {
			names = append(names, kind.name)
		}
	}
	return names
}

// String lists the kinds for people: "integer or null".
func (k Kinds) String() string { return strings.Join(k.Names(), " or ") }

// KindsNamed returns the kinds of a type in a schema, also in capitals, as Google's APIs write it; none for a type that
// JSON Schema does not have.
func KindsNamed(name string) Kinds {
	for _, kind := range kindNames {
		if strings.EqualFold(kind.name, name) {
			return kind.kinds
		}
	}
	return noKinds
}

// KindOf returns the kind of a decoded value.
func KindOf(value any) Kinds {
	switch value := value.(type) {
	case nil:
		return Null
	case bool:
		return Boolean
	case json.Number:
		if rawjson.IsWhole(value.String()) {
			return Integer
		}
		return Fraction
	case string:
		return String
	case []any:
		return Array
	}
	return Object
}

// KindsOf returns the kinds that a value can have by its first character: both for numbers.
func KindsOf(raw json.RawMessage) Kinds {
	at := rawjson.SpaceEnd(raw, 0)
	if at >= len(raw) {
		return noKinds
	}
	switch raw[at] {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return AnyNumber
}

// KindsIn returns the kinds that values have.
func KindsIn(values ...*Node) Kinds {
	all := noKinds
	for _, value := range values {
		switch kinds := KindsOf(value.Raw()); {
		case kinds != AnyNumber:
			all |= kinds
		case rawjson.IsWhole(string(bytes.TrimSpace(value.Raw()))):
			all |= Integer
		default:
			all |= Fraction
		}
	}
	return all
}

// DescribeKind names the kind of a decoded value with its article.
func DescribeKind(value any) string {
	switch kind := KindOf(value); kind {
	case Null:
		return "null"
	case Integer, Array, Object:
		return "an " + kind.String()
	default:
		return "a " + kind.String()
	}
}

// kindBudget bounds the parts of a schema that are read for one question about kinds.
const kindBudget = 5000

// Kinds returns the kinds of value that the schema allows; AnyKind if it has no rule, or contradicts itself.
func (n *Node) Kinds() Kinds { return n.Facets().kinds() }

// Kinds returns the kinds of value that the parts allow, like Node.Kinds.
func (s *Shape) Kinds() Kinds { return s.whole.kinds() }

// Implied returns the kinds of value that the schema allows, or seems to be for if it has no type.
func (s *Shape) Implied() Kinds {
	if kinds := s.Kinds(); kinds != AnyKind {
		return kinds
	}
	return s.whole.impliedKinds()
}

func (parts Parts) kinds() Kinds {
	budget := kindBudget
	allowed := allowedBy(parts, &budget)
	if allowed == noKinds {
		return AnyKind
	}
	return allowed
}

func allowedBy(parts Parts, budget *int) Kinds {
	if *budget -= 1 + len(parts); *budget < 0 {
		return AnyKind
	}
	allowed := AnyKind
	for _, part := range parts {
		allowed &= ownKinds(part)
		*budget -= len(ownOptions(part)) / itemsPerStep
		for _, keyword := range combinations() {
			if !part.Get(keyword).IsArray() {
				continue
			}
			some := noKinds
			for _, alternative := range part.Get(keyword).Elements() {
				some |= allowedBy(alternative.Facets(), budget)
			}
			allowed &= some
		}
	}
	return allowed
}

// combinations returns the keywords that list alternatives.
func combinations() []string { return []string{"oneOf", "anyOf"} }

// typeKinds returns the kinds that a schema's own type allows. A type that JSON Schema does not have allows all.
func typeKinds(part *Node) Kinds {
	if part.Is("false") {
		return noKinds
	}
	keyword := part.Get("type")
	allowed := KindsNamed(keyword.Text())
	for _, name := range keyword.Texts() {
		allowed |= KindsNamed(name)
	}
	if allowed == noKinds {
		return AnyKind
	}
	return allowed
}

// types returns the kinds that the types of all parts allow.
func (parts Parts) types() Kinds {
	all := AnyKind
	for _, part := range parts {
		all &= typeKinds(part)
	}
	return all
}

// ownKinds returns the kinds that type, enum and const of one schema allow.
func ownKinds(part *Node) Kinds {
	allowed := typeKinds(part)
	if values := ownOptions(part); values != nil {
		allowed &= KindsIn(values...)
	}
	return allowed
}

// impliedKinds guesses the kind of value of schemas without a type, if their keywords make it clear.
func (parts Parts) impliedKinds() Kinds {
	if parts.first("properties") != nil || len(parts.first("required").Elements()) > 0 {
		return Object
	}
	all := noKinds
	for _, part := range parts {
		for _, m := range part.Members() {
			if kinds := KeywordKinds(m.Name); kinds != AnyKind {
				all |= kinds
			}
		}
	}
	if all == AnyNumber || len(all.Names()) == 1 {
		return all
	}
	return AnyKind
}

// ownOptions returns the values that enum or const of one schema list.
func ownOptions(part *Node) []*Node {
	if value := part.Get("const"); value != nil {
		return []*Node{value}
	}
	return part.Get("enum").Elements()
}

// Options returns the values that the schema lists, as enum, const, or alternatives of them; ok is false if others are
// valid too.
func (n *Node) Options() (values []any, ok bool) {
	s := n.Apply().blank()
	s.outline = true
	if s.find().Kind != ShapeEnum {
		return nil, false
	}
	for _, option := range s.Options {
		value, _ := rawjson.Decode(option.Raw)
		values = append(values, value)
	}
	if s.Nullable {
		values = append(values, nil)
	}
	return values, true
}

// TypeName describes what the schema expects in a few words: `"on" or "off"`, "integer", "array of string". It is empty
// if anything is allowed.
func (n *Node) TypeName() string {
	if values, ok := n.Options(); ok {
		return listOptions(values, " or ")
	}
	allowed := n.Kinds()
	if allowed == AnyKind {
		return ""
	}
	if allowed&^Null == Array {
		if items, ok := n.Element(0); ok {
			if of := items.Kinds(); of != AnyKind {
				return strings.Replace(allowed.String(), "array", "array of "+of.String(), 1)
			}
		}
	}
	return allowed.String()
}
