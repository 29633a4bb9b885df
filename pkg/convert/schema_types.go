package convert

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// typesOf returns the types that a schema names, in small letters.
func typesOf(o *object) []string { return typeList(o.value("type")) }

func typeList(text json.RawMessage) []string {
	list := stringList(text)
	if rawjson.IsString(text) {
		list = []string{rawjson.Unquote(text)}
	}
	for i, name := range list {
		if isType(name) {
			list[i] = strings.ToLower(name)
		}
	}
	return list
}

func isType(name string) bool { return jsonschema.KindsNamed(name) != 0 }

func quoteTypes(types []string) json.RawMessage {
	if len(types) == 1 {
		return rawjson.Quote(types[0])
	}
	return quoteList(types)
}

// typeKinds returns the kinds that the value of a type names; AnyKind where it names none.
func typeKinds(value json.RawMessage) jsonschema.Kinds {
	return jsonschema.Parse(rawjson.Build("type", value)).Root().Kinds()
}

// isOne reports whether kind is a schema's only type.
func isOne(o *object, kind string) bool {
	types := typesOf(o)
	return len(types) == 1 && types[0] == kind
}

// constants writes const as the target knows it.
func (f *fitter) constants(o *object, at place) {
	value, kept := o.value("const"), at.profile.keeps("const", at.root)
	switch {
	case value == nil || kept && (at.profile.refs || o.has("enum")):
	case kept: // small models know enum better
		o.set("enum", rawjson.Array([]json.RawMessage{value}))
	default:
		o.drop("const")
		o.set("enum", rawjson.Array([]json.RawMessage{value}))
		f.recordLoss(at, Info, "changed", "const to enum")
	}
}

// types adds the types that a schema lacks but surely has, and fits lists of them to the target.
func (f *fitter) types(o *object, at place) {
	p := at.profile
	if !p.restricted() {
		return
	}
	f.inferType(o)
	if types := typesOf(o); len(types) == 1 && !p.openAPI {
		o.set("type", quoteTypes(types)) // ["string"] is "string"
	}
	f.openAPINull(o, at)
	if p.openAPI {
		f.nullType(o, at)
		f.anyValue(o, at)
		f.splitTypes(o, at)
	}
	f.dropIdle(o, at)
}

// dropIdle removes keywords about other kinds than the schema's own.
func (f *fitter) dropIdle(o *object, at place) {
	if !o.has("type") {
		return
	}
	kinds := typeKinds(o.value("type"))
	idle := o.keepOnly(func(keyword string) bool {
		return jsonschema.KeywordKinds(keyword).Has(kinds) ||
			keyword == "format" && slices.Contains(at.profile.formats, o.text("format"))
	})
	for _, m := range idle {
		f.recordLoss(at, Info, "dropped", m.Name+", which says nothing of "+kinds.String())
	}
}

// inferType names the type that a schema's values, or its other keywords, imply.
func (f *fitter) inferType(o *object) {
	if o.has("type", "anyOf", "$ref") {
		return
	}
	if kinds := f.shape(o.raw()).Implied(); kinds != jsonschema.AnyKind {
		o.setType(kinds.Names()...)
	}
}

// openAPINull rewrites OpenAPI's nullable as a type, unless the target knows it.
func (f *fitter) openAPINull(o *object, at place) {
	if at.profile.openAPI || !o.has("nullable") || at.root {
		return
	}
	if isTrue(o.drop("nullable")) {
		f.addNull(o)
		f.recordLoss(at, Info, "changed", "nullable to null")
	}
}

// addNull makes a schema admit null too.
func (f *fitter) addNull(o *object) {
	null := json.RawMessage("null")
	if ref := o.drop("$ref"); ref != nil {
		o.set("anyOf", rawjson.Array([]json.RawMessage{rawjson.Build("$ref", ref)}))
	}
	switch types := typesOf(o); {
	case o.has("anyOf"):
		if !slices.ContainsFunc(o.list("anyOf"), f.isNull) {
			o.set("anyOf", rawjson.Array(append(o.list("anyOf"), json.RawMessage(`{"type":"null"}`))))
		}
		return
	case len(types) > 0 && !slices.Contains(types, "null"):
		o.set("type", quoteTypes(append(types, "null")))
	}
	if value := o.drop("const"); value != nil && literal(value) != "null" {
		o.set("enum", rawjson.Array([]json.RawMessage{value, null}))
	}
	if values := o.list("enum"); values != nil && !containsJSON(values, null) {
		o.set("enum", rawjson.Array(append(values, null)))
	}
}

// nullType rewrites null among a schema's types and values as nullable.
func (f *fitter) nullType(o *object, at place) {
	null := json.RawMessage("null")
	types, values := typesOf(o), o.list("enum")
	others := slices.DeleteFunc(slices.Clone(types), func(kind string) bool { return kind == "null" })
	found := len(others) > 0 && len(others) < len(types)
	if found {
		o.set("type", quoteTypes(others))
	}
	if len(values) > 1 && containsJSON(values, null) {
		o.set("enum", rawjson.Array(slices.DeleteFunc(values,
			func(value json.RawMessage) bool { return rawjson.Same(value, null) })))
		found = found || !o.has("nullable")
	}
	if !found || at.root {
		return
	}
	o.set("nullable", json.RawMessage("true"))
	f.recordLoss(at, Info, "changed", "null to nullable")
}

// splitTypes rewrites a list of types as anyOf, each with its own keywords.
func (f *fitter) splitTypes(o *object, at place) {
	types := typesOf(o)
	if len(types) < 2 {
		return
	}
	branches := make([]json.RawMessage, len(types))
	for i, kind := range types {
		branches[i] = branchOf(o, kind).raw()
	}
	o.keepOnly(func(name string) bool { return !isRestriction(name) || name == "nullable" })
	o.set("anyOf", rawjson.Array(branches))
	f.recordLoss(at, Info, "changed", "list of types to anyOf")
}

// branchOf returns the part of a schema that speaks about values of one type.
func branchOf(o *object, kind string) *object {
	branch := newObject(rawjson.NewMember("type", rawjson.Quote(kind)))
	own := jsonschema.KindsNamed(kind)
	for _, m := range o.members {
		if about := jsonschema.KeywordKinds(m.Name); about != jsonschema.AnyKind && about.Has(own) {
			branch.set(m.Name, m.Value)
		}
	}
	values := slices.DeleteFunc(o.list("enum"), func(value json.RawMessage) bool {
		return !own.Has(jsonschema.KindsIn(value))
	})
	if len(values) > 0 {
		branch.set("enum", rawjson.Array(values))
	}
	return branch
}

// anyValue lists all types if the target wants a type in every schema.
func (f *fitter) anyValue(o *object, at place) {
	if o.has("type", "anyOf") || at.root {
		return
	}
	o.set("type", quoteTypes([]string{"string", "number", "boolean", "object"}))
	f.recordLoss(at, Lossy, "changed", "any value to string, number, boolean or object")
}

// spell writes types and members as the target writes them.
func (f *fitter) spell(o *object, at place) {
	p := at.profile
	if p.openAPI && o.has("type") {
		types := typesOf(o)
		for i := range types {
			types[i] = strings.ToUpper(types[i])
		}
		o.set("type", quoteTypes(types))
	}
	if p.order == nil {
		return
	}
	dropEmpty(o)
	rank := func(m rawjson.Member) int { return slices.Index(p.order, m.Name) }
	byRank := func(a, b rawjson.Member) int { return rank(a) - rank(b) }
	if !slices.IsSortedFunc(o.members, byRank) {
		slices.SortStableFunc(o.members, byRank)
		o.changed = true
	}
}

// arrays fits tuples and missing items to the target.
func (f *fitter) arrays(o *object, at place) {
	p := at.profile
	if p.refs || p.restricted() {
		f.prefixItems(o, at)
	}
	if p.restricted() {
		f.tupleToList(o, at)
	}
	if !p.itemsNeeded || o.has("items") && !isTrue(o.value("items")) {
		return
	}
	if slices.Contains(typesOf(o), "array") {
		o.set("items", json.RawMessage("{}"))
		f.recordLoss(at, Info, "changed", "missing items to items of any kind")
	}
}

// prefixItems rewrites the tuples of older drafts, an array under items, as in 2020-12.
func (f *fitter) prefixItems(o *object, at place) {
	if literal(o.value("items")) != "array" {
		return
	}
	rest := o.drop("additionalItems")
	if len(o.list("items")) == 0 || o.has("prefixItems") {
		o.drop("items")
	} else {
		o.rename("items", "prefixItems")
	}
	if rest != nil {
		o.set("items", rest)
	}
	f.recordLoss(at, Info, "changed", "array of items to prefixItems")
}

// tupleToList rewrites a tuple as a list of what any of its places takes.
func (f *fitter) tupleToList(o *object, at place) {
	tuple := distinct(o.list("prefixItems"))
	if isFalse(o.value("items")) {
		o.drop("items")
		if length := len(o.list("prefixItems")); !o.has("maxItems") {
			o.set("maxItems", json.RawMessage(strconv.Itoa(length)))
		}
	}
	if len(tuple) == 0 {
		return
	}
	var names []string
	for _, text := range o.list("prefixItems") {
		names = append(names, f.nameOf(text))
	}
	f.moved(o, at, "prefixItems", "in this order: "+strings.Join(names, ", "), true)
	o.drop("prefixItems")
	if rest := o.value("items"); rest != nil && !isTrue(rest) && !containsJSON(tuple, rest) {
		tuple = append(tuple, rest)
	}
	o.set("items", combined("anyOf", tuple...))
}

// nameOf returns a schema's title, its kinds, or the name by which it is referred to.
func (f *fitter) nameOf(text json.RawMessage) string {
	shape := f.shape(text)
	if kinds := shape.Kinds(); shape.Title == "" && kinds != jsonschema.AnyKind {
		return kinds.String()
	}
	return cmp.Or(shape.Title, strings.Join(shape.Unknown, " or "), shape.Name, "any")
}
