package jsonschema

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// ShapeKind is how a value is shown and edited.
type ShapeKind int

// The kinds of shape.
const (
	ShapeJSON    ShapeKind = iota // what no other kind can express
	ShapeText                     // a string, of one line or several
	ShapeNumber                   // its digits, as they are typed
	ShapeBool                     // true or false
	ShapeEnum                     // one of several values; of one for a const
	ShapeObject                   // named fields, and rows of key and value
	ShapeArray                    // rows
	ShapeVariant                  // one of several shapes
)

// String names the kind as forms show it.
func (k ShapeKind) String() string {
	return [...]string{"JSON", "text", "number", "boolean", "choice", "object", "array", "variant"}[k]
}

// Shape is what a schema says about one value, as far as a form can show it. What
// it cannot show is still checked: validation goes by the schema itself.
type Shape struct {
	Kind     ShapeKind
	Whole    bool // of a number: no fraction
	Nullable bool
	Why      string // of JSON: why it is no other kind

	Title, Description, Format string
	// Parts are the schemas that all apply to the value; their limits are found by First.
	Parts    []*Node
	Default  *Node   // a hint, never sent by itself; nil where there is none
	Examples []*Node // offered

	Options []Option // of an enum

	Properties   []Property // of an object, in the schema's order
	Additional   *Node      // the schema of members that have no name here; may be nil
	IsMap        bool       // members with free names are what it is for
	Bare         bool       // it is a map only because it says nothing at all
	Items        *Node      // of an array; nil where anything goes
	Alternatives []Alternative

	aside []*Node // the alternatives that only set conditions: what they name is offered
}

// Option is one value of an enum.
type Option struct {
	Raw   json.RawMessage
	Label string // empty where the schema has none
}

// Property is a named field of an object.
type Property struct {
	Member
	Required bool
}

// Applied are the schemas that apply together to one value.
type Applied struct {
	Parts []*Node
	// Target is where the first reference among them leads; nil where none leads anywhere.
	Target *Node
	// Known is false where a reference leads out of the document or Nowhere.
	Known bool
}

// Alternative is one shape of a variant.
type Alternative struct {
	Label string
	Applied
}

// Limits of one shape: a schema comes from a server and may be hostile.
const (
	maxMentioning   = 5000 // schemas that are asked for names
	maxRounds       = 8    // combinations merged into one shape
	MaxAlternatives = 200  // of one variant; more are left to JSON
)

// Apply returns the schemas that apply together with n: those that it refers to, and
// those of allOf. Of a nil Node there are none.
func (n *Node) Apply() Applied {
	applied := Applied{Parts: n.Facets(), Known: true}
	for _, part := range applied.Parts {
		for _, keyword := range referenceKeywords() {
			if reference := part.Get(keyword); reference != nil {
				target := part.doc.Resolve(reference.Text())
				applied.Known = applied.Known && target != nil
				if applied.Target == nil {
					applied.Target = target
				}
			}
		}
	}
	return applied
}

// Arguments returns the shape of the arguments that a schema describes, which are an
// object, and the node of which they are.
func (d *Document) Arguments() (*Shape, *Node) {
	applied := d.root.Apply()
	s := ShapeOf(append(slices.Clone(applied.Parts), typeNode("object")))
	if s.Kind != ShapeObject && s.Kind != ShapeVariant {
		s, applied.Known = looseShape(applied.Parts), false
	}
	if !applied.Known { // there may be more than can be seen
		s.IsMap, s.Bare = true, false
	}
	s.Nullable = false
	if applied.Target == nil {
		return s, d.root
	}
	return s, applied.Target
}

// typeNode returns a schema that names one type.
func typeNode(name string) *Node { return newNode(`{"type":"` + name + `"}`) }

// ShapeOf makes the shape of schemas that apply together. It merges what can be merged: nullable wrappers, lists of
// constants, alternatives that only add conditions. What is left of alternatives is a variant.
func ShapeOf(parts []*Node) *Shape {
	nullable := false
	var aside []*Node
	for range maxRounds {
		at, keyword := combination(parts)
		if at < 0 {
			s := plainShape(parts, aside)
			s.Nullable = s.Nullable || nullable
			return s
		}
		base := typesOf(parts)
		list, null := listAlternatives(parts, at, keyword)
		nullable = nullable || null && base&Null != 0
		rest := slices.Clone(parts)
		rest[at] = parts[at].without(keyword)
		switch same, merged := sameScalar(list); {
		case len(list) == 1 && !list[0].Known:
			return (&Shape{Kind: ShapeJSON, Why: Nowhere, Nullable: true}).describe(parts)
		case len(list) == 1:
			parts = append(rest, list[0].Parts...)
		case len(list) == 0 || redundant(parts, list):
			aside = append(aside, parts[at].Get(keyword).Elements()...)
			parts = rest
		case len(list) > MaxAlternatives:
			return (&Shape{Kind: ShapeJSON, Why: "too many alternatives", Nullable: true}).describe(parts)
		case constants(list) != nil:
			return (&Shape{Kind: ShapeEnum, Nullable: nullable, Options: constants(list)}).describe(rest)
		case merged:
			parts = append(rest, typeNode(same))
		default:
			for i := range list {
				list[i].Parts = append(slices.Clone(rest), list[i].Parts...)
			}
			return (&Shape{Kind: ShapeVariant, Nullable: nullable, Alternatives: list}).describe(rest)
		}
	}
	return (&Shape{Kind: ShapeJSON, Why: "combined too deeply", Nullable: true}).describe(parts)
}

// looseShape returns the shape of an object of which parts say too much for a form, or what no object can be: it has
// the members that they name.
func looseShape(parts []*Node) *Shape {
	rest, aside := []*Node{typeNode("object")}, []*Node(nil)
	for _, part := range parts {
		for _, keyword := range combinations() {
			aside = append(aside, part.Get(keyword).Elements()...)
		}
		rest = append(rest, part.without(append(combinations(), "type", "enum", "const")...))
	}
	return plainShape(rest, aside)
}

// AnyValue is why a field is JSON whose schema says nothing of its type.
const AnyValue = "any value"

// Nowhere is why a field is JSON whose schema cannot be found.
const Nowhere = "a reference that leads nowhere"

// plainShape returns the shape of parts without alternatives; those that only set conditions stand aside.
func plainShape(parts, aside []*Node) *Shape {
	s := (&Shape{aside: aside}).describe(parts)
	if s.Options = options(parts); s.Options != nil {
		s.Kind = ShapeEnum
		return s.withoutNull()
	}
	kinds := typesOf(parts)
	untyped := kinds == AnyKind
	if untyped {
		kinds = impliedKinds(parts)
	}
	s.Nullable = kinds&Null != 0
	switch names := (kinds &^ Null).Names(); {
	case kinds == Null:
		s.Kind, s.Options, s.Nullable = ShapeEnum, []Option{{Raw: json.RawMessage("null")}}, false
	case untyped && kinds == AnyKind || len(names) > 4:
		s.Kind, s.Why, s.Nullable = ShapeJSON, AnyValue, true
	case len(names) == 0:
		s.Kind, s.Why = ShapeJSON, "no value fits"
	case len(names) > 1:
		s.Kind = ShapeVariant
		for _, name := range names {
			typed := append(slices.Clone(parts), typeNode(name))
			s.Alternatives = append(s.Alternatives, Alternative{name, Applied{Parts: typed, Known: true}})
		}
	default:
		s.typed(names[0])
	}
	return s
}

// typed fills in the shape of a value of one type.
func (s *Shape) typed(name string) {
	switch name {
	case "string":
		s.Kind = ShapeText
	case "integer", "number":
		s.Kind, s.Whole = ShapeNumber, name == "integer"
	case "boolean":
		s.Kind = ShapeBool
	case "array":
		s.array()
	case "object":
		s.Kind = ShapeObject
		s.object()
	}
}

// array: rows of one shape. A tuple gives each place its own, which no list of rows can show.
func (s *Shape) array() {
	s.Kind, s.Items = ShapeArray, First(s.Parts, "items")
	if s.Items.IsArray() || len(First(s.Parts, "prefixItems").Elements()) > 0 {
		s.Kind, s.Items, s.Why = ShapeJSON, nil, "a tuple"
	}
}

// object collects the properties of all parts, then those that conditions name.
func (s *Shape) object() {
	required, seen := make(map[string]bool), make(map[string]bool)
	for _, part := range s.Parts {
		for _, name := range part.Get("required").Texts() {
			required[name] = true
		}
	}
	add := func(m Member) {
		if !seen[m.Name] {
			seen[m.Name] = true
			s.Properties = append(s.Properties, Property{m, required[m.Name]})
		}
	}
	for _, part := range s.Parts {
		for _, m := range part.Get("properties").Members() {
			add(m)
		}
	}
	for _, part := range s.Parts {
		for _, condition := range conditions(part) {
			for _, part := range condition.Facets() {
				for _, m := range part.Get("properties").Members() {
					add(m)
				}
			}
		}
	}
	for _, part := range s.Parts {
		for _, m := range namesIn(part.Get("required")) {
			add(m)
		}
	}
	for _, m := range mentioned(s.Parts, s.aside) {
		add(m)
	}
	s.members()
}

// members finds out which members an object takes that have no name in its schema.
func (s *Shape) members() {
	s.Additional = First(s.Parts, "additionalProperties")
	if s.Additional == nil {
		s.Additional = First(s.Parts, "unevaluatedProperties")
	}
	patterns := First(s.Parts, "patternProperties").Members()
	closed := s.Additional.Is("false")
	open := s.Additional != nil && !closed
	wanted := open || len(patterns) > 0 || First(s.Parts, "propertyNames") != nil ||
		First(s.Parts, "minProperties") != nil
	s.Bare = len(s.Properties) == 0 && !wanted && !closed && !First(s.Parts, "maxProperties").Is("0")
	s.IsMap = len(patterns) > 0 || wanted && !closed || s.Bare
	switch {
	case len(patterns) == 1 && closed: // no other name is possible
		s.Additional = patterns[0].Node
	case len(patterns) > 0 || !s.Additional.IsObject():
		s.Additional = nil
	}
}

// describe copies what the nearest part says about the value.
func (s *Shape) describe(parts []*Node) *Shape {
	s.Parts = parts
	s.Title = First(parts, "title").Text()
	s.Description = First(parts, "description").Text()
	s.Format = First(parts, "format").Text()
	s.Default = First(parts, "default")
	if s.Examples = First(parts, "examples").Elements(); s.Examples == nil {
		if example := First(parts, "example"); example != nil {
			s.Examples = []*Node{example}
		}
	}
	return s
}

// options returns the values of the first enum or const, nil where there is none.
func options(parts []*Node) []Option {
	if value := First(parts, "const"); value != nil {
		return []Option{{Raw: rawjson.Compact(value.raw)}}
	}
	var list []Option
	names := First(parts, "enumNames").Elements()
	for i, entry := range First(parts, "enum").Elements() {
		choice := Option{Raw: rawjson.Compact(entry.raw)}
		if i < len(names) {
			choice.Label = names[i].Text()
		}
		list = append(list, choice)
	}
	return list
}

// withoutNull makes null a state of the field instead of one of several options.
func (s *Shape) withoutNull() *Shape {
	if len(s.Options) < 2 {
		return s
	}
	rest := slices.DeleteFunc(slices.Clone(s.Options), func(o Option) bool { return string(o.Raw) == "null" })
	if len(rest) > 0 {
		s.Nullable, s.Options = len(rest) < len(s.Options) && typesOf(s.Parts)&Null != 0, rest
	}
	return s
}
