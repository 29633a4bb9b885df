package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Pin is a snapshot that tools must match to be used. It reads its files when it first needs them, and is safe for
// concurrent use.
type Pin struct {
	Path string

	mu   sync.Mutex
	read bool
	set  Set
	err  error
}

// Reread reads the files again, because a snapshot can be updated while toolx runs. The error is that of tools.
func (p *Pin) Reread(server string) error {
	p.mu.Lock()
	p.read = false
	p.mu.Unlock()
	_, _, err := p.tools(server)
	return err
}

// tools returns the pinned tools of a server, and the server's name in the snapshot. The only server in a snapshot is
// meant whatever its name.
func (p *Pin) tools(server string) (name string, pinned Definitions, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.read {
		p.set, p.err = Read(p.Path)
		p.read = true
	}
	names := p.set.Names()
	switch {
	case p.err != nil:
		return "", nil, p.err
	case p.set[server] != nil:
		name = server
	case len(names) == 1:
		name = names[0]
	default:
		return "", nil, fmt.Errorf("%s has several servers (%s), and none is named %q; give the folder of one",
			p.Path, strings.Join(names, ", "), server)
	}
	return name, p.set[name].Lists[Tool], nil
}

// Compare returns the changes of a server's tool since the snapshot, none if it may be used, and the server's name in
// the snapshot.
func (p *Pin) Compare(server, tool string, definition json.RawMessage) (changes []Change, name string, err error) {
	name, pinned, err := p.tools(server)
	if err != nil {
		return nil, name, err
	}
	before := make(Definitions)
	if was, known := pinned[tool]; known {
		before[tool] = was
	}
	if err := rawjson.Check(definition); err != nil { // such as a key that occurs twice, of which readers see either
		return []Change{{Kind: Tool, Name: tool, Effect: jsonschema.Breaking, Text: err.Error()}}, name, nil
	}
	return CompareDefinitions(Tool, before, Definitions{tool: definition}), name, nil
}

// Removed returns the pinned tools of a server that it does not list, sorted.
func (p *Pin) Removed(server string, listed map[string]bool) (names []string) {
	_, pinned, _ := p.tools(server) // each tool is refused with the error
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if !listed[name] {
			names = append(names, name)
		}
	}
	return names
}

// String returns a change as text without the name of what changed.
func (c Change) String() string {
	text := c.Text
	if c.Pointer != "" {
		text = c.Pointer + ": " + text
	}
	if len(c.Hidden) > 0 {
		text += " (hidden characters: " + strings.Join(c.Hidden, ", ") + ")"
	}
	return text
}
