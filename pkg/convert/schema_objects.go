package convert

import (
	"slices"
	"strconv"

	"toolx/pkg/jsonschema"
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
	if at.profile.openAPI && !at.root && compact(o.Get("properties")) == "{}" {
		o.Drop("properties") // Gemini refuses properties without any
	}
}

// dropNever removes properties that admit nothing, where that cannot be said.
func (f *fitter) dropNever(o *object, at place) {
	properties := editable(o.Get("properties"))
	dropped := properties.Keep(func(m member) bool { return !m.Node.Is("false") })
	if dropped == nil {
		return
	}
	for _, m := range dropped {
		f.recordLoss(at.property(m.Name), Info, "dropped", "property that admits nothing")
	}
	o.Set("properties", properties)
}

// declareRequired removes names from required that are not properties: Gemini refuses the whole request for one.
func (f *fitter) declareRequired(o *object, at place) {
	if !o.Has("required") {
		return
	}
	properties := o.Get("properties")
	required := o.Get("required").Texts()
	kept := slices.DeleteFunc(slices.Clone(required), func(name string) bool {
		return !properties.Has(name)
	})
	for _, name := range required {
		if !slices.Contains(kept, name) {
			f.recordLoss(at, Lossy, "dropped", "required "+words.Shorten(name, words.MaxGiven)+", which is no property")
		}
	}
	switch {
	case len(kept) == 0:
		o.Drop("required")
	case len(kept) < len(required):
		o.Set("required", jsonschema.Strings(kept))
	}
}

// keys holds the names of properties against the target's rule. They cannot be renamed: arguments go to the server as
// the model writes them.
func (f *fitter) keys(o *object, at place) {
	p := at.profile
	if p.key == nil || p.keyRoot && !at.root {
		return
	}
	for _, m := range o.Get("properties").Members() {
		if !p.key().MatchString(m.Name) {
			f.refuse(at, "the property name %q does not match %s", words.Shorten(m.Name, words.MaxGiven), p.key())
		}
	}
}

// conditionals makes properties that only if, then, else and dependentSchemas declare known to a target that has none
// of these.
func (f *fitter) conditionals(o *object, at *place) {
	if at.profile.keeps("if", at.root) || !o.Has("if", "then", "else", "dependentSchemas") {
		return
	}
	branches := []*node{o.Get("then"), o.Get("else")}
	for _, m := range o.Get("dependentSchemas").Members() {
		branches = append(branches, m.Node)
	}
	var declared []*object
	for _, text := range branches {
		if branch := f.branch(text, at); branch != nil {
			declared = append(declared, branch)
		}
	}
	properties := editable(o.Get("properties"))
	f.adopt(properties, declared, *at)
	if condition := f.branch(o.Get("if"), at); condition != nil {
		f.adoptCondition(properties, condition, *at)
	}
	if len(properties.Members()) > 0 {
		o.Set("properties", properties)
	}
}

// branch reads a schema that holds under a condition; nil if it says nothing of properties.
func (f *fitter) branch(text *node, at *place) *object {
	if !text.IsObject() {
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
func (f *fitter) adopt(properties *node, branches []*object, at place) {
	for _, name := range propertyNames(branches) {
		if properties.Has(name) {
			continue
		}
		properties.Set(name, alternativesOf(name, nil, branches))
		f.recordLoss(at.property(name), Info, "changed", "conditional property to an optional one")
	}
}

// adoptCondition adds the properties that only a condition names. It restricts none of them, so that nothing but their
// types is known.
func (f *fitter) adoptCondition(properties *node, condition *object, at place) {
	for _, m := range condition.Get("properties").Members() {
		if properties.Has(m.Name) {
			continue
		}
		kinds := f.shape(m.Node).Kinds()
		if kinds == jsonschema.AnyKind {
			f.recordLoss(at.property(m.Name), Lossy, "dropped", "property that only a condition names")
			continue
		}
		properties.Set(m.Name, jsonschema.Build("type", quoteTypes(kinds.Names())))
		f.recordLoss(at.property(m.Name), Info, "changed", "property of a condition to an optional one")
	}
}

// children fits the schemas below this one.
func (f *fitter) children(o *object, at place) {
	o.node = o.Map(func(_ int, m member) *node {
		switch held := jsonschema.Held(m.Name, m.Node); {
		case at.root && (m.Name == "$defs" || m.Name == "definitions"):
		case held == jsonschema.HoldsSchema && m.Node.IsObject():
			return f.node(m.Node, at.under(m.Name))
		case held == jsonschema.HoldsList:
			return f.list(m, at)
		case held == jsonschema.HoldsNamed:
			return f.named(m, at)
		}
		return m.Node
	}).Clone()
	if at.root {
		f.definitions(o, at)
	}
}

// definitions fits the definitions of the root, after all refs of the rest are known. Where every schema must pass the
// target's rules, only those that a ref needs stay.
func (f *fitter) definitions(o *object, at place) {
	if !o.Has("$defs", "definitions") {
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
		all := editable(o.Get(keyword))
		all.Keep(func(m member) bool { return done["#/"+keyword+"/"+m.Name] })
		if len(all.Members()) == 0 {
			o.Drop(keyword)
			continue
		}
		o.Set(keyword, all)
	}
}

// defined fits the definitions under a keyword that are needed and not done, and reports whether there were any: they
// may need others.
func (f *fitter) defined(o *object, at place, keyword string, done map[string]bool) (some bool) {
	all := o.Get(keyword)
	if !all.IsObject() {
		return false
	}
	o.Set(keyword, all.Map(func(_ int, m member) *node {
		ref := "#/" + keyword + "/" + m.Name
		if done[ref] || at.profile.closed && !f.used[ref] {
			return m.Node
		}
		done[ref], some = true, true
		return f.node(m.Node, place{profile: at.profile, path: keyword + "." + m.Name, depth: at.depth + 1})
	}))
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

func (f *fitter) list(m member, at place) *node {
	return m.Node.Map(func(i int, one member) *node {
		where := at.under("items")
		if m.Name == "anyOf" || m.Name == "oneOf" || m.Name == "allOf" {
			where = at.below("|" + strconv.Itoa(i+1))
		}
		return f.node(one.Node, where)
	})
}

func (f *fitter) named(m member, at place) *node {
	return m.Node.Map(func(_ int, one member) *node {
		where := at.under(m.Name)
		switch {
		case m.Name == "dependencies" && one.Node.IsArray():
			return one.Node
		case m.Name == "properties":
			where = at.property(one.Name)
		}
		return f.node(one.Node, where)
	})
}
