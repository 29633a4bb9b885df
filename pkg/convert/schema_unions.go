package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// unions fits anyOf and oneOf to the target.
func (f *fitter) unions(o *object, at *place) {
	p := at.profile
	if !p.plain() {
		return
	}
	f.oneOfToAnyOf(o, *at)
	if !o.has("anyOf") {
		return
	}
	f.pruneBranches(o, *at)
	if !p.restricted() {
		return
	}
	f.constBranches(o, *at)
	f.bareBranches(o, *at)
	f.nullBranch(o, *at)
	f.unwrap(o, at)
	if p.loneUnions() {
		f.distribute(o, at)
	}
}

// oneOfToAnyOf rewrites oneOf as anyOf. Nothing is lost if no value fits two of the branches.
func (f *fitter) oneOfToAnyOf(o *object, at place) {
	if !o.has("oneOf") {
		return
	}
	if o.has("anyOf") {
		branches := o.drop("oneOf")
		if at.profile.keeps("allOf", at.root) {
			o.set("allOf", rawjson.Array(append(o.list("allOf"), rawjson.Build("oneOf", branches))))
			return
		}
		f.recordLoss(at, Lossy, "dropped", "oneOf beside anyOf")
		return
	}
	severity := Lossy
	if f.disjoint(o.list("oneOf")) {
		severity = Info
	}
	o.rename("oneOf", "anyOf")
	f.recordLoss(at, severity, "changed", "oneOf to anyOf")
}

// disjoint reports whether no value fits two of the branches, judged by their types and constant properties.
func (f *fitter) disjoint(branches []json.RawMessage) bool {
	const most = 64 // the comparison is quadratic
	if len(branches) > most {
		return false
	}
	shapes := make([]*jsonschema.Shape, len(branches))
	for i, text := range branches {
		shapes[i] = f.shape(text)
		if slices.ContainsFunc(shapes[:i], func(b *jsonschema.Shape) bool { return !f.apart(shapes[i], b) }) {
			return false
		}
	}
	return true
}

// apart reports whether no value fits two shapes: by their kinds, their values, or those of a property that both need.
func (f *fitter) apart(a, b *jsonschema.Shape) bool {
	if a.Kinds()&b.Kinds() == 0 || valuesApart(a, b) {
		return true
	}
	return slices.ContainsFunc(a.Properties, func(mine jsonschema.Property) bool {
		return mine.Required && slices.ContainsFunc(b.Properties, func(other jsonschema.Property) bool {
			return other.Required && other.Name == mine.Name && valuesApart(f.count(mine.Node), f.count(other.Node))
		})
	})
}

// valuesApart reports whether both shapes list values and share none.
func valuesApart(a, b *jsonschema.Shape) bool {
	return a.Options != nil && b.Options != nil && !(a.Nullable && b.Nullable) &&
		!slices.ContainsFunc(a.Options, func(mine jsonschema.Option) bool {
			return slices.ContainsFunc(b.Options, func(other jsonschema.Option) bool {
				return bytes.Equal(mine.Raw, other.Raw)
			})
		})
}

// valuesOf returns the only values that a schema admits, nil if it names none.
func valuesOf(o *object) []json.RawMessage {
	if value := o.value("const"); value != nil {
		return []json.RawMessage{value}
	}
	return o.list("enum")
}

// pruneBranches removes branches that admit nothing, and those that are there twice.
func (f *fitter) pruneBranches(o *object, at place) {
	branches := o.list("anyOf")
	kept := slices.DeleteFunc(distinct(branches), isFalse)
	if len(kept) == len(branches) {
		return
	}
	if len(kept) == 0 {
		o.drop("anyOf")
		f.recordLoss(at, Lossy, "changed", "the schema false to one that accepts any value")
		return
	}
	o.set("anyOf", rawjson.Array(kept))
}

// constBranches rewrites a union of constants as one enum. Branches with descriptions stay, because each explains its
// constant.
func (f *fitter) constBranches(o *object, at place) {
	if at.profile.keeps("const", at.root) || o.has("enum", "const") {
		return
	}
	var values []json.RawMessage
	for _, text := range o.list("anyOf") {
		branch, ok := parseObject(text)
		if !ok || len(valuesOf(branch)) == 0 || branch.has("description") ||
			hasBeyond(branch, "const", "enum", "type", "title") {
			return
		}
		values = append(values, valuesOf(branch)...)
	}
	if len(values) < 2 {
		return
	}
	o.drop("anyOf")
	o.set("enum", rawjson.Array(distinct(values)))
	f.recordLoss(at, Info, "changed", "anyOf of constants to enum")
}

// hasBeyond reports whether a schema has members that are not among names.
func hasBeyond(o *object, names ...string) bool {
	return slices.ContainsFunc(o.members, func(m rawjson.Member) bool { return !slices.Contains(names, m.Name) })
}

// bareBranches removes a union whose branches only require properties, which a target that reads types can make nothing
// of.
func (f *fitter) bareBranches(o *object, at place) {
	var needs []string
	for _, text := range o.list("anyOf") {
		branch, ok := parseObject(text)
		if !ok || !branch.has("required") || hasBeyond(branch, "required", "title", "description", "not", "type") ||
			branch.has("type") && branch.text("type") != "object" {
			return
		}
		needs = append(needs, strings.Join(branch.stringsOf("required"), " and "))
	}
	if len(needs) == 0 {
		return
	}
	o.drop("anyOf")
	hint := "needs " + strings.Join(needs, ", or ")
	if len(hint) > longestHint {
		hint = ""
	}
	f.moved(o, at, "anyOf of required", hint, true)
}

// nullBranch replaces the null among the branches by the target's own keyword.
func (f *fitter) nullBranch(o *object, at place) {
	if !at.profile.openAPI {
		return
	}
	var kept []json.RawMessage
	branches := o.list("anyOf")
	for _, text := range branches {
		if !f.isNull(text) {
			kept = append(kept, text)
		}
	}
	if len(kept) == len(branches) || len(kept) == 0 {
		return
	}
	o.set("anyOf", rawjson.Array(kept))
	o.set("nullable", json.RawMessage("true"))
	f.recordLoss(at, Info, "changed", "null to nullable")
}

// isNull reports whether a schema admits only null.
func (f *fitter) isNull(text json.RawMessage) bool { return f.shape(text).Kinds() == jsonschema.Null }

// unwrap replaces a union of one branch by the branch.
func (f *fitter) unwrap(o *object, at *place) {
	for range maxDepth {
		branches := o.list("anyOf")
		if len(branches) != 1 {
			return
		}
		only, ok := parseObject(branches[0])
		// A union of one lets something stand beside a ref that must stand alone.
		wrapsRef := ok && at.profile.closed && only.has("$ref") && f.keepsRef(only.text("$ref"), *at)
		if !ok || wrapsRef {
			return
		}
		branch := f.flat(branches[0], at)
		f.oneOfToAnyOf(branch, *at)
		o.drop("anyOf")
		f.mergeTold(o, branch, *at)
	}
}

// distribute makes each branch of a union complete, where nothing that restricts may stand beside anyOf.
func (f *fitter) distribute(o *object, at *place) {
	branches := o.list("anyOf")
	if len(branches) == 0 {
		return
	}
	base := o.clone()
	base.drop("anyOf")
	outside := base.keepOnly(isRestriction)
	base.drop("nullable")
	if len(base.members) == 0 {
		return
	}
	var open []string
	for i, text := range branches {
		where := *at
		where.inline = true
		branch := f.flat(text, &where)
		if branch == nil {
			continue
		}
		f.nodes++
		f.mergeTold(branch, base, *at)
		open = union(open, where.open[len(at.open):])
		branches[i] = branch.raw()
	}
	at.open = append(slices.Clip(at.open), open...)
	nullable := o.value("nullable")
	o.members, o.changed = outside, true
	if nullable != nil {
		o.set("nullable", nullable)
	}
	o.set("anyOf", rawjson.Array(branches))
}
