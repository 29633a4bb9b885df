// Package contract has what a server offers its clients, as a snapshot that can be written, read and compared: tools,
// prompts, resources, templates, instructions, capabilities and the protocol version. It asks no server; others do.
package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"toolx/pkg/rawjson"
)

// Kind is the kind of a part of a contract.
type Kind string

// The kinds, in the order of a comparison. A server has one of each of the first four.
const (
	Server       Kind = "server"
	Protocol     Kind = "protocol"
	Capability   Kind = "capability"
	Instructions Kind = "instructions"

	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template"
)

// list is a kind of which a server has a list.
type list struct {
	kind   Kind
	folder string // in a snapshot: the plural
	key    string // the member of a definition that identifies it
}

func lists() []list {
	return []list{
		{Tool, "tools", "name"},
		{Prompt, "prompts", "name"},
		{Resource, "resources", "uri"},
		{Template, "templates", "uriTemplate"},
	}
}

// Snapshot is what one server offers.
type Snapshot struct {
	About *About // nil if only lists are known
	// Lists has what the server lists. A kind that is missing is unknown, which is not the same as empty.
	Lists map[Kind]Definitions
}

// About is what a server says when a client connects.
type About struct {
	Protocol     string
	Instructions string
	Capabilities json.RawMessage
	// Name and Version are the server's own; empty unless versions are compared.
	Name, Version string
}

// Definitions are a server's definitions of one kind: by name, URI, or URI template.
type Definitions map[string]json.RawMessage

// Set has the snapshots of servers, by name.
type Set map[string]*Snapshot

// Names returns the names of the servers, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// NewDefinitions returns definitions as the server sent them by their names. Of several with one name the first counts;
// those without a name are left out.
func NewDefinitions(kind Kind, elements []json.RawMessage) Definitions {
	all := make(Definitions, len(elements))
	for _, of := range lists() {
		for _, element := range elements {
			name := rawjson.GetText(element, of.key)
			if _, known := all[name]; of.kind == kind && name != "" && !known {
				all[name] = element
			}
		}
	}
	return all
}

// Add puts the definitions of a kind into the snapshot.
func (s *Snapshot) Add(kind Kind, definitions Definitions) {
	if s.Lists == nil {
		s.Lists = make(map[Kind]Definitions)
	}
	s.Lists[kind] = definitions
}

// Difference is how one server differs from an earlier one.
type Difference struct {
	Server  string   `json:"server"`
	Changes []Change `json:"changes"`
	// Tokens are those of all tools, if they are known of both.
	Tokens *TokenChange `json:"tokens,omitempty"`
}

// TokenChange is how many tokens the tools of a server cost, before and after.
type TokenChange struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// bytesPerToken is what compact JSON of tool definitions comes to, measured with the tokenizer of Qwen3: 4.0 to 4.2 in
// every provider's format.
const bytesPerToken = 4.1

// Tokens estimates what a definition costs in a model's context.
func Tokens(definition json.RawMessage) int {
	var compact bytes.Buffer
	size := len(definition)
	if json.Compact(&compact, definition) == nil {
		size = compact.Len()
	}
	return int(float64(size)/bytesPerToken + 0.5)
}

// Tokens estimates what all tools cost in a model's context.
func (s *Snapshot) Tokens() (sum int) {
	for _, definition := range s.Lists[Tool] {
		sum += Tokens(definition)
	}
	return sum
}
