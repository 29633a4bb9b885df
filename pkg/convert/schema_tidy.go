package convert

import (
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// tidy mends what is no JSON Schema, or one of a draft so old that providers refuse
// it.
func (f *fitter) tidy(o *object, at place) {
	f.dropMalformed(o, at)
	f.exclusiveBounds(o, at)
	if !at.profile.upper {
		f.smallTypes(o, at)
	}
}

func (f *fitter) dropMalformed(o *object, at place) {
	for _, m := range slices.Clone(o.members) {
		if wellFormed(m.Name, m.Value) {
			continue
		}
		severity := Lossy
		if m.Name != "enum" && slices.Contains([]string{"null", "[]", "{}", "false"}, string(compact(m.Value))) {
			severity = Info
		}
		o.drop(m.Name)
		f.tell(at, severity, "dropped", "malformed "+m.Name)
	}
}

// exclusiveBounds says the bounds of draft 4, where exclusiveMinimum is a boolean
// that belongs to minimum, as all later drafts do.
func (f *fitter) exclusiveBounds(o *object, at place) {
	for _, bound := range []string{"minimum", "maximum"} {
		exclusive := "exclusive" + strings.ToUpper(bound[:1]) + bound[1:]
		value := o.get(exclusive)
		if literal(value) != "boolean" {
			continue
		}
		o.drop(exclusive)
		if isTrue(value) && o.has(bound) {
			o.rename(bound, exclusive)
			f.tell(at, Info, "changed", bound+" to "+exclusive)
		}
	}
}

// smallTypes says types in small letters, as all but Google's API do.
func (f *fitter) smallTypes(o *object, at place) {
	value := o.get("type")
	types := typesOf(o)
	written := stringList(value)
	if rawjson.IsString(value) {
		written = []string{rawjson.Unquote(value)}
	}
	if !slices.Equal(types, written) {
		o.set("type", quoteTypes(types))
		f.tell(at, Info, "changed", "type to small letters")
	}
}

// dropEmpty takes out members that say nothing, which Ollama's encoder leaves out.
func dropEmpty(o *object) {
	for _, name := range []string{"description", "enum", "required"} {
		if value := string(compact(o.get(name))); value == `""` || value == "[]" {
			o.drop(name)
		}
	}
}
