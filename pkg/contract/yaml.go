package contract

import (
	"fmt"
	"slices"
	"strings"
)

// pinned are definitions as text, by server, kind and name: YAML would change numbers.
type pinned map[string]map[string]map[string]string

// MarshalYAML writes the lists of servers, each definition as text in the form of files.
func (s Set) MarshalYAML() (any, error) {
	all := make(pinned, len(s))
	for server, snapshot := range s {
		all[server] = make(map[string]map[string]string)
		for _, of := range lists() {
			definitions, known := snapshot.Lists[of.kind]
			if !known {
				continue
			}
			texts := make(map[string]string, len(definitions))
			for name, definition := range definitions {
				value, err := of.written(definition)
				if err != nil {
					return nil, fmt.Errorf("%s %q: %w", of.kind, name, err)
				}
				text, err := encode(value)
				if err != nil {
					return nil, fmt.Errorf("%s %q: %w", of.kind, name, err)
				}
				texts[name] = strings.TrimSuffix(string(text), "\n")
			}
			all[server][of.folder] = texts
		}
	}
	return all, nil
}

// UnmarshalYAML reads what MarshalYAML writes.
func (s *Set) UnmarshalYAML(decode func(any) error) error {
	var all pinned
	if err := decode(&all); err != nil {
		return err
	}
	*s = make(Set, len(all))
	for server, kinds := range all {
		snapshot := &Snapshot{}
		for folder, texts := range kinds {
			at := slices.IndexFunc(lists(), func(of list) bool { return of.folder == folder })
			if at < 0 {
				return fmt.Errorf("servers.%s.%s is not part of a snapshot", server, folder)
			}
			of, definitions := lists()[at], make(Definitions)
			for name, text := range texts {
				key, definition, err := of.read([]byte(text))
				if err == nil && key != name {
					err = fmt.Errorf("its %s is %q", of.key, key)
				}
				if err != nil {
					return fmt.Errorf("servers.%s.%s.%s: %w", server, folder, name, err)
				}
				definitions[name] = definition
			}
			snapshot.Add(of.kind, definitions)
		}
		(*s)[server] = snapshot
	}
	return nil
}
