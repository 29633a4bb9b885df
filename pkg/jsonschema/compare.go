package jsonschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Effect is the effect of a schema change on those who rely on the earlier schema.
type Effect int

// The effects, worst last.
const (
	Cosmetic   Effect = iota // only people and models notice: a text changed
	Compatible               // what worked still works
	Breaking                 // what worked can fail now, or may fail
)

// String returns the effect as it is printed.
func (e Effect) String() string {
	return [...]string{Cosmetic: "cosmetic", Compatible: "compatible", Breaking: "breaking"}[e]
}

// MarshalText writes the effect in JSON.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Use is how callers use a schema.
type Use int

// The uses.
const (
	Written Use = iota // callers write values for it: arguments
	Read               // callers read values of it: results
)

// Difference is one change from a schema to a later one.
type Difference struct {
	Pointer string
	Effect  Effect
	Text    string // "no longer accepts \"fr\""
	// Before and Now are the values of a keyword that is compared as a whole; nil where it is missing.
	Before, Now json.RawMessage
}

// The bounds of a comparison: schemas come from a server.
const (
	maxCompared    = 20_000 // pairs of schemas
	maxDifferences = 200    // of each effect
	shownValue     = 60     // bytes of a value in a text
	shownText      = 160    // bytes of a description in a text
)

// Compare returns the changes from one schema to another. The order of members, references and unused definitions are
// ignored. pointer is the place of the schemas.
func Compare(before, now *Document, pointer string, use Use) []Difference {
	c := &comparison{use: use, budget: maxCompared, seen: make(map[[2]*Node]bool)}
	c.schemas(pointer, before.Root(), now.Root())
	switch {
	case c.budget < 0 && canonical(before.raw) != canonical(now.raw):
		c.add(pointer, Breaking, "is too large to compare completely")
	case len(c.list) == 0 && canonical(before.raw) != canonical(now.raw):
		c.add(pointer, Cosmetic, "is written differently")
	}
	return c.list
}

// comparison collects the differences of two schemas.
type comparison struct {
	use    Use
	list   []Difference
	count  [Breaking + 1]int // of each effect
	budget int
	seen   map[[2]*Node]bool
}

func (c *comparison) add(pointer string, effect Effect, format string, args ...any) {
	c.append(Difference{Pointer: pointer, Effect: effect, Text: fmt.Sprintf(format, args...)})
}

func (c *comparison) append(d Difference) {
	if c.count[d.Effect]++; c.count[d.Effect] <= maxDifferences {
		c.list = append(c.list, d)
	}
}

// narrowed returns the effect of allowing less than before.
func (c *comparison) narrowed() Effect { return []Effect{Written: Breaking, Read: Compatible}[c.use] }

// widened returns the effect of allowing more than before.
func (c *comparison) widened() Effect { return []Effect{Written: Compatible, Read: Breaking}[c.use] }

// schemas compares two schemas; a nil one allows everything.
func (c *comparison) schemas(pointer string, before, now *Node) {
	pair := [2]*Node{before, now}
	if c.budget--; c.budget < 0 || c.seen[pair] {
		return
	}
	c.seen[pair] = true
	was, is := before.Facets(), now.Facets()
	if a, b := forbidden(was), forbidden(is); a || b {
		switch {
		case a && !b:
			c.add(pointer, c.widened(), "is allowed now")
		case b && !a:
			c.add(pointer, c.narrowed(), "is no longer allowed")
		}
		return
	}
	c.kinds(pointer, was, is)
	c.values(pointer, was, is)
	c.properties(pointer, was, is)
	c.below(pointer, was, is)
	c.bounds(pointer, was, is)
	c.combinations(pointer, was, is)
	c.others(pointer, was, is)
}

func forbidden(parts Parts) bool {
	return slices.ContainsFunc(parts, func(part *Node) bool { return part.Is("false") })
}

// kinds compares types. A type that moved into or out of alternatives is left to the comparison of alternatives.
func (c *comparison) kinds(pointer string, was, is Parts) {
	before, now := was.types(), is.types()
	_, combined := combination(was)
	_, combines := combination(is)
	if before == now || combined != combines && (before == AnyKind || now == AnyKind) {
		return
	}
	effect := c.widened()
	if lost, gained := before&^now, now&^before; lost != 0 && gained != 0 {
		effect = Breaking
	} else if lost != 0 {
		effect = c.narrowed()
	}
	c.add(pointer, effect, "the type was %s, and is %s now", kindsText(before), kindsText(now))
}

func kindsText(kinds Kinds) string {
	if kinds == AnyKind {
		return "any"
	}
	return kinds.String()
}

// values compares enum and const.
func (c *comparison) values(pointer string, was, is Parts) {
	before, now := allowedValues(was), allowedValues(is)
	verb := []string{Written: "accepts", Read: "returns"}[c.use]
	switch {
	case before == nil && now == nil:
	case before == nil:
		c.add(pointer, c.narrowed(), "%s only %s now", verb, shownValues(now))
	case now == nil:
		c.add(pointer, c.widened(), "%s further values than %s now", verb, shownValues(before))
	default:
		if lost := without(before, now); len(lost) > 0 {
			c.add(pointer, c.narrowed(), "no longer %s %s", verb, shownValues(lost))
		}
		if gained := without(now, before); len(gained) > 0 {
			c.add(pointer, c.widened(), "also %s %s", verb, shownValues(gained))
		}
	}
}

func shownValues(values []string) string {
	shown := words.Texts(values, func(value string) string { return words.Clip(value, shownValue) })
	return strings.Join(shown, ", ")
}

// allowedValues returns the listed values as text; nil if there is no list.
func allowedValues(parts Parts) []string {
	for _, part := range parts {
		if values := ownOptions(part); values != nil {
			return words.Texts(values, func(n *Node) string { return canonical(n.raw) })
		}
	}
	return nil
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(others, one) })
}

// properties compares the properties of objects, and which of them are required.
func (c *comparison) properties(pointer string, was, is Parts) {
	noun := []string{Written: "parameter", Read: "property"}[c.use]
	before, requiredBefore := was.Properties(), was.Required()
	now, requiredNow := is.Properties(), is.Required()
	names := slices.Concat(propertyNames(before), without(propertyNames(now), propertyNames(before)))
	for _, name := range slices.Concat(names, without(requiredNow, names)) {
		place := pointer + "/properties" + rawjson.Pointer(name)
		old, fresh := nodeNamed(before, name), nodeNamed(now, name)
		required := slices.Contains(requiredNow, name)
		requires := required != slices.Contains(requiredBefore, name)
		shown := words.Clip(name, shownValue)
		switch {
		case old != nil && fresh == nil:
			c.add(place, Breaking, "the %s %s was removed", noun, shown)
			continue
		case old == nil && required && requires:
			c.add(place, c.narrowed(), "the new %s %s is required", noun, shown)
		case old == nil && fresh != nil:
			c.add(place, Compatible, "the %s %s is new", noun, shown)
		case requires && required:
			c.add(place, c.narrowed(), "the %s %s is required now", noun, shown)
		case requires:
			c.add(place, c.widened(), "the %s %s is no longer required", noun, shown)
		}
		if old != nil {
			c.schemas(place, old, fresh)
		}
	}
}

func propertyNames(properties []Property) []string {
	return words.Texts(properties, func(p Property) string { return p.Name })
}

func nodeNamed(properties []Property, name string) *Node {
	at := slices.IndexFunc(properties, func(p Property) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return properties[at].Node
}

// below compares the schemas of elements and of properties that are not declared. Callers that only use declared
// properties are not affected if others are refused.
func (c *comparison) below(pointer string, was, is Parts) {
	if before, now := was.first("items"), is.first("items"); before.IsArray() || now.IsArray() {
		c.changed(pointer+"/items", "items", Breaking, before, now)
	} else {
		c.schemas(pointer+"/items", before, now)
	}
	before, now := was.first("additionalProperties"), is.first("additionalProperties")
	place := pointer + "/additionalProperties"
	if len(was.Properties()) > 0 && !before.Is("false") && now.Is("false") {
		c.add(place, Compatible, "undefined properties are no longer allowed")
		return
	}
	c.schemas(place, before, now)
}

// bounds compares limits of numbers and lengths.
func (c *comparison) bounds(pointer string, was, is Parts) {
	for _, limit := range limits() {
		before, now := was.first(limit), is.first(limit)
		a, hadOne := number64(before)
		b, hasOne := number64(now)
		if hadOne == hasOne && a == b {
			continue
		}
		stricter := cmp.Compare(b, a)
		if strings.Contains(strings.ToLower(limit), "max") {
			stricter = -stricter
		}
		effect := Compatible // limits do not matter to readers of values
		if c.use == Written && (!hadOne || hasOne && stricter > 0) {
			effect = Breaking
		}
		c.changed(pointer+"/"+limit, limit, effect, before, now)
	}
}

func limits() []string {
	return []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties",
	}
}

// number64 returns the number of a node. The booleans of draft 4's exclusive limits count as numbers here.
func number64(n *Node) (number float64, ok bool) {
	if n.Is("true") {
		return 1, true
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(string(n.Raw())), 64)
	return number, err == nil
}

// combinations compares alternatives, in their order if their number is the same.
func (c *comparison) combinations(pointer string, was, is Parts) {
	for _, keyword := range combinations() {
		before, now := was.first(keyword).Elements(), is.first(keyword).Elements()
		place := pointer + "/" + keyword
		switch {
		case len(before) == len(now):
			for i := range before {
				c.schemas(place+"/"+strconv.Itoa(i), before[i], now[i])
			}
		case len(before) == 0 || len(now) == 0:
			c.regrouped(place, was, is)
		default:
			text := func(n *Node) string { return canonical(n.raw) }
			for _, lost := range without(words.Texts(before, text), words.Texts(now, text)) {
				c.add(place, c.narrowed(), "the alternative %s is gone", words.Clip(lost, shownText))
			}
			for _, gained := range without(words.Texts(now, text), words.Texts(before, text)) {
				c.add(place, c.widened(), "the alternative %s is new", words.Clip(gained, shownText))
			}
		}
	}
}

// regrouped compares a schema that has alternatives on one side only: {"type": ["string", "null"]} means the same as
// two alternatives.
func (c *comparison) regrouped(place string, was, is Parts) {
	before, now := branches(was), branches(is)
	lost, gained := without(before, now), without(now, before)
	switch {
	case before == nil || now == nil || len(lost) > 0 && len(gained) > 0:
		c.add(place, Breaking, "the alternatives changed")
	case len(lost) > 0:
		c.add(place, c.narrowed(), "the alternative %s is gone", words.Clip(strings.Join(lost, ", "), shownText))
	case len(gained) > 0:
		c.add(place, c.widened(), "the alternative %s is new", words.Clip(strings.Join(gained, ", "), shownText))
	default:
		c.add(place, Cosmetic, "the alternatives are written differently")
	}
}

// branches returns the alternatives of a schema as text, without titles and the like: those that it lists, or one for
// each of its types. It returns nil for a schema of several parts.
func branches(parts Parts) (list []string) {
	if len(parts) != 1 {
		return nil
	}
	whole, err := rawjson.Decode(parts[0].raw)
	schema, is := whole.(map[string]any)
	if err != nil || !is {
		return nil
	}
	bare := func(value any) string {
		if one, is := value.(map[string]any); is {
			maps.DeleteFunc(one, func(name string, _ any) bool { return slices.Contains(annotations(), name) })
		}
		text, _ := rawjson.Marshal(value) // it was decoded from JSON
		return string(text)
	}
	for _, keyword := range combinations() {
		if alternatives, is := schema[keyword].([]any); is && len(alternatives) > 0 {
			delete(schema, keyword)
			if others := bare(schema); others != "{}" {
				return nil
			}
			return words.Texts(alternatives, bare)
		}
	}
	types, several := schema["type"].([]any)
	if !several {
		return []string{bare(schema)}
	}
	for _, one := range types {
		schema["type"] = one
		list = append(list, bare(schema))
	}
	return list
}

// annotations are the keywords that describe values and restrict none.
func annotations() []string {
	return []string{"title", "description", "default", "example", "examples", "deprecated", "$comment"}
}

// others compares all other keywords as text.
func (c *comparison) others(pointer string, was, is Parts) {
	compared := slices.Concat(limits(), combinations(), referenceKeywords(), []string{
		"type", "enum", "const", "properties", "required", "items", "additionalProperties", "allOf",
		"$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor", "$comment",
	})
	var names []string
	for _, part := range slices.Concat(was, is) {
		for _, name := range words.Texts(part.Members(), func(m Member) string { return m.Name }) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		before, now := was.first(name), is.first(name)
		place := pointer + rawjson.Pointer(name)
		if restricts := c.effect(name, before, now) > Cosmetic || slices.Contains(limits(), name); restricts &&
			before.Equal(now) && !slices.Equal(was.every(name), is.every(name)) {
			c.add(place, Breaking, "%s changed in one of several parts", words.Clip(name, shownValue))
		}
		if slices.Contains(compared, name) {
			continue
		}
		c.changed(place, name, c.effect(name, before, now), before, now)
	}
}

// every returns the values of a keyword in all parts as sorted text.
func (parts Parts) every(keyword string) (values []string) {
	for _, part := range parts {
		if value := part.Get(keyword); value != nil {
			values = append(values, canonical(value.Raw()))
		}
	}
	slices.Sort(values)
	return values
}

// changed adds the change of a keyword's value, if any.
func (c *comparison) changed(place, name string, effect Effect, before, now *Node) {
	if change := DescribeChange(before.Raw(), now.Raw()); change != "" {
		text := words.Clip(name, shownValue) + " " + change
		c.append(Difference{place, effect, text, before.Raw(), now.Raw()})
	}
}

// effect returns the effect of changing a keyword's value. It does not decide whether a pattern or condition became
// stricter.
func (c *comparison) effect(name string, before, now *Node) Effect {
	switch name {
	case "pattern", "format", "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "propertyNames",
		"dependentRequired":
		if c.use == Read { // as for limits
			return Compatible
		}
	case "default":
		return Compatible
	case "nullable": // of OpenAPI
		if before.Is("true") {
			return c.narrowed()
		}
		return c.widened()
	case "not", "if", "then", "else", "prefixItems", "additionalItems", "unevaluatedItems", "patternProperties",
		"unevaluatedProperties", "dependentSchemas", "dependencies", "contentEncoding", "contentMediaType":
	default:
		return Cosmetic
	}
	switch {
	case before == nil:
		return c.narrowed()
	case now == nil:
		return c.widened()
	}
	return Breaking
}

// DescribeChange describes how a value changed: `was 1, and is 2 now`; empty if it did not. A missing value is nil. For
// long texts it shows the part that differs.
func DescribeChange(before, now json.RawMessage) string {
	old, fresh := canonical(before), canonical(now)
	same := 0
	for same < min(len(old), len(fresh)) && old[same] == fresh[same] {
		same++
	}
	const context = 30 // bytes that are shown before the first difference
	shown := func(text string) string {
		if cut := len(words.Head(text, max(0, same-context))); cut > context {
			text = "…" + text[cut:]
		}
		return words.Clip(text, shownText)
	}
	switch {
	case old == fresh:
		return ""
	case before == nil:
		return "is new: " + words.Clip(fresh, shownText)
	case now == nil:
		return "is gone; it was " + words.Clip(old, shownText)
	}
	return "was " + shown(old) + ", and is " + shown(fresh) + " now"
}

// canonical writes equal values identically; numbers keep their spelling.
func canonical(value json.RawMessage) string {
	decoded, err := rawjson.Decode(value)
	if err != nil {
		return string(value)
	}
	sorted, err := rawjson.Marshal(decoded) // which sorts members, and escapes no HTML
	if err != nil {
		return string(value)
	}
	return string(sorted)
}
