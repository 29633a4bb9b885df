package jsonschema

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// ShapeKind is how a value is shown and edited.
type ShapeKind int

// The kinds of shape.
const (
	ShapeJSON    ShapeKind = iota // everything else
	ShapeText                     // a string, of one line or several
	ShapeNumber                   // its digits, as they are typed
	ShapeBool                     // true or false
	ShapeEnum                     // one of several values, or one constant
	ShapeObject                   // named fields, and rows of key and value
	ShapeArray                    // rows
	ShapeVariant                  // one of several shapes
)

// String returns the kind as forms show it.
func (k ShapeKind) String() string {
	return [...]string{"JSON", "text", "number", "boolean", "choice", "object", "array", "variant"}[k]
}

// Shape is what a form or a signature can show of a schema for one value. Validation also checks the rest.
type Shape struct {
	Applied
	Kind     ShapeKind
	Whole    bool // of a number: no fraction
	Nullable bool
	Why      string // of JSON: why it has no other kind

	Title, Description, Format string
	Default                    *Node   // a hint, never sent automatically; nil if there is none
	Examples                   []*Node // as suggestions

	Options []Option // of an enum

	Properties   []Property // of an object, in the schema's order
	Additional   *Node      // the schema of members without a name here; may be nil
	IsMap        bool       // members may have any name
	Bare         bool       // it is a map only because it has no rules
	Items        *Node      // of an array; nil if anything is allowed
	Tuple        []*Node    // the schemas of an array's elements by position; nil if all have the same
	Alternatives []Alternative
	// Unknown are names of types that JSON Schema does not have, if there are no others.
	Unknown []string

	aside   []*Node // alternatives that only set conditions: their names are offered
	whole   Parts   // the parts before any was merged
	outline bool    // properties are left out
	budget  int     // how many schemas may still be read
}

// Limits are the bounds of a value as written; nil if there is none.
type Limits struct {
	Minimum, Above, Maximum, Below, Step *Node // of numbers; Above and Below exclude the bound
	Shortest, Longest, Pattern           *Node // of strings
	Fewest, Most                         *Node // of arrays
}

// Option is one value of an enum.
type Option struct {
	Raw   json.RawMessage
	Label string // empty if the schema has none
}

// Property is a named field of an object.
type Property struct {
	Member
	Required bool
}

// Applied are the schemas that apply together to one value.
type Applied struct {
	Parts Parts
	// Target is the target of the first reference among them; nil if none leads anywhere.
	Target *Node
	// Known is false if a reference leads out of the document or nowhere.
	Known bool
	// Name is the last part of the reference to Target, or of the last that leads nowhere: "Node" of "#/$defs/Node".
	Name string
}

// Alternative is one shape of a variant.
type Alternative struct {
	Label string
	Applied
}

// Limits of one shape: a schema comes from a server and may be hostile.
const (
	maxLookedAt     = 50_000 // schemas that are read for one shape
	maxRounds       = 8      // combinations merged into one shape
	MaxAlternatives = 200    // of one variant; more are left to JSON
)

// Apply returns the schemas that apply together with n: those that it refers to, and those of allOf. A nil Node has
// none.
func (n *Node) Apply() Applied {
	applied := Applied{Parts: n.Facets(), Known: true}
	for _, part := range applied.Parts {
		for _, keyword := range referenceKeywords() {
			if reference := part.Get(keyword); reference != nil {
				target := part.doc.Resolve(reference.Text())
				applied.Known = applied.Known && target != nil
				if applied.Target == nil || target == nil {
					applied.Name = referenceName(reference.Text())
				}
				if applied.Target == nil {
					applied.Target = target
				}
			}
		}
	}
	return applied
}

// referenceName returns the last part of a reference: "Node" of "#/$defs/Node".
func referenceName(reference string) string {
	return reference[strings.LastIndexAny(reference, "/#")+1:]
}

// Arguments returns the shape of the arguments that a schema describes, which are an object. Its Target is the whole
// schema if that is not a reference.
func (d *Document) Arguments() *Shape {
	whole := d.root.Apply()
	object := whole
	object.Parts = append(slices.Clone(whole.Parts), typeNode("object"))
	s := object.Shape()
	if s.Kind != ShapeObject && s.Kind != ShapeVariant {
		s = whole.loose()
		s.Known = false
	}
	if !s.Known { // an unread schema may have more
		s.IsMap, s.Bare = true, false
	}
	s.Nullable = false
	if s.Target == nil {
		s.Target = d.root
	}
	return s
}

// typeNode returns a schema that names one type.
func typeNode(name string) *Node {
	return &Node{members: []Member{{Name: "type", Node: Quoted(name)}}}
}

// Shape returns the shape of the values that n describes, with the schemas that apply together with it.
func (n *Node) Shape() *Shape { return n.Apply().Shape() }

// Shape returns the shape of schemas that apply together. It merges nullable wrappers, lists of constants, and
// alternatives that only add conditions. Other alternatives become a variant.
func (a Applied) Shape() *Shape { return a.blank().find() }

// find finds the shape of parts.
func (s *Shape) find() *Shape {
	for range maxRounds {
		at, keyword := combination(s.Parts)
		if at < 0 {
			return s.plain()
		}
		list, null := s.listAlternatives(at, keyword)
		rest := slices.Clone(s.Parts)
		rest[at] = s.Parts[at].without(keyword)
		s.Nullable = s.Nullable || null && s.Parts.types()&Null != 0
		switch same, merged := sameScalar(list); {
		case len(list) == 1 && !list[0].Known:
			s.Alternatives = list
			return s.describe().asJSON(Nowhere)
		case len(list) == 1 && s.budget >= 0:
			s.Parts = append(rest, list[0].Parts...)
		case s.budget >= 0 && (len(list) == 0 || redundant(s.Parts, list)):
			s.aside, s.Parts = append(s.aside, s.Parts[at].Get(keyword).Elements()...), rest
		case s.budget < 0 || len(list) > MaxAlternatives:
			s.Alternatives = list
			return s.describe().asJSON("too many alternatives")
		case constants(list) != nil:
			s.Kind, s.Options, s.Parts = ShapeEnum, constants(list), rest
			return s.describe()
		case merged:
			s.Parts = append(rest, typeNode(same))
		default:
			for i := range list {
				list[i].Parts = append(slices.Clone(rest), list[i].Parts...)
			}
			s.Kind, s.Alternatives, s.Parts = ShapeVariant, list, rest
			return s.describe()
		}
	}
	return s.describe().asJSON("combined too deeply")
}

// blank returns a shape with parts and nothing else.
func (a Applied) blank() *Shape {
	return &Shape{Applied: a, whole: a.Parts, budget: maxLookedAt - len(a.Parts)}
}

// asJSON turns the value into JSON, which may be null.
func (s *Shape) asJSON(why string) *Shape {
	s.Kind, s.Why, s.Nullable = ShapeJSON, why, true
	return s
}

// LookedAt returns how many schemas were read for the shape.
func (s *Shape) LookedAt() int { return maxLookedAt - s.budget }

// look returns the schemas that a walk finds within the budget.
func (s *Shape) look(n *Node, walk func(*Node) Parts) Parts {
	if s.budget < 0 {
		return nil
	}
	found := walk(n)
	s.budget -= 1 + len(found)
	return found
}

// loose returns the shape of an object whose parts are too complex for a form, or do not describe an object: it has the
// members that they name.
func (a Applied) loose() *Shape {
	s := a.blank()
	s.Parts = Parts{typeNode("object")}
	for _, part := range a.Parts {
		for _, keyword := range combinations() {
			s.aside = append(s.aside, part.Get(keyword).Elements()...)
		}
		s.Parts = append(s.Parts, part.without(append(combinations(), "type", "enum", "const")...))
	}
	return s.plain()
}

// AnyValue is why a field is JSON if its schema has no type.
const AnyValue = "any value"

// Nowhere is why a field is JSON if its schema cannot be found.
const Nowhere = "a reference that leads nowhere"

// NoValue is why a field is JSON if its schema allows no value.
const NoValue = "no value fits"

// plain finds the shape of parts without alternatives, except those that only set conditions.
func (s *Shape) plain() *Shape {
	nullable := s.Nullable
	s.describe()
	if s.Options = s.Parts.options(); s.Options != nil {
		s.Kind = ShapeEnum
		return s.withoutNull()
	}
	kinds := s.Parts.types()
	untyped := kinds == AnyKind
	if untyped {
		if s.Unknown = s.Parts.unknownTypes(); len(s.Unknown) == 0 { // otherwise keywords do not show what it means
			kinds = s.Parts.impliedKinds()
		}
	}
	s.Nullable = nullable || kinds&Null != 0
	switch names := (kinds &^ Null).Names(); {
	case kinds == Null:
		s.Kind, s.Options, s.Nullable = ShapeEnum, []Option{{Raw: json.RawMessage("null")}}, false
	case untyped && kinds == AnyKind || len(names) > 4:
		return s.asJSON(AnyValue)
	case len(names) == 0:
		s.Kind, s.Why = ShapeJSON, NoValue
	case len(names) > 1:
		s.Kind = ShapeVariant
		for _, name := range names {
			typed := append(slices.Clone(s.Parts), typeNode(name))
			s.Alternatives = append(s.Alternatives, Alternative{name, Applied{Parts: typed, Known: true}})
		}
	default:
		s.typed(names[0])
	}
	return s
}

// unknownTypes returns the names in the first type that schemas have, for types that JSON Schema does not have.
func (parts Parts) unknownTypes() []string {
	written := parts.first("type")
	if text := written.Text(); text != "" {
		return []string{text}
	}
	return written.Texts()
}

// typed sets the shape of a value of one type.
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
		if s.Kind = ShapeObject; !s.outline {
			s.object()
		}
	}
}

// array sets the shape of an array: rows of one shape. In a tuple each position has its own, which rows cannot show.
func (s *Shape) array() {
	s.Kind, s.Items = ShapeArray, s.Parts.first("items")
	s.Tuple = s.Parts.first("prefixItems").Elements()
	if s.Items.IsArray() {
		s.Tuple, s.Items = s.Items.Elements(), nil
	}
	if s.Tuple != nil {
		s.Kind, s.Items, s.Why = ShapeJSON, nil, "a tuple"
	}
}

// object collects the properties of all parts, then those that conditions name.
func (s *Shape) object() {
	s.Properties = s.Parts.Properties()
	required, seen := setOf(s.Parts.Required()), make(map[string]bool)
	for _, p := range s.Properties {
		seen[p.Name] = true
	}
	add := func(m Member) {
		if !seen[m.Name] {
			seen[m.Name] = true
			s.Properties = append(s.Properties, Property{m, required[m.Name]})
		}
	}
	for _, part := range s.Parts {
		for _, condition := range conditions(part) {
			for _, part := range s.look(condition, (*Node).Facets) {
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
	for _, m := range s.mentioned() {
		add(m)
	}
	s.members()
}

// Fields returns the properties of an object, or those of all shapes that a value may have. A property has the
// alternatives of all shapes, and is required if all require it.
func (s *Shape) Fields() []Property {
	if s.Kind != ShapeVariant {
		return s.Properties
	}
	var all []Property
	schemas, required := make(map[string][]*Node), make(map[string]int)
	for _, alternative := range s.Alternatives {
		if s.budget < 0 {
			break
		}
		shape := alternative.Shape()
		s.budget -= shape.LookedAt()
		for _, p := range shape.Properties {
			if p.Required {
				required[p.Name]++
			}
			if schemas[p.Name] == nil {
				all = append(all, p)
			}
			if !slices.Contains(schemas[p.Name], p.Node) {
				schemas[p.Name] = append(schemas[p.Name], p.Node)
			}
		}
	}
	for i, p := range all {
		all[i].Node, all[i].Required = join("anyOf", schemas[p.Name]), required[p.Name] == len(s.Alternatives)
	}
	return all
}

// Limits returns the bounds of the nearest part. Draft 4's form, a boolean beside the bound, is converted to that of
// later drafts.
func (s *Shape) Limits() Limits {
	first := func(keyword string) *Node { return s.Parts.first(keyword) }
	l := Limits{
		Minimum: first("minimum"), Above: first("exclusiveMinimum"),
		Maximum: first("maximum"), Below: first("exclusiveMaximum"), Step: first("multipleOf"),
		Shortest: first("minLength"), Longest: first("maxLength"), Pattern: first("pattern"),
		Fewest: first("minItems"), Most: first("maxItems"),
	}
	l.Minimum, l.Above = excluded(l.Minimum, l.Above)
	l.Maximum, l.Below = excluded(l.Maximum, l.Below)
	return l
}

// excluded returns a bound and an exclusive bound, where either may be a boolean of draft 4.
func excluded(bound, exclusive *Node) (*Node, *Node) {
	switch {
	case exclusive.Is("true"):
		return nil, bound
	case exclusive.Is("false"):
		return bound, nil
	}
	return bound, exclusive
}

// members sets which members without a declared name an object may have.
func (s *Shape) members() {
	s.Additional = s.Parts.first("additionalProperties")
	if s.Additional == nil {
		s.Additional = s.Parts.first("unevaluatedProperties")
	}
	patterns := s.Parts.first("patternProperties").Members()
	closed := s.Additional.Is("false")
	open := s.Additional != nil && !closed
	wanted := open || len(patterns) > 0 || s.Parts.first("propertyNames") != nil ||
		s.Parts.first("minProperties") != nil
	s.Bare = len(s.Properties) == 0 && !wanted && !closed && !s.Parts.first("maxProperties").Is("0")
	s.IsMap = len(patterns) > 0 || wanted && !closed || s.Bare
	switch {
	case len(patterns) == 1 && closed: // no other name is possible
		s.Additional = patterns[0].Node
	case len(patterns) > 0 || !s.Additional.IsObject():
		s.Additional = nil
	}
}

// describe copies the annotations of the nearest part.
func (s *Shape) describe() *Shape {
	parts := s.Parts
	s.Title = parts.first("title").Text()
	s.Description = parts.first("description").Text()
	s.Format = parts.first("format").Text()
	s.Default = parts.first("default")
	if s.Examples = parts.first("examples").Elements(); s.Examples == nil {
		if example := parts.first("example"); example != nil {
			s.Examples = []*Node{example}
		}
	}
	return s
}

// options returns the values of the first enum or const, nil if there is none.
func (parts Parts) options() []Option {
	if value := parts.first("const"); value != nil {
		return []Option{{Raw: rawjson.Compact(value.raw)}}
	}
	var list []Option
	names := parts.first("enumNames").Elements()
	for i, entry := range parts.first("enum").Elements() {
		choice := Option{Raw: rawjson.Compact(entry.raw)}
		if i < len(names) {
			choice.Label = names[i].Text()
		}
		list = append(list, choice)
	}
	return list
}

// withoutNull makes null a state of the field instead of an option.
func (s *Shape) withoutNull() *Shape {
	if len(s.Options) < 2 {
		return s
	}
	rest := slices.DeleteFunc(slices.Clone(s.Options), func(o Option) bool { return string(o.Raw) == "null" })
	if len(rest) > 0 {
		null := len(rest) < len(s.Options) && s.Parts.types()&Null != 0
		s.Nullable, s.Options = s.Nullable || null, rest
	}
	return s
}
