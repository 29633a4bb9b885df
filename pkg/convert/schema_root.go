package convert

import (
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// root makes the root an object with named properties, as every provider requires.
func (w *walker) root(o *object, at *place) {
	if !at.root {
		return
	}
	if at.profile.noRootUnions {
		w.unions.foldUnions(o, at)
		w.dropRootLimits(o, *at)
	}
	w.rootType(o, *at)
	if at.profile.propertiesNeeded && !o.Has("properties") {
		o.Set("properties", jsonschema.Build())
	}
}

func (w *walker) rootType(o *object, at place) {
	if kinds := typeKinds(o.Get("type")); !kinds.Has(jsonschema.Object) {
		w.refuse(at, "its input schema allows only %s, but arguments are always an object", kinds)
		return
	}
	o.Drop("nullable")
	if o.Get("type").Text() == "" || !isOne(o.node, "object") {
		o.setType("object")
	}
}

// dropRootLimits removes keywords that providers reject at the root.
func (w *walker) dropRootLimits(o *object, at place) {
	for _, keyword := range []string{"enum", "const", "not"} {
		if o.Has(keyword) {
			w.filter.explain(o, member{Name: keyword, Node: o.Drop(keyword)}, at)
		}
	}
}

// foldUnions merges the alternatives of the root into one object with all their properties, which requires only what
// all of them require.
func (u *unionRules) foldUnions(o *object, at *place) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		branches := o.Get(keyword).Elements()
		if branches == nil {
			continue
		}
		o.Drop(keyword)
		alternatives := u.alternatives(branches, at)
		switch len(alternatives) {
		case 0:
			u.refuse(*at, "none of the alternatives in its input schema allows an object")
			return
		case 1:
			u.refs.mergeReported(o, alternatives[0], *at)
			u.recordLoss(*at, Info, "changed", keyword+" to one schema")
		default:
			fold(o, alternatives)
			u.recordLoss(*at, Lossy, "changed", keyword+" at the root to optional properties")
		}
	}
}

// alternatives reads the branches of a union at the root that are objects.
func (u *unionRules) alternatives(branches []*node, at *place) []*object {
	var list []*object
	var open []string
	for _, text := range branches {
		where := *at
		where.inline = true
		branch := u.refs.flat(text, &where)
		if branch == nil {
			continue
		}
		if kinds := typeKinds(branch.Get("type")); !kinds.Has(jsonschema.Object) {
			u.recordLoss(*at, Lossy, "dropped", "alternative of type "+kinds.String())
			continue
		}
		u.foldUnions(branch, &where)
		open = union(open, where.open[len(at.open):])
		list = append(list, branch)
	}
	at.open = append(slices.Clip(at.open), open...)
	return list
}

// fold merges alternatives into the schema that applies to all of them.
func fold(o *object, alternatives []*object) {
	if hint := needs(alternatives); hint != "" {
		o.hints = append(o.hints, hint)
	}
	base := editable(o.Get("properties"))
	for _, name := range propertyNames(alternatives) {
		base.Set(name, alternativesOf(name, base.Get(name), alternatives))
	}
	if len(base.Members()) > 0 {
		o.Set("properties", base)
	}
	if required := requiredByAll(alternatives); len(required) > 0 {
		o.Set("required", jsonschema.Strings(union(o.Get("required").Texts(), required)))
	}
	open := func(a *object) bool { return !a.Get("additionalProperties").Is("false") }
	if !slices.ContainsFunc(alternatives, open) && !o.Has("additionalProperties") {
		o.Set("additionalProperties", valueOf("false"))
	}
}

// needs describes what each alternative requires.
func needs(alternatives []*object) string {
	var each []string
	for _, a := range alternatives {
		required := a.Get("required").Texts()
		if len(required) == 0 {
			return ""
		}
		if text := strings.Join(required, " and "); !slices.Contains(each, text) {
			each = append(each, text)
		}
	}
	if hint := "needs " + strings.Join(each, ", or "); len(each) > 1 && len(hint) <= longestHint {
		return hint
	}
	return ""
}

func propertyNames(alternatives []*object) []string {
	var all []string
	for _, a := range alternatives {
		for _, m := range a.Get("properties").Members() {
			all = union(all, []string{m.Name})
		}
	}
	return all
}

func requiredByAll(alternatives []*object) []string {
	return slices.DeleteFunc(alternatives[0].Get("required").Texts(), func(name string) bool {
		return slices.ContainsFunc(alternatives, func(a *object) bool {
			return !slices.Contains(a.Get("required").Texts(), name)
		})
	})
}

// alternativesOf returns the schema of a property in any of the alternatives. If one of them does not restrict it, only
// base applies.
func alternativesOf(name string, base *node, alternatives []*object) *node {
	var all []*node
	for _, a := range alternatives {
		own := a.Get("properties").Get(name)
		switch {
		case own == nil && base != nil:
			return base
		case own == nil:
			continue
		case base != nil:
			own, _ = combineSchemas(base, own)
		}
		all = append(all, own)
	}
	return anyOfThese(distinct(all))
}

// anyOfThese returns a union of schemas, as one enum if all are constants.
func anyOfThese(list []*node) *node {
	if len(list) == 1 {
		return list[0]
	}
	var values []*node
	var said []string
	for _, one := range list {
		if len(valuesOf(one)) == 0 || hasBeyond(one, "const", "enum", "type", "title", "description", "default") {
			return combined("anyOf", list...)
		}
		values = append(values, valuesOf(one)...)
		if text := one.Get("description").Text(); text != "" {
			said = union(said, []string{text})
		}
	}
	if len(said) > 1 { // each describes its value
		return combined("anyOf", list...)
	}
	values = distinct(values)
	var description *node
	if len(said) == 1 {
		description = jsonschema.Quoted(said[0])
	}
	return jsonschema.Build("type", quoteTypes(jsonschema.KindsIn(values...).Names()),
		"enum", jsonschema.List(values...), "description", description)
}
