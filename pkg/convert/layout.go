package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// layout says how a format writes an element of its list of tools, and where in it the common fields are.
type layout struct {
	// skeleton is the element with null in the three places.
	skeleton string
	// The paths of the three places.
	name, description, schema []string
	// strict is the path of the member for strict arguments; nil if the format has none.
	strict []string
	// described reports that there is always a description, even an empty one.
	described bool
	// wordy reports that an empty description is left out.
	wordy bool
	// bare reports that a tool without parameters has no schema.
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

// functionLayout returns the layout that OpenAI's chat completions began and most others took over.
func functionLayout() layout {
	return layout{
		skeleton:    `{"type":"function","function":{"name":null,"description":null,"parameters":null}}`,
		name:        []string{"function", "name"},
		description: []string{"function", "description"},
		schema:      []string{"function", "parameters"},
	}
}

// read makes an MCP tool object of an element.
func (l layout) read(list members, format Format) (json.RawMessage, error) {
	element := rawjson.Object(list)
	found, err := l.commonFields(element)
	if err != nil {
		return nil, err
	}
	return found.definition(format, l.form(element)), nil
}

// commonFields reads the common fields of an element. An element with its schema where another format keeps it is
// refused, because it would lose the schema.
func (l layout) commonFields(element json.RawMessage) (commonFields, error) {
	name := valueAt(element, l.name)
	if !rawjson.IsString(name) {
		return commonFields{}, errors.New("it has no " + strings.Join(l.name, "."))
	}
	found, err := newCommonFields(name, valueAt(element, l.description), valueAt(element, l.schema))
	if err != nil {
		return commonFields{}, err
	}
	if foreign := l.foreignSchema(element); found.schema == nil && foreign != "" {
		return commonFields{}, fmt.Errorf("it has no %s, but %s", strings.Join(l.schema, "."), foreign)
	}
	return found, nil
}

// foreignSchema returns the member in which an element has another format's schema; empty if there is none.
func (l layout) foreignSchema(element json.RawMessage) string {
	beside := len(l.name) - 1
	around := membersOf(valueAt(element, l.name[:beside]))
	for _, name := range schemaMembers() {
		if name != l.schema[beside] && around.get(name) != nil {
			return name
		}
	}
	if own := l.schema[beside]; len(l.schema) > beside+1 && around.get(own) != nil {
		return own + " without it"
	}
	return ""
}

// form returns an element with null for its common fields; nil if it says no more than any element of the format.
func (l layout) form(element json.RawMessage) json.RawMessage {
	form := setAt(element, l.name, json.RawMessage("null"))
	if text := valueAt(element, l.description); text == nil || rawjson.IsString(text) {
		form = setAt(form, l.description, json.RawMessage("null"))
	}
	if hasAt(element, l.schema) {
		form = setAt(form, l.schema, json.RawMessage("null"))
	}
	same := json.RawMessage(l.skeleton)
	if l.bare && !hasAt(form, l.schema) {
		same = removeAt(same, l.schema)
	}
	if len(extras(form, same)) == 0 && len(extras(same, form)) == 0 {
		return nil
	}
	return rawjson.Compact(form)
}

// fill writes an element from a form, or from the skeleton if there is none.
func (l layout) fill(form json.RawMessage, e commonFields) json.RawMessage {
	if form == nil {
		form = json.RawMessage(l.skeleton)
	}
	if e.strict {
		form = setAt(form, l.strict, json.RawMessage("true"))
	}
	element := setAt(form, l.name, rawjson.Quote(e.name))
	switch {
	case e.description != nil && !(l.wordy && rawjson.Unquote(e.description) == ""):
		element = setAt(element, l.description, e.description)
	case l.described:
		element = setAt(element, l.description, json.RawMessage(`""`))
	case valueAt(element, l.description) == nil:
		element = removeAt(element, l.description)
	}
	if hasNoParameters(e.schema) && (l.bare || !hasAt(form, l.schema)) {
		return removeAt(element, l.schema)
	}
	return setAt(element, l.schema, e.schema)
}

// extras returns the members of a form that the skeleton has not, or has with another value, by their last name.
func extras(form, skeleton json.RawMessage) []rawjson.Member {
	var found []rawjson.Member
	known := membersOf(skeleton)
	for member := range rawjson.Each(form) {
		at := known.index(member.Name)
		switch {
		case at < 0:
			found = append(found, member)
		case isObjectText(member.Value) && isObjectText(known[at].Value):
			found = append(found, extras(member.Value, known[at].Value)...)
		case !rawjson.Same(member.Value, known[at].Value):
			found = append(found, member)
		}
	}
	return found
}

func isObjectText(text json.RawMessage) bool {
	_, ok := rawjson.Members(text)
	return ok
}

// A form is what an element of a document says beyond its common fields, kept in the definition's _meta: the element
// itself, with null in the three places. Written in the same format again, it is the element's layout.

// formFor returns the form of a definition that was read in a format; nil if there is none.
func formFor(format Format, definition members) json.RawMessage {
	form := membersOf(definition.get(metaMember)).get(formPrefix + string(format))
	if !isObjectText(form) {
		return nil
	}
	return form
}

// trusted removes the forms from the definition of a server's tool: with them, the server could ask the provider for
// something else, such as one of the provider's own tools. Documents are the user's own.
func trusted(tool Tool) members {
	definition := membersOf(tool.Definition)
	meta := membersOf(definition.get(metaMember))
	if tool.Server == "" || meta == nil {
		return definition
	}
	clean := members{}
	for _, member := range meta {
		if !strings.HasPrefix(member.Name, formPrefix) {
			clean = append(clean, member)
		}
	}
	if len(clean) == len(meta) {
		return definition
	}
	if len(clean) == 0 {
		return definition.without(metaMember)
	}
	return definition.with(metaMember, rawjson.Object(clean))
}

// leftBehind returns what a definition says and an element in the target does not; strict reports that the element is
// strict.
func leftBehind(definition members, to Format, strict bool) []Loss {
	if to == MCP {
		return nil
	}
	var losses []Loss
	for _, member := range definition {
		switch member.Name {
		case nameMember, schemaMember:
		case descriptionMember:
			if !rawjson.IsString(member.Value) && !isNull(member.Value) {
				losses = append(losses, Loss{Severity: Lossy, Kind: dropped, Detail: "a description that is no text"})
			}
		case metaMember:
			losses = append(losses, leftOfMeta(membersOf(member.Value), to, strict)...)
		default:
			// The rest of an MCP definition is for clients, which still have it.
			losses = append(losses, Loss{Severity: Info, Kind: dropped, Detail: member.Name})
		}
	}
	return losses
}

func leftOfMeta(meta members, to Format, strict bool) []Loss {
	var losses []Loss
	for _, member := range meta {
		format, isForm := strings.CutPrefix(member.Name, formPrefix)
		if !isForm {
			losses = append(losses, Loss{Severity: Info, Kind: dropped, Detail: metaMember + "." + member.Name})
			continue
		}
		if Format(format) != to || recordOf(to).exact {
			losses = append(losses, leftOfForm(member.Value, Format(format), to, strict)...)
		}
	}
	return losses
}

// leftOfForm reports the members of another format that the target does not say itself.
func leftOfForm(form json.RawMessage, from, to Format, strict bool) []Loss {
	source, target := recordOf(from), recordOf(to)
	if source.format == "" {
		return nil
	}
	var losses []Loss
	for _, extra := range extras(form, json.RawMessage(source.layout.skeleton)) {
		if extra.Name == "type" || extra.Name == "strict" && strict ||
			says(json.RawMessage(target.layout.skeleton), extra) {
			continue // "type" says what kind of list element it is: each format has its own
		}
		severity := Lossy
		if isAtRest(extra.Value) {
			severity = Info
		}
		losses = append(losses, Loss{Severity: severity, Kind: dropped, Detail: extra.Name})
	}
	return losses
}

// isAtRest reports whether a value is null, false or empty, as a setting that is off.
func isAtRest(value json.RawMessage) bool {
	return slices.Contains([]string{"null", "false", "[]", "{}", `""`}, string(rawjson.Compact(value)))
}

// says reports whether an object has a member with the same value, however deep.
func says(text json.RawMessage, extra rawjson.Member) bool {
	for member := range rawjson.Each(text) {
		if member.Name == extra.Name && rawjson.Same(member.Value, extra.Value) || says(member.Value, extra) {
			return true
		}
	}
	return false
}
