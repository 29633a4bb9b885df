package wire

import (
	"slices"
	"strings"
	"testing"
)

// TestWireForms shows that every type that a form uses is one.
func TestWireForms(t *testing.T) {
	forms := forms()
	scalars := []string{
		"string", "number", "integer", "boolean", "object", "null", "any", "fraction", "natural", "uri",
		"template",
	}
	var look func(form string, of valueType)
	look = func(form string, of valueType) {
		for _, part := range of.of {
			look(form, part)
		}
		_, known := forms[of.name]
		if of.kind == named && !known && !slices.Contains(scalars, of.name) && !strings.HasPrefix(of.name, `"`) {
			t.Errorf("%s uses %s, which is nothing", form, of.name)
		}
	}
	for name, form := range forms {
		if form.alias == nil && form.members == nil {
			t.Errorf("%s has no members", name)
		}
		if form.alias != nil {
			look(name, *form.alias)
		}
		for _, member := range form.members {
			look(name, member.of)
		}
	}
}
