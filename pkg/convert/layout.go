package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// layout describes an element of a format's list of tools, and the places of the common fields in it.
type layout struct {
	// skeleton is the element with null for the common fields.
	skeleton string
	// The paths of the common fields.
	name, description, schema []string
	// strict is the path of the member for strict arguments; nil if the format has none.
	strict []string
	// described is set if a description is required, even if empty.
	described bool
	// wordy is set if an empty description is omitted.
	wordy bool
	// bare is set if a tool without parameters has no schema.
	bare bool
}

// flat returns the layout of {"name", "description", <schema>}.
func flat(schema string) layout {
	return layout{
		skeleton:    `{"name":null,"description":null,"` + schema + `":null}`,
		name:        []string{"name"},
		description: []string{"description"},
		schema:      []string{schema},
	}
}

// functionLayout returns the layout of OpenAI's chat completions, which most providers use.
func functionLayout() layout {
	return layout{
		skeleton:    `{"type":"function","function":{"name":null,"description":null,"parameters":null}}`,
		name:        []string{"function", "name"},
		description: []string{"function", "description"},
		schema:      []string{"function", "parameters"},
	}
}

// read converts an element to an MCP tool object.
func (l layout) read(element *node, format Format) (*node, error) {
	found, err := l.commonFields(element)
	if err != nil {
		return nil, err
	}
	return found.definition(format, l.form(element)), nil
}

// commonFields reads the common fields of an element. It rejects an element whose schema is in another format's member,
// because the schema would be lost.
func (l layout) commonFields(element *node) (commonFields, error) {
	name := at(element, l.name)
	if !name.IsString() {
		return commonFields{}, errors.New("it has no " + strings.Join(l.name, "."))
	}
	found, err := newCommonFields(name, at(element, l.description), at(element, l.schema))
	if err != nil {
		return commonFields{}, err
	}
	if foreign := l.foreignSchema(element); found.schema == nil && foreign != "" {
		return commonFields{}, fmt.Errorf("it has no %s, but %s", strings.Join(l.schema, "."), foreign)
	}
	return found, nil
}

// foreignSchema returns the member with another format's schema, or nothing.
func (l layout) foreignSchema(element *node) string {
	beside := len(l.name) - 1
	around := at(element, l.name[:beside])
	for _, name := range schemaMembers() {
		if name != l.schema[beside] && around.Value(name) != nil {
			return name
		}
	}
	if own := l.schema[beside]; len(l.schema) > beside+1 && around.Value(own) != nil {
		return own + " without it"
	}
	return ""
}

// form returns an element with null for its common fields; nil if it has no other members.
func (l layout) form(element *node) *node {
	form := setAt(element, l.name, valueOf("null"))
	if text := at(element, l.description); text == nil || text.IsString() {
		form = setAt(form, l.description, valueOf("null"))
	}
	if hasAt(element, l.schema) {
		form = setAt(form, l.schema, valueOf("null"))
	}
	same := valueOf(l.skeleton)
	if l.bare && !hasAt(form, l.schema) {
		same = setAt(same, l.schema, nil)
	}
	if len(extras(form, same)) == 0 && len(extras(same, form)) == 0 {
		return nil
	}
	return valueOf(compact(form))
}

// fill writes an element from a form, or from the skeleton if form is nil.
func (l layout) fill(form *node, e commonFields) *node {
	if form == nil {
		form = valueOf(l.skeleton)
	}
	if e.strict {
		form = setAt(form, l.strict, valueOf("true"))
	}
	element := setAt(form, l.name, jsonschema.Quoted(e.name))
	switch {
	case e.description != nil && !(l.wordy && e.description.Text() == ""):
		element = setAt(element, l.description, e.description)
	case l.described:
		element = setAt(element, l.description, jsonschema.Quoted(""))
	case at(element, l.description) == nil:
		element = setAt(element, l.description, nil)
	}
	if hasNoParameters(e.schema) && (l.bare || !hasAt(form, l.schema)) {
		return setAt(element, l.schema, nil)
	}
	return setAt(element, l.schema, e.schema)
}

// extras returns the members of a form that the skeleton lacks or has with another value, with the last part of their
// names.
func extras(form, skeleton *node) []member {
	var found []member
	for _, m := range form.Members() {
		switch known := skeleton.Get(m.Name); {
		case m.Node.IsObject() && known.IsObject():
			found = append(found, extras(m.Node, known)...)
		case known == nil || !m.Node.Same(known):
			found = append(found, m)
		}
	}
	return found
}

// A form is an element of a document with null for its common fields. It is kept in the definition's _meta, and
// restores the element's other members when the tool is written in the same format.

// formFor returns the form of a definition for a format, or nil.
func formFor(format Format, definition *node) *node {
	form := definition.Get(metaMember).Get(formPrefix + string(format))
	if !form.IsObject() {
		return nil
	}
	return form
}

// trusted removes forms from the definitions of servers, which could otherwise request other things from the provider,
// such as its own tools. Only the user's documents may have forms.
func trusted(tool Tool) *node {
	definition := jsonschema.NewNode(tool.Definition)
	meta := definition.Get(metaMember)
	if tool.Server == "" || !meta.IsObject() {
		return definition
	}
	clean := meta.Clone()
	dropped := clean.Keep(func(m member) bool { return !strings.HasPrefix(m.Name, formPrefix) })
	switch {
	case dropped == nil:
		return definition
	case len(clean.Members()) == 0:
		return without(definition, metaMember)
	}
	return with(definition, metaMember, clean)
}

// leftBehind returns the losses of members that the target lacks; strict is set if the element is strict.
func leftBehind(definition *node, to Format, strict bool) []Loss {
	if to == MCP {
		return nil
	}
	var losses []Loss
	for _, m := range definition.Members() {
		switch m.Name {
		case nameMember, schemaMember:
		case descriptionMember:
			if !m.Node.IsString() && !m.Node.Is("null") {
				losses = append(losses, Loss{Severity: Lossy, Kind: dropped, Detail: "a description that is not text"})
			}
		case metaMember:
			losses = append(losses, leftOfMeta(m.Node, to, strict)...)
		default:
			// Other members of an MCP definition are for clients, which still have them.
			losses = append(losses, Loss{Severity: Info, Kind: dropped, Detail: m.Name})
		}
	}
	return losses
}

func leftOfMeta(meta *node, to Format, strict bool) []Loss {
	var losses []Loss
	for _, m := range meta.Members() {
		format, isForm := strings.CutPrefix(m.Name, formPrefix)
		if !isForm {
			losses = append(losses, Loss{Severity: Info, Kind: dropped, Detail: metaMember + "." + m.Name})
			continue
		}
		if Format(format) != to || recordOf(to).exact {
			losses = append(losses, leftOfForm(m.Node, Format(format), to, strict)...)
		}
	}
	return losses
}

// leftOfForm reports the members of another format that the target does not have.
func leftOfForm(form *node, from, to Format, strict bool) []Loss {
	source, target := recordOf(from), recordOf(to)
	if source.format == "" {
		return nil
	}
	var losses []Loss
	for _, extra := range extras(form, valueOf(source.layout.skeleton)) {
		if extra.Name == "type" || extra.Name == "strict" && strict ||
			says(valueOf(target.layout.skeleton), extra) {
			continue // each format has its own "type"
		}
		severity := Lossy
		if isAtRest(extra.Node) {
			severity = Info
		}
		losses = append(losses, Loss{Severity: severity, Kind: dropped, Detail: extra.Name})
	}
	return losses
}

// isAtRest reports whether a value is null, false or empty, like a disabled setting.
func isAtRest(value *node) bool {
	return slices.Contains([]string{"null", "false", "[]", "{}", `""`}, compact(value))
}

// says reports whether an object has a member with the same name and value at any depth.
func says(n *node, extra member) bool {
	return slices.ContainsFunc(n.Members(), func(m member) bool {
		return m.Name == extra.Name && m.Node.Same(extra.Node) || says(m.Node, extra)
	})
}
