package convert

import (
	"encoding/json"
	"slices"
	"strconv"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// objects fits the properties of objects to the target.
func (f *fitter) objects(o *object, at place) {
	if !at.profile.restricted() {
		return
	}
	f.refuseMap(o, at)
	f.dropNever(o, at)
	f.declareRequired(o, at)
	if at.profile.openAPI && !at.root && string(rawjson.Compact(o.value("properties"))) == "{}" {
		o.drop("properties") // Gemini refuses properties without any
	}
}

// dropNever removes properties that admit nothing, where that cannot be said.
func (f *fitter) dropNever(o *object, at place) {
	properties := o.objectOf("properties")
	if properties == nil || !at.profile.restricted() {
		return
	}
	dropped := properties.keepOnly(func(name string) bool { return !isFalse(properties.value(name)) })
	if dropped == nil {
		return
	}
	for _, m := range dropped {
		f.recordLoss(at.property(m.Name), Info, "dropped", "property that admits nothing")
	}
	o.set("properties", properties.raw())
}

// declareRequired removes names from required that are not properties: Gemini refuses the whole request for one.
func (f *fitter) declareRequired(o *object, at place) {
	if !o.has("required") {
		return
	}
	properties := o.objectOf("properties")
	required := o.stringsOf("required")
	kept := slices.DeleteFunc(slices.Clone(required), func(name string) bool {
		return properties == nil || !properties.has(name)
	})
	for _, name := range required {
		if !slices.Contains(kept, name) {
			f.recordLoss(at, Lossy, "dropped", "required "+words.Shorten(name, words.MaxGiven)+", which is no property")
		}
	}
	switch {
	case len(kept) == 0:
		o.drop("required")
	case len(kept) < len(required):
		o.set("required", quoteList(kept))
	}
}

// keys holds the names of properties against the target's rule. They cannot be renamed: arguments go to the server as
// the model writes them.
func (f *fitter) keys(o *object, at place) {
	p := at.profile
	if p.key == nil || p.keyRoot && !at.root {
		return
	}
	for m := range rawjson.Each(o.value("properties")) {
		if !p.key().MatchString(m.Name) {
			f.refuse(at, "the property name %q does not match %s", words.Shorten(m.Name, words.MaxGiven), p.key())
		}
	}
}

// conditionals makes properties that only if, then, else and dependentSchemas declare known to a target that has none
// of these.
func (f *fitter) conditionals(o *object, at *place) {
	if at.profile.keeps("if", at.root) || !o.has("if", "then", "else", "dependentSchemas") {
		return
	}
	branches := []json.RawMessage{o.value("then"), o.value("else")}
	for m := range rawjson.Each(o.value("dependentSchemas")) {
		branches = append(branches, m.Value)
	}
	var declared []*object
	for _, text := range branches {
		if branch := f.branch(text, at); branch != nil {
			declared = append(declared, branch)
		}
	}
	properties := o.objectOfOrEmpty("properties")
	f.adopt(properties, declared, *at)
	if condition := f.branch(o.value("if"), at); condition != nil {
		f.adoptCondition(properties, condition, *at)
	}
	if len(properties.members) > 0 {
		o.set("properties", properties.raw())
	}
}

// branch reads a schema that holds under a condition; nil if it says nothing of properties.
func (f *fitter) branch(text json.RawMessage, at *place) *object {
	if literal(text) != "object" {
		return nil
	}
	where := *at
	where.inline = true
	branch := f.flat(text, &where)
	if branch != nil {
		at.open = where.open
	}
	return branch
}

// adopt adds the properties that a schema lacks, as optional ones: each is what any of the branches makes of it.
func (f *fitter) adopt(properties *object, branches []*object, at place) {
	for _, name := range propertyNames(branches) {
		if properties.has(name) {
			continue
		}
		properties.set(name, alternativesOf(name, nil, branches))
		f.recordLoss(at.property(name), Info, "changed", "conditional property to an optional one")
	}
}

// adoptCondition adds the properties that only a condition names. It restricts none of them, so that nothing but their
// types is known.
func (f *fitter) adoptCondition(properties, condition *object, at place) {
	for m := range rawjson.Each(condition.value("properties")) {
		if properties.has(m.Name) {
			continue
		}
		kinds := f.shape(m.Value).Kinds()
		if kinds == jsonschema.AnyKind {
			f.recordLoss(at.property(m.Name), Lossy, "dropped", "property that only a condition names")
			continue
		}
		properties.set(m.Name, rawjson.Build("type", quoteTypes(kinds.Names())))
		f.recordLoss(at.property(m.Name), Info, "changed", "property of a condition to an optional one")
	}
}

// children fits the schemas below this one.
func (f *fitter) children(o *object, at place) {
	for i := range o.members {
		m := o.members[i]
		if at.root && (m.Name == "$defs" || m.Name == "definitions") {
			continue
		}
		switch jsonschema.Held(m.Name, m.Value) {
		case jsonschema.HoldsSchema:
			if literal(m.Value) == "object" {
				o.put(i, f.node(m.Value, at.under(m.Name)))
			}
		case jsonschema.HoldsList:
			o.put(i, f.list(m, at))
		case jsonschema.HoldsNamed:
			o.put(i, f.named(m, at))
		}
		if f.err != nil {
			return
		}
	}
	if at.root {
		f.definitions(o, at)
	}
}

// definitions fits the definitions of the root, after all refs of the rest are known. Where every schema must pass the
// target's rules, only those that a ref needs stay.
func (f *fitter) definitions(o *object, at place) {
	if !o.has("$defs", "definitions") {
		return
	}
	done := make(map[string]bool)
	for again := true; again && f.err == nil; {
		again = f.defined(o, at, "$defs", done)
		again = f.defined(o, at, "definitions", done) || again
	}
	if !at.profile.closed {
		return
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		all := o.objectOfOrEmpty(keyword)
		all.keepOnly(func(name string) bool { return done["#/"+keyword+"/"+name] })
		if len(all.members) == 0 {
			o.drop(keyword)
			continue
		}
		o.set(keyword, all.raw())
	}
}

// defined fits the definitions under a keyword that are needed and not done, and reports whether there were any: they
// may need others.
func (f *fitter) defined(o *object, at place, keyword string, done map[string]bool) (some bool) {
	all := o.objectOf(keyword)
	if all == nil {
		return false
	}
	for i, m := range all.members {
		ref := "#/" + keyword + "/" + m.Name
		if done[ref] || at.profile.closed && !f.used[ref] {
			continue
		}
		done[ref], some = true, true
		all.put(i, f.node(m.Value, place{profile: at.profile, path: keyword + "." + m.Name, depth: at.depth + 1}))
	}
	o.set(keyword, all.raw())
	return some
}

// under returns the place of the schema under a keyword.
func (at place) under(keyword string) place {
	switch keyword {
	case "items", "additionalItems", "contains", "unevaluatedItems":
		at = at.below("[]")
		if at.profile.elements != nil {
			at.profile = at.profile.elements
		}
	case "additionalProperties", "unevaluatedProperties", "patternProperties":
		at = at.below("{}")
	default:
		at = at.below("")
	}
	return at
}

func (f *fitter) list(m rawjson.Member, at place) json.RawMessage {
	elements, _ := rawjson.Elements(m.Value)
	changed := false
	for i, text := range elements {
		where := at.under("items")
		if m.Name == "anyOf" || m.Name == "oneOf" || m.Name == "allOf" {
			where = at.below("|" + strconv.Itoa(i+1))
		}
		fitted := f.node(text, where)
		changed = changed || string(fitted) != string(text)
		elements[i] = fitted
	}
	if !changed {
		return m.Value
	}
	return rawjson.Array(elements)
}

func (f *fitter) named(m rawjson.Member, at place) json.RawMessage {
	all, ok := parseObject(m.Value)
	if !ok {
		return m.Value
	}
	for i, one := range all.members {
		if kind := literal(one.Value); kind == "array" && m.Name == "dependencies" {
			continue
		}
		where := at.under(m.Name)
		if m.Name == "properties" {
			where = at.property(one.Name)
		}
		all.put(i, f.node(one.Value, where))
	}
	return all.raw()
}
