package convert

import (
	"math/big"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// mergeAllOf merges the branches of allOf into the schema. If that is not possible, allOf remains if the target
// supports it.
func (r *references) mergeAllOf(o *object, at *place) {
	must := at.root && at.profile.noRootUnions
	if !o.Has("allOf") || !at.profile.plain() && !must {
		return
	}
	merged, where, count := o.clone(), *at, len(r.losses)
	where.inline = true
	branches := merged.Get("allOf").Elements()
	merged.Drop("allOf")
	var lost []string
	for _, text := range branches {
		branch := r.flat(text, &where)
		if branch == nil {
			lost = append(lost, "the schema false")
			continue
		}
		lost = append(lost, merge(merged, branch)...)
	}
	if len(lost) > 0 && !must && at.profile.keeps("allOf", at.root) {
		r.dropLossesAfter(count)
		return
	}
	r.recordLoss(*at, Info, "changed", "allOf to one schema")
	r.reportConflicts(*at, lost)
	*o = *merged
	at.open = where.open
}

// mergeReported merges another schema and reports conflicts. With conflicts, a target that supports allOf gets allOf
// instead.
func (r *references) mergeReported(o, other *object, at place) {
	merged := o.clone()
	lost := merge(merged, other)
	if len(lost) > 0 && at.profile.keeps("allOf", at.root) && (!at.root || !at.profile.noRootUnions) {
		o.Set("allOf", jsonschema.List(append(o.Get("allOf").Elements(), other.node)...))
		return
	}
	r.reportConflicts(at, lost)
	*o = *merged
}

func (r *references) reportConflicts(at place, keywords []string) {
	for _, keyword := range keywords {
		r.recordLoss(at, Lossy, "dropped", keyword+" that conflicts with another")
	}
}

// merge adds another schema for the same value. It returns conflicting keywords, of which the first value is kept.
func merge(o, other *object) (lost []string) {
	o.hints = append(o.hints, other.hints...)
	lost = dependentConflicts(o, other)
	for _, m := range other.Members() {
		if slices.Contains(lost, m.Name) {
			continue
		}
		mine := o.Get(m.Name)
		if mine == nil {
			o.Set(m.Name, m.Node)
			continue
		}
		if mine.Same(m.Node) {
			continue
		}
		both, ok := combine(m.Name, mine, m.Node)
		if !ok {
			lost = append(lost, m.Name)
			continue
		}
		o.Set(m.Name, both)
	}
	return lost
}

// dependentConflicts returns the keywords of a second schema whose meaning would change next to those of the first.
func dependentConflicts(o, other *object) (names []string) {
	names = append(names, grouped(o, other, "if", "then", "else")...)
	names = append(names, grouped(o, other, "contains", "minContains", "maxContains")...)
	if o.Has("prefixItems", "additionalItems") || other.Has("prefixItems", "additionalItems") {
		names = append(names, grouped(o, other, "prefixItems", "items", "additionalItems")...)
	}
	if limitsRest(other) && declaresOthers(o, other) || limitsRest(o) && declaresOthers(other, o) {
		names = append(names, "additionalProperties")
	}
	for _, keyword := range []string{"unevaluatedProperties", "unevaluatedItems"} {
		if other.Has(keyword) && !other.Get(keyword).Is("true") && slices.ContainsFunc(o.Members(), restricts) {
			names = append(names, keyword)
		}
	}
	return names
}

func restricts(m member) bool { return isRestriction(m.Name) }

// grouped returns the second schema's keywords of a group, if the first has some of them with other values.
func grouped(o, other *object, group ...string) (names []string) {
	same := true
	for _, name := range group {
		if other.Has(name) {
			names = append(names, name)
		}
		same = same && o.Get(name).Same(other.Get(name))
	}
	if same || !o.Has(group...) {
		return nil
	}
	return names
}

// limitsRest reports whether a schema restricts undeclared properties.
func limitsRest(o *object) bool {
	return o.Has("additionalProperties") && !o.Get("additionalProperties").Is("true")
}

// declaresOthers reports whether the first schema declares properties that the second does not.
func declaresOthers(o, other *object) bool {
	for _, keyword := range []string{"properties", "patternProperties"} {
		theirs := other.Get(keyword)
		for _, m := range o.Get(keyword).Members() {
			if !theirs.Has(m.Name) {
				return true
			}
		}
	}
	return false
}

// combine returns the value of a keyword for which both schemas apply; ok is false if there is none.
func combine(keyword string, a, b *node) (*node, bool) {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return combineMaps(a, b, keyword == "$defs" || keyword == "definitions"), true
	case "required":
		return jsonschema.Strings(union(a.Texts(), b.Texts())), true
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		return further(a, b, 1), true
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		return further(a, b, -1), true
	case "type":
		return combineTypes(a, b)
	case "enum":
		return combineEnums(a, b)
	case "uniqueItems", "deprecated":
		return valueOf("true"), true
	case "items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		return combineSchemas(a, b)
	case "description":
		return combineTexts(a, b), true
	}
	return a, isAnnotation(keyword)
}

// combineTexts joins two descriptions, unless one contains the other.
func combineTexts(a, b *node) *node {
	mine, other := a.Text(), b.Text()
	switch {
	case strings.Contains(mine, other):
		return a
	case strings.Contains(other, mine):
		return b
	}
	return jsonschema.Quoted(mine + " " + other)
}

// combineMaps merges named schemas. If both have a name, both schemas apply.
func combineMaps(a, b *node, definitions bool) *node {
	all := editable(a)
	for _, m := range b.Members() {
		mine := all.Get(m.Name)
		if mine == nil {
			all.Set(m.Name, m.Node)
		} else if both, ok := combineSchemas(mine, m.Node); ok && !definitions {
			all.Set(m.Name, both)
		}
	}
	return all
}

// combineSchemas returns the schema of values that match both schemas.
func combineSchemas(a, b *node) (*node, bool) {
	switch {
	case a.Is("true") || b.Is("false"):
		return b, true
	case b.Is("true") || a.Is("false") || a.Same(b):
		return a, true
	case !a.IsObject() || !b.IsObject():
		return a, false
	}
	return combined("allOf", a, b), true
}

// combined returns a schema with branches under a keyword, or the only branch.
func combined(keyword string, branches ...*node) *node {
	if len(branches) == 1 {
		return branches[0]
	}
	return jsonschema.Build(keyword, jsonschema.List(branches...))
}

func combineTypes(a, b *node) (*node, bool) {
	both := typeKinds(a) & typeKinds(b)
	if both == 0 || both == jsonschema.AnyKind {
		return a, false
	}
	return quoteTypes(both.Names()), true
}

func combineEnums(a, b *node) (*node, bool) {
	shared := make(map[string]bool)
	for _, value := range b.Elements() {
		shared[compact(value)] = true
	}
	both := slices.DeleteFunc(slices.Clone(a.Elements()), func(value *node) bool { return !shared[compact(value)] })
	if len(both) == 0 {
		return a, false
	}
	return jsonschema.List(both...), true
}

// distinct returns the values without duplicates.
func distinct(values []*node) []*node {
	var kept []*node
	seen := make(map[string]bool, len(values))
	for _, value := range values {
		if key := compact(value); !seen[key] {
			seen[key] = true
			kept = append(kept, value)
		}
	}
	return kept
}

func containsJSON(list []*node, value *node) bool {
	return slices.ContainsFunc(list, func(one *node) bool { return one.Same(value) })
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
func further(a, b *node, sign int) *node {
	if compareNumbers(b, a) == sign {
		return b
	}
	return a
}

// compareNumbers compares numbers with more precision than float64.
func compareNumbers(a, b *node) int {
	const precision = 512
	x, _, errX := big.ParseFloat(compact(a), 10, precision, big.ToNearestEven)
	y, _, errY := big.ParseFloat(compact(b), 10, precision, big.ToNearestEven)
	if errX != nil || errY != nil {
		return 0
	}
	return x.Cmp(y)
}
