package jsonschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Effect is the effect of a change of a schema on those who rely on the earlier one.
type Effect int

// The effects, the worst last.
const (
	Added    Effect = iota // something was added, and what worked still works
	Edited                 // a text changed, or its effect on values cannot be decided
	Breaking               // values that were valid can be invalid now
)

// Use says who relies on a schema.
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
}

// The bounds of a comparison: schemas come from a server.
const (
	maxCompared    = 20_000 // pairs of schemas
	maxDifferences = 200
	shownValue     = 60  // bytes of a value in a text
	shownText      = 160 // bytes of a description in a text
)

// Compare returns the changes from one schema to another. The order of members, references and unused definitions do
// not count. pointer is the place of the schemas.
func Compare(before, now *Document, pointer string, use Use) []Difference {
	c := &comparison{use: use, budget: maxCompared, seen: make(map[[2]*Node]bool)}
	c.schemas(pointer, before.Root(), now.Root())
	if len(c.list) == 0 && canonical(before.raw) != canonical(now.raw) {
		c.add(pointer, Edited, "is written differently")
	}
	return c.list
}

// comparison collects the differences of two schemas.
type comparison struct {
	use    Use
	list   []Difference
	budget int
	seen   map[[2]*Node]bool
}

func (c *comparison) add(pointer string, effect Effect, format string, args ...any) {
	if len(c.list) < maxDifferences {
		c.list = append(c.list, Difference{pointer, effect, fmt.Sprintf(format, args...)})
	}
}

// narrowed returns the effect of allowing less than before.
func (c *comparison) narrowed() Effect { return []Effect{Written: Breaking, Read: Added}[c.use] }

// widened returns the effect of allowing more than before.
func (c *comparison) widened() Effect { return []Effect{Written: Added, Read: Breaking}[c.use] }

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
		c.add(pointer, c.narrowed(), "%s only %s now", verb, strings.Join(now, ", "))
	case now == nil:
		c.add(pointer, c.widened(), "%s further values than %s now", verb, strings.Join(before, ", "))
	default:
		if lost := without(before, now); len(lost) > 0 {
			c.add(pointer, c.narrowed(), "no longer %s %s", verb, strings.Join(lost, ", "))
		}
		if gained := without(now, before); len(gained) > 0 {
			c.add(pointer, Added, "also %s %s", verb, strings.Join(gained, ", "))
		}
	}
}

// allowedValues returns the listed values as text; nil if there is no list.
func allowedValues(parts Parts) []string {
	for _, part := range parts {
		if values := ownOptions(part); values != nil {
			return words.Texts(values, func(n *Node) string { return words.Clip(canonical(n.raw), shownValue) })
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
			c.add(place, Added, "the %s %s is new", noun, shown)
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

// below compares the schemas of elements and of properties that are not declared. A caller who uses only declared
// properties is not affected if others are refused.
func (c *comparison) below(pointer string, was, is Parts) {
	c.schemas(pointer+"/items", was.first("items"), is.first("items"))
	before, now := was.first("additionalProperties"), is.first("additionalProperties")
	place := pointer + "/additionalProperties"
	if len(was.Properties()) > 0 && !before.Is("false") && now.Is("false") {
		c.add(place, Edited, "undefined properties are no longer allowed")
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
		effect := Edited // limits do not matter to readers of values
		switch {
		case c.use == Read:
		case !hadOne || hasOne && stricter > 0:
			effect = Breaking
		default:
			effect = Added
		}
		c.add(pointer+"/"+limit, effect, "%s %s", limit, DescribeChange(before.Raw(), now.Raw()))
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
			c.add(place, Edited, "the alternatives changed")
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

// others compares all other keywords by their text.
func (c *comparison) others(pointer string, was, is Parts) {
	compared := slices.Concat(limits(), combinations(), referenceKeywords(), []string{
		"type", "nullable", "enum", "const", "properties", "required", "items", "additionalProperties", "allOf",
		"$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor", "$comment",
	})
	var names []string
	for _, part := range slices.Concat(was, is) {
		for _, name := range words.Texts(part.Members(), func(m Member) string { return m.Name }) {
			if !slices.Contains(compared, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		before, now := was.first(name), is.first(name)
		change := DescribeChange(before.Raw(), now.Raw())
		if change == "" {
			continue
		}
		effect := Edited
		if name == "pattern" && before == nil {
			effect = c.narrowed()
		}
		place := pointer + rawjson.Pointer(name)
		c.add(place, effect, "%s %s", words.Clip(name, shownValue), change)
	}
}

// DescribeChange says how a value changed, empty if it did not: `was 1, and is 2 now`. A missing value is nil. Of long
// texts it shows the part that differs.
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
