package convert

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// mergeAllOf makes the branches of allOf part of the schema. If that cannot be said without allOf, it stays if the
// target knows it.
func (f *fitter) mergeAllOf(o *object, at *place) {
	must := at.root && at.profile.noRootUnions
	if !o.has("allOf") || !at.profile.plain() && !must {
		return
	}
	merged, where, count := o.clone(), *at, len(f.losses)
	where.inline = true
	branches := merged.list("allOf")
	merged.drop("allOf")
	var lost []string
	for _, text := range branches {
		branch := f.flat(text, &where)
		if branch == nil {
			lost = append(lost, "the schema false")
			continue
		}
		lost = append(lost, merge(merged, branch)...)
	}
	if len(lost) > 0 && !must && at.profile.keeps("allOf", at.root) {
		f.dropLossesAfter(count)
		return
	}
	f.recordLoss(*at, Info, "changed", "allOf to one schema")
	f.tellConflicts(*at, lost)
	*o = *merged
	at.open = where.open
}

// mergeTold merges what is named elsewhere, and reports what could not be held. A target that knows allOf gets that
// instead.
func (f *fitter) mergeTold(o, other *object, at place) {
	merged := o.clone()
	lost := merge(merged, other)
	if len(lost) > 0 && at.profile.keeps("allOf", at.root) && (!at.root || !at.profile.noRootUnions) {
		o.set("allOf", rawjson.Array(append(o.list("allOf"), other.raw())))
		return
	}
	f.tellConflicts(at, lost)
	*o = *merged
}

func (f *fitter) tellConflicts(at place, keywords []string) {
	for _, keyword := range keywords {
		f.recordLoss(at, Lossy, "dropped", keyword+" that conflicts with another")
	}
}

// merge adds to a schema what another says of the same value. It returns the keywords for which only the first could be
// kept.
func merge(o, other *object) (lost []string) {
	o.hints = append(o.hints, other.hints...)
	lost = tangled(o, other)
	for _, m := range other.members {
		if slices.Contains(lost, m.Name) {
			continue
		}
		mine := o.value(m.Name)
		if mine == nil {
			o.set(m.Name, m.Value)
			continue
		}
		if rawjson.Same(mine, m.Value) {
			continue
		}
		both, ok := combine(m.Name, mine, m.Value)
		if !ok {
			lost = append(lost, m.Name)
			continue
		}
		o.set(m.Name, both)
	}
	return lost
}

// tangled returns the keywords of a second schema that would change their meaning beside those of the first, because
// keywords refer to each other.
func tangled(o, other *object) (names []string) {
	names = append(names, grouped(o, other, "if", "then", "else")...)
	names = append(names, grouped(o, other, "contains", "minContains", "maxContains")...)
	if o.has("prefixItems", "additionalItems") || other.has("prefixItems", "additionalItems") {
		names = append(names, grouped(o, other, "prefixItems", "items", "additionalItems")...)
	}
	if limitsRest(other) && strays(o, other) || limitsRest(o) && strays(other, o) {
		names = append(names, "additionalProperties")
	}
	for _, keyword := range []string{"unevaluatedProperties", "unevaluatedItems"} {
		if other.has(keyword) && !isTrue(other.value(keyword)) && slices.ContainsFunc(o.members, restricts) {
			names = append(names, keyword)
		}
	}
	return names
}

func restricts(m rawjson.Member) bool { return isRestriction(m.Name) }

// grouped returns the keywords of a group that the second schema has, if the first has some of them with other values.
func grouped(o, other *object, group ...string) (names []string) {
	same := true
	for _, name := range group {
		if other.has(name) {
			names = append(names, name)
		}
		same = same && rawjson.Same(o.value(name), other.value(name))
	}
	if same || !o.has(group...) {
		return nil
	}
	return names
}

// limitsRest reports whether a schema restricts properties that it does not name.
func limitsRest(o *object) bool {
	return o.has("additionalProperties") && !isTrue(o.value("additionalProperties"))
}

// strays reports whether the first schema names properties that the second does not.
func strays(o, other *object) bool {
	for _, keyword := range []string{"properties", "patternProperties"} {
		theirs := other.objectOfOrEmpty(keyword)
		for m := range rawjson.Each(o.value(keyword)) {
			if !theirs.has(m.Name) {
				return true
			}
		}
	}
	return false
}

// combine returns what one keyword says where two schemas must both hold; ok is false if no value says it.
func combine(keyword string, a, b json.RawMessage) (json.RawMessage, bool) {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return combineMaps(a, b, keyword == "$defs" || keyword == "definitions"), true
	case "required":
		return quoteList(union(stringList(a), stringList(b))), true
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		return further(a, b, 1), true
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return further(a, b, -1), true
	case "type":
		return combineTypes(a, b)
	case "enum":
		return combineEnums(a, b)
	case "uniqueItems", "deprecated":
		return json.RawMessage("true"), true
	case "items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		return combineSchemas(a, b)
	case "description":
		return combineTexts(a, b), true
	}
	return a, isAnnotation(keyword)
}

// combineTexts joins two descriptions, unless one of them says all of the other.
func combineTexts(a, b json.RawMessage) json.RawMessage {
	mine, other := rawjson.Unquote(a), rawjson.Unquote(b)
	switch {
	case strings.Contains(mine, other):
		return a
	case strings.Contains(other, mine):
		return b
	}
	return rawjson.Quote(mine + " " + other)
}

// combineMaps unites named schemas. Of a name in both, both hold.
func combineMaps(a, b json.RawMessage, definitions bool) json.RawMessage {
	all, ok := parseObject(a)
	if !ok {
		return b
	}
	for m := range rawjson.Each(b) {
		mine := all.value(m.Name)
		if mine == nil {
			all.set(m.Name, m.Value)
		} else if both, ok := combineSchemas(mine, m.Value); ok && !definitions {
			all.set(m.Name, both)
		}
	}
	return all.raw()
}

// combineSchemas returns the schema of values that two others admit.
func combineSchemas(a, b json.RawMessage) (json.RawMessage, bool) {
	switch {
	case isTrue(a) || isFalse(b):
		return b, true
	case isTrue(b) || isFalse(a) || rawjson.Same(a, b):
		return a, true
	case literal(a) != "object" || literal(b) != "object":
		return a, false
	}
	return combined("allOf", a, b), true
}

// combined returns the schema of these branches under a keyword; the branch itself if there is one.
func combined(keyword string, branches ...json.RawMessage) json.RawMessage {
	if len(branches) == 1 {
		return branches[0]
	}
	return rawjson.Build(keyword, rawjson.Array(branches))
}

func combineTypes(a, b json.RawMessage) (json.RawMessage, bool) {
	both := typeKinds(a) & typeKinds(b)
	if both == 0 || both == jsonschema.AnyKind {
		return a, false
	}
	return quoteTypes(both.Names()), true
}

func combineEnums(a, b json.RawMessage) (json.RawMessage, bool) {
	mine, _ := rawjson.Elements(a)
	theirs, _ := rawjson.Elements(b)
	shared := setOf(theirs)
	both := slices.DeleteFunc(mine, func(value json.RawMessage) bool { return !shared[string(rawjson.Compact(value))] })
	if len(both) == 0 {
		return a, false
	}
	return rawjson.Array(both), true
}

// setOf makes a set of values, without their spaces.
func setOf(list []json.RawMessage) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, value := range list {
		set[string(rawjson.Compact(value))] = true
	}
	return set
}

// distinct returns the values without those that are there twice.
func distinct(values []json.RawMessage) []json.RawMessage {
	var kept []json.RawMessage
	seen := make(map[string]bool, len(values))
	for _, value := range values {
		if key := string(rawjson.Compact(value)); !seen[key] {
			seen[key] = true
			kept = append(kept, value)
		}
	}
	return kept
}

func containsJSON(list []json.RawMessage, value json.RawMessage) bool {
	return slices.ContainsFunc(list, func(one json.RawMessage) bool { return rawjson.Same(one, value) })
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// further returns the larger of two numbers if sign is 1, the smaller if it is -1.
func further(a, b json.RawMessage, sign int) json.RawMessage {
	if compareNumbers(b, a) == sign {
		return b
	}
	return a
}

// compareNumbers compares by value, more exactly than a float64 would.
func compareNumbers(a, b json.RawMessage) int {
	const precision = 512
	x, _, errX := big.ParseFloat(string(a), 10, precision, big.ToNearestEven)
	y, _, errY := big.ParseFloat(string(b), 10, precision, big.ToNearestEven)
	if errX != nil || errY != nil {
		return 0
	}
	return x.Cmp(y)
}
