package convert

import (
	"encoding/json"
	"strings"

	"toolx/pkg/rawjson"
)

// A form is what an element of a document says beyond its essence, kept in the
// definition's _meta: the element itself, with null in the three places. Written in
// the same format again, it is the element's layout.

// formFor returns the form of a definition that was read in a format; nil where there is none.
func formFor(format Format, definition members) json.RawMessage {
	form := membersOf(definition.get(metaMember)).get(formPrefix + string(format))
	if !isObjectText(form) {
		return nil
	}
	return form
}

// trusted takes the forms out of the definition of a server's tool: they would let
// the server choose what a provider is asked for, for example a tool of the provider
// itself. Documents are the user's own.
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

// leftBehind reports what a definition says and an element in the target does not;
// strict says that the element says so of its schema.
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
		if target, _ := dialectOf(to); Format(format) != to || target.exact {
			losses = append(losses, leftOfForm(member.Value, Format(format), to, strict)...)
		}
	}
	return losses
}

// leftOfForm reports the members of another format that the target does not say
// itself.
func leftOfForm(form json.RawMessage, from, to Format, strict bool) []Loss {
	source, ok := dialectOf(from)
	if !ok {
		return nil
	}
	target, _ := dialectOf(to)
	var losses []Loss
	for _, extra := range source.layout.extras(form) {
		if extra.Name == "type" || target.layout.says(extra) || extra.Name == "strict" && strict {
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

// isAtRest reports whether a value is null, false or empty: a setting that asks for nothing.
func isAtRest(value json.RawMessage) bool {
	switch string(rawjson.Compact(value)) {
	case "null", "false", "[]", "{}", `""`:
		return true
	}
	return false
}

// says finds a member, with the same value, anywhere in the skeleton.
func (l layout) says(extra rawjson.Member) bool {
	return saysIn(json.RawMessage(l.skeleton), extra)
}

func saysIn(text json.RawMessage, extra rawjson.Member) bool {
	for member := range rawjson.Each(text) {
		if member.Name == extra.Name && rawjson.Same(member.Value, extra.Value) || saysIn(member.Value, extra) {
			return true
		}
	}
	return false
}
