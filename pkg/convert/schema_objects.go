package convert

import (
	"slices"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// objectRules convert the properties of objects.
type objectRules struct {
	*report
	*schemaReader
	types *typeRules
}

// objects converts the properties of an object to the target.
func (r *objectRules) objects(o *object, at place) {
	if !at.profile.restricted() {
		return
	}
	r.refuseMap(o, at)
	r.dropNever(o, at)
	r.declareRequired(o, at)
	if at.profile.openAPI && !at.root && compact(o.Get("properties")) == "{}" {
		o.Drop("properties") // Gemini rejects empty properties
	}
}

// dropNever removes properties that allow no value, which the target cannot express.
func (r *objectRules) dropNever(o *object, at place) {
	properties := editable(o.Get("properties"))
	dropped := properties.Keep(func(m member) bool { return !m.Node.Is("false") })
	if dropped == nil {
		return
	}
	for _, m := range dropped {
		r.recordLoss(at.property(m.Name), Info, "dropped", "property that allows no value")
	}
	o.Set("properties", properties)
}

// declareRequired removes names from required that are not properties. Gemini rejects the whole request because of one.
func (r *objectRules) declareRequired(o *object, at place) {
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
			given := words.Shorten(name, words.MaxGiven)
			r.recordLoss(at, Lossy, "dropped", "required "+given+", which is not a property")
		}
	}
	switch {
	case len(kept) == 0:
		o.Drop("required")
	case len(kept) < len(required):
		o.Set("required", jsonschema.Strings(kept))
	}
}

// keys checks the names of properties. They cannot be renamed, because the model's arguments are passed to the server
// unchanged.
func (r *objectRules) keys(o *object, at place) {
	p := at.profile
	if p.key == nil || p.keyRoot && !at.root {
		return
	}
	for _, m := range o.Get("properties").Members() {
		if !p.key().MatchString(m.Name) {
			r.refuse(at, "the property name %q does not match %s", words.Shorten(m.Name, words.MaxGiven), p.key())
		}
	}
}
