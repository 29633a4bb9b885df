package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// Schema is the version of the form of files.
const Schema = 1

// Encode returns a set as a file: sorted, indented, descriptions as lists of lines, invisible characters as \uXXXX.
func (s Set) Encode() ([]byte, error) {
	return encode(map[string]any{"schema": Schema, "servers": s})
}

// encode writes a file, and checks that it can be read again.
func encode(value any) ([]byte, error) {
	compact, err := rawjson.Marshal(value)
	if err != nil {
		return nil, err
	}
	if err := rawjson.Check(compact); err != nil {
		return nil, err
	}
	var visible, out bytes.Buffer
	if err := rawjson.Escape(&visible, compact); err != nil {
		return nil, err
	}
	err = json.Indent(&out, visible.Bytes(), "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// MarshalJSON writes everything that is known of a server in the form of files.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	members := make(map[string]any)
	if s.About != nil {
		members = s.About.members()
	}
	for _, of := range lists() {
		definitions, known := s.Lists[of.kind]
		if !known {
			continue
		}
		written := make(map[string]any, len(definitions))
		for name, definition := range definitions {
			value, err := of.written(definition)
			if err != nil {
				return nil, fmt.Errorf("%s %q: %w", of.kind, name, err)
			}
			written[name] = value
		}
		members[of.folder] = written
	}
	return rawjson.Marshal(members)
}

// The members of a server besides its lists.
const (
	memberServer       = "server"
	memberProtocol     = "protocol"
	memberCapabilities = "capabilities"
	memberInstructions = "instructions"
)

func (a *About) members() map[string]any {
	members := map[string]any{memberCapabilities: json.RawMessage("{}")}
	if declared, err := rawjson.Decode(a.Capabilities); err == nil { // which sorts them
		members[memberCapabilities] = declared
	}
	if a.Protocol != "" {
		members[memberProtocol] = a.Protocol
	}
	if a.Instructions != "" {
		members[memberInstructions] = splitText(a.Instructions)
	}
	if a.Name != "" || a.Version != "" {
		members[memberServer] = map[string]string{"name": a.Name, "version": a.Version}
	}
	return members
}

// written returns a definition as files have it: without what is about content, and with descriptions as lines.
func (of list) written(definition json.RawMessage) (any, error) {
	value, err := rawjson.Decode(definition)
	object, is := value.(map[string]any)
	if err != nil || !is {
		return nil, errors.New("its definition is not a JSON object")
	}
	if of.kind == Resource {
		delete(object, "size")
		if annotations, is := object["annotations"].(map[string]any); is {
			delete(annotations, "lastModified")
		}
	}
	split(object)
	return object, nil
}

// split replaces descriptions of several lines by lists of lines, at any depth. What is a list already goes into
// another list, so that join restores it.
func split(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			split(member)
			if name != "description" {
				continue
			}
			switch member := member.(type) {
			case string:
				value[name] = splitText(member)
			case []any:
				value[name] = []any{member}
			}
		}
	case []any:
		for _, element := range value {
			split(element)
		}
	}
}

func splitText(text string) any {
	if !strings.Contains(text, "\n") {
		return text
	}
	return strings.Split(text, "\n")
}

// join undoes split.
func join(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if lines, is := member.([]any); is && name == "description" {
				value[name] = joinLines(lines)
			}
			join(value[name])
		}
	case []any:
		for _, element := range value {
			join(element)
		}
	}
}

func joinLines(lines []any) any {
	texts := make([]string, len(lines))
	for i, line := range lines {
		text, is := line.(string)
		if inner, isList := line.([]any); isList && len(lines) == 1 {
			return inner
		}
		if !is {
			return lines
		}
		texts[i] = text
	}
	return strings.Join(texts, "\n")
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	members, is := rawjson.Members(data)
	if !is {
		return errors.New("a server is not an object")
	}
	*s = Snapshot{}
	for _, m := range members {
		at := slices.IndexFunc(lists(), func(of list) bool { return of.folder == m.Name })
		if at < 0 {
			if err := s.readAbout(m); err != nil {
				return err
			}
			continue
		}
		of, definitions := lists()[at], make(Definitions)
		if !opens(m.Value, '{') {
			return fmt.Errorf("%s is not an object", m.Name)
		}
		for one := range rawjson.Each(m.Value) {
			name, definition, err := of.read(one.Value)
			if err == nil && name != one.Name {
				err = fmt.Errorf("its %s is %q", of.key, name)
			}
			if err != nil {
				return fmt.Errorf("%s %q: %w", of.kind, one.Name, err)
			}
			definitions[name] = definition
		}
		s.Add(of.kind, definitions)
	}
	return nil
}

// readAbout reads a member that is not a list.
func (s *Snapshot) readAbout(m rawjson.Member) error {
	if s.About == nil {
		s.About = &About{}
	}
	var ok bool
	switch m.Name {
	case memberProtocol:
		ok, s.About.Protocol = rawjson.IsString(m.Value), rawjson.Unquote(m.Value)
	case memberCapabilities:
		ok, s.About.Capabilities = opens(m.Value, '{'), rawjson.Compact(m.Value)
	case memberServer:
		s.About.Name, s.About.Version = rawjson.GetText(m.Value, "name"), rawjson.GetText(m.Value, "version")
		ok = opens(m.Value, '{')
	case memberInstructions:
		value, err := rawjson.Decode(m.Value)
		if lines, is := value.([]any); is && err == nil {
			value = joinLines(lines)
		}
		s.About.Instructions, ok = value.(string)
	default:
		return fmt.Errorf("%q is not part of a snapshot", m.Name)
	}
	if !ok {
		return fmt.Errorf("%s has the wrong type", m.Name)
	}
	return nil
}

// read returns a definition in a file, and what identifies it.
func (of list) read(data []byte) (name string, definition json.RawMessage, err error) {
	value, err := rawjson.Decode(data)
	object, is := value.(map[string]any)
	if err != nil || !is {
		return "", nil, fmt.Errorf("not the JSON of a %s definition", of.kind)
	}
	join(object)
	name, _ = object[of.key].(string)
	if name == "" {
		return "", nil, fmt.Errorf("it has no %s", of.key)
	}
	definition, err = rawjson.Marshal(object)
	return name, definition, err
}
