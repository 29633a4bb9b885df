package convert

import (
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// unionRules convert anyOf and oneOf.
type unionRules struct {
	*report
	*schemaReader
	refs *references
}

// unions converts anyOf and oneOf to the target.
func (u *unionRules) unions(o *object, at *place) {
	p := at.profile
	if !p.plain() {
		return
	}
	u.oneOfToAnyOf(o, *at)
	if !o.Has("anyOf") {
		return
	}
	u.pruneBranches(o, *at)
	if !p.restricted() {
		return
	}
	u.constBranches(o, *at)
	u.bareBranches(o, *at)
	u.nullBranch(o, *at)
	u.unwrap(o, at)
	if p.loneUnions() {
		u.distribute(o, at)
	}
}

// oneOfToAnyOf replaces oneOf with anyOf. That is lossless if no value matches two of the branches.
func (u *unionRules) oneOfToAnyOf(o *object, at place) {
	if !o.Has("oneOf") {
		return
	}
	if o.Has("anyOf") {
		branches := o.Drop("oneOf")
		if at.profile.keeps("allOf", at.root) {
			o.Set("allOf", jsonschema.List(append(o.Get("allOf").Elements(), jsonschema.Build("oneOf", branches))...))
			return
		}
		u.recordLoss(at, Lossy, "dropped", "oneOf next to anyOf")
		return
	}
	severity := Lossy
	if u.disjoint(o.Get("oneOf").Elements()) {
		severity = Info
	}
	o.Rename("oneOf", "anyOf")
	u.recordLoss(at, severity, "changed", "oneOf to anyOf")
}

// valuesOf returns the const or enum values of a schema, or nil.
func valuesOf(schema *node) []*node {
	if value := schema.Get("const"); value != nil {
		return []*node{value}
	}
	return schema.Get("enum").Elements()
}

// pruneBranches removes branches that allow no value, and duplicates.
func (u *unionRules) pruneBranches(o *object, at place) {
	branches := o.Get("anyOf").Elements()
	kept := slices.DeleteFunc(distinct(branches), isFalse)
	if len(kept) == len(branches) {
		return
	}
	if len(kept) == 0 {
		o.Drop("anyOf")
		u.recordLoss(at, Lossy, "changed", "the schema false to one that accepts any value")
		return
	}
	o.Set("anyOf", jsonschema.List(kept...))
}

// constBranches replaces a union of constants with one enum. It keeps branches with descriptions, which explain their
// constants.
func (u *unionRules) constBranches(o *object, at place) {
	if at.profile.keeps("const", at.root) || o.Has("enum", "const") {
		return
	}
	var values []*node
	for _, branch := range o.Get("anyOf").Elements() {
		if len(valuesOf(branch)) == 0 || hasBeyond(branch, "const", "enum", "type", "title") {
			return
		}
		values = append(values, valuesOf(branch)...)
	}
	if len(values) < 2 {
		return
	}
	o.Drop("anyOf")
	o.Set("enum", jsonschema.List(distinct(values)...))
	u.recordLoss(at, Info, "changed", "anyOf of constants to enum")
}

// hasBeyond reports whether a schema has members that are not among names.
func hasBeyond(schema *node, names ...string) bool {
	return slices.ContainsFunc(schema.Members(), func(m member) bool { return !slices.Contains(names, m.Name) })
}

// bareBranches removes a union whose branches only require properties, and keeps it as a hint.
func (u *unionRules) bareBranches(o *object, at place) {
	var needs []string
	for _, branch := range o.Get("anyOf").Elements() {
		if !branch.Has("required") || hasBeyond(branch, "required", "title", "description", "not", "type") ||
			branch.Has("type") && branch.Get("type").Text() != "object" {
			return
		}
		needs = append(needs, strings.Join(branch.Get("required").Texts(), " and "))
	}
	if len(needs) == 0 {
		return
	}
	o.Drop("anyOf")
	hint := "needs " + strings.Join(needs, ", or ")
	if len(hint) > longestHint {
		hint = ""
	}
	u.moved(o, at, "anyOf of required", hint, true)
}

// nullBranch replaces a null branch with nullable.
func (u *unionRules) nullBranch(o *object, at place) {
	if !at.profile.openAPI {
		return
	}
	branches := o.Get("anyOf").Elements()
	kept := slices.DeleteFunc(slices.Clone(branches), u.isNull)
	if len(kept) == len(branches) || len(kept) == 0 {
		return
	}
	o.Set("anyOf", jsonschema.List(kept...))
	o.Set("nullable", valueOf("true"))
	u.recordLoss(at, Info, "changed", "null to nullable")
}

// unwrap replaces a union of one branch with the branch.
func (u *unionRules) unwrap(o *object, at *place) {
	for range maxDepth {
		branches := o.Get("anyOf").Elements()
		if len(branches) != 1 {
			return
		}
		only := branches[0]
		// A union of one allows keywords next to a ref that must be alone.
		wrapsRef := at.profile.closed && only.Has("$ref") && u.refs.keepsRef(only.Get("$ref").Text(), *at)
		if !only.IsObject() || wrapsRef {
			return
		}
		branch := u.refs.flat(only, at)
		u.oneOfToAnyOf(branch, *at)
		o.Drop("anyOf")
		u.refs.mergeReported(o, branch, *at)
	}
}

// distribute copies restrictions next to anyOf into each branch, if the target does not allow them there.
func (u *unionRules) distribute(o *object, at *place) {
	branches := slices.Clone(o.Get("anyOf").Elements())
	if len(branches) == 0 {
		return
	}
	base := o.clone()
	base.Drop("anyOf")
	base.Keep(restricts)
	base.Drop("nullable")
	if len(base.Members()) == 0 {
		return
	}
	var open []string
	for i, text := range branches {
		where := *at
		where.inline = true
		branch := u.refs.flat(text, &where)
		if branch == nil {
			continue
		}
		u.refs.nodes++
		u.refs.mergeReported(branch, base, *at)
		open = union(open, where.open[len(at.open):])
		branches[i] = branch.node
	}
	at.open = append(slices.Clip(at.open), open...)
	nullable := o.Get("nullable")
	o.Keep(func(m member) bool { return !restricts(m) })
	o.Set("nullable", nullable)
	o.Set("anyOf", jsonschema.List(branches...))
}
