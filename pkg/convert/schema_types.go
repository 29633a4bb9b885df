package convert

import (
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
)

// typesOf returns the types of a schema in lower case.
func typesOf(schema *node) []string {
	list := writtenTypes(schema)
	for i, name := range list {
		if isType(name) {
			list[i] = strings.ToLower(name)
		}
	}
	return list
}

func writtenTypes(schema *node) []string {
	written := schema.Get("type")
	if written.IsString() {
		return []string{written.Text()}
	}
	return written.Texts()
}

func isType(name string) bool { return jsonschema.KindsNamed(name) != 0 }

func quoteTypes(types []string) *node {
	if len(types) == 1 {
		return jsonschema.Quoted(types[0])
	}
	return jsonschema.Strings(types)
}

// typeKinds returns the kinds of the type keyword's value; AnyKind if it is missing.
func typeKinds(value *node) jsonschema.Kinds {
	return jsonschema.Build("type", value).Kinds()
}

// isOne reports whether kind is a schema's only type.
func isOne(schema *node, kind string) bool {
	types := typesOf(schema)
	return len(types) == 1 && types[0] == kind
}

// typeRules convert types, const, and arrays.
type typeRules struct {
	*report
	*schemaReader
}

// constants converts const to the target's form.
func (t *typeRules) constants(o *object, at place) {
	value, kept := o.Get("const"), at.profile.keeps("const", at.root)
	switch {
	case value == nil || kept && (at.profile.refs || o.Has("enum")):
	case kept: // small models understand enum better
		o.Set("enum", jsonschema.List(value))
	default:
		o.Drop("const")
		o.Set("enum", jsonschema.List(value))
		t.recordLoss(at, Info, "changed", "const to enum")
	}
}

// types adds missing types if they are certain, and converts lists of types to the target.
func (t *typeRules) types(o *object, at place) {
	p := at.profile
	if !p.restricted() {
		return
	}
	t.inferType(o)
	if types := typesOf(o.node); len(types) == 1 && !p.openAPI {
		o.Set("type", quoteTypes(types)) // ["string"] is "string"
	}
	t.openAPINull(o, at)
	if p.openAPI {
		t.nullType(o, at)
		t.anyValue(o, at)
		t.splitTypes(o, at)
	}
	t.dropIdle(o, at)
}

// dropIdle removes keywords that do not apply to the schema's types.
func (t *typeRules) dropIdle(o *object, at place) {
	if !o.Has("type") {
		return
	}
	kinds := typeKinds(o.Get("type"))
	idle := o.Keep(func(m member) bool {
		return jsonschema.KeywordKinds(m.Name).Has(kinds) ||
			m.Name == "format" && slices.Contains(at.profile.formats, m.Node.Text())
	})
	for _, m := range idle {
		t.recordLoss(at, Info, "dropped", m.Name+", which does not apply to "+kinds.String())
	}
}

// inferType adds the type that a schema's values or other keywords imply.
func (t *typeRules) inferType(o *object) {
	if o.Has("type", "anyOf", "$ref") {
		return
	}
	if kinds := t.shape(o.node).Implied(); kinds != jsonschema.AnyKind {
		o.setType(kinds.Names()...)
	}
}

// openAPINull replaces OpenAPI's nullable with a type, unless the target supports it.
func (t *typeRules) openAPINull(o *object, at place) {
	if at.profile.openAPI || !o.Has("nullable") || at.root {
		return
	}
	if o.Drop("nullable").Is("true") {
		t.addNull(o)
		t.recordLoss(at, Info, "changed", "nullable to null")
	}
}

// addNull makes a schema allow null too.
func (t *typeRules) addNull(o *object) {
	null := valueOf("null")
	if ref := o.Drop("$ref"); ref != nil {
		o.Set("anyOf", jsonschema.List(jsonschema.Build("$ref", ref)))
	}
	switch types := typesOf(o.node); {
	case o.Has("anyOf"):
		if !slices.ContainsFunc(o.Get("anyOf").Elements(), t.isNull) {
			o.Set("anyOf", jsonschema.List(append(o.Get("anyOf").Elements(), jsonschema.Build("type", "null"))...))
		}
		return
	case len(types) > 0 && !slices.Contains(types, "null"):
		o.Set("type", quoteTypes(append(types, "null")))
	}
	if value := o.Drop("const"); value != nil && !value.Is("null") {
		o.Set("enum", jsonschema.List(value, null))
	}
	if values := o.Get("enum").Elements(); values != nil && !containsJSON(values, null) {
		o.Set("enum", jsonschema.List(append(values, null)...))
	}
}

// nullType replaces null in a schema's types and values with nullable.
func (t *typeRules) nullType(o *object, at place) {
	null := valueOf("null")
	types, values := typesOf(o.node), o.Get("enum").Elements()
	others := slices.DeleteFunc(slices.Clone(types), func(kind string) bool { return kind == "null" })
	found := len(others) > 0 && len(others) < len(types)
	if found {
		o.Set("type", quoteTypes(others))
	}
	if len(values) > 1 && containsJSON(values, null) {
		o.Set("enum", jsonschema.List(slices.DeleteFunc(slices.Clone(values), null.Same)...))
		found = found || !o.Has("nullable")
	}
	if !found || at.root {
		return
	}
	o.Set("nullable", valueOf("true"))
	t.recordLoss(at, Info, "changed", "null to nullable")
}

// splitTypes replaces a list of types with anyOf, each type with its own keywords.
func (t *typeRules) splitTypes(o *object, at place) {
	types := typesOf(o.node)
	if len(types) < 2 {
		return
	}
	branches := make([]*node, len(types))
	for i, kind := range types {
		branches[i] = branchOf(o.node, kind)
	}
	o.Keep(func(m member) bool { return !isRestriction(m.Name) || m.Name == "nullable" })
	o.Set("anyOf", jsonschema.List(branches...))
	t.recordLoss(at, Info, "changed", "list of types to anyOf")
}

// branchOf returns the part of a schema for values of one type.
func branchOf(o *node, kind string) *node {
	branch := jsonschema.Build("type", kind)
	own := jsonschema.KindsNamed(kind)
	for _, m := range o.Members() {
		if about := jsonschema.KeywordKinds(m.Name); about != jsonschema.AnyKind && about.Has(own) {
			branch.Set(m.Name, m.Node)
		}
	}
	values := slices.DeleteFunc(slices.Clone(o.Get("enum").Elements()), func(value *node) bool {
		return !own.Has(jsonschema.KindsIn(value))
	})
	if len(values) > 0 {
		branch.Set("enum", jsonschema.List(values...))
	}
	return branch
}

// anyValue lists all types if the target requires a type in every schema.
func (t *typeRules) anyValue(o *object, at place) {
	if o.Has("type", "anyOf") || at.root {
		return
	}
	o.Set("type", quoteTypes([]string{"string", "number", "boolean", "object"}))
	t.recordLoss(at, Lossy, "changed", "any value to string, number, boolean or object")
}

// spell converts types and the order of members to the target's form.
func (t *typeRules) spell(o *object, at place) {
	p := at.profile
	if p.openAPI && o.Has("type") {
		types := typesOf(o.node)
		for i := range types {
			types[i] = strings.ToUpper(types[i])
		}
		o.Set("type", quoteTypes(types))
	}
	if p.order == nil {
		return
	}
	dropEmpty(o)
	rank := func(m member) int { return slices.Index(p.order, m.Name) }
	byRank := func(a, b member) int { return rank(a) - rank(b) }
	o.Sort(byRank)
}

// arrays converts tuples and missing items to the target.
func (t *typeRules) arrays(o *object, at place) {
	p := at.profile
	if p.refs || p.restricted() {
		t.prefixItems(o, at)
	}
	if p.restricted() {
		t.tupleToList(o, at)
	}
	if !p.itemsNeeded || o.Has("items") && !o.Get("items").Is("true") {
		return
	}
	if slices.Contains(typesOf(o.node), "array") {
		o.Set("items", jsonschema.Build())
		t.recordLoss(at, Info, "changed", "missing items to items of any type")
	}
}

// prefixItems converts the tuples of older drafts, an array under items, to 2020-12.
func (t *typeRules) prefixItems(o *object, at place) {
	if !o.Get("items").IsArray() {
		return
	}
	rest := o.Drop("additionalItems")
	if len(o.Get("items").Elements()) == 0 || o.Has("prefixItems") {
		o.Drop("items")
	} else {
		o.Rename("items", "prefixItems")
	}
	if rest != nil {
		o.Set("items", rest)
	}
	t.recordLoss(at, Info, "changed", "array of items to prefixItems")
}

// tupleToList converts a tuple to a list whose items match any of its schemas.
func (t *typeRules) tupleToList(o *object, at place) {
	tuple := distinct(o.Get("prefixItems").Elements())
	if o.Get("items").Is("false") {
		o.Drop("items")
		if length := len(o.Get("prefixItems").Elements()); !o.Has("maxItems") {
			o.Set("maxItems", valueOf(strconv.Itoa(length)))
		}
	}
	if len(tuple) == 0 {
		return
	}
	var names []string
	for _, text := range o.Get("prefixItems").Elements() {
		names = append(names, t.nameOf(text))
	}
	t.moved(o, at, "prefixItems", "in this order: "+strings.Join(names, ", "), true)
	o.Drop("prefixItems")
	if rest := o.Get("items"); rest != nil && !rest.Is("true") && !containsJSON(tuple, rest) {
		tuple = append(tuple, rest)
	}
	o.Set("items", combined("anyOf", tuple...))
}
