// Package listing reads the tools that a server lists for all checks: definitions, schemas and token counts.
package listing

import (
	"encoding/json"
	"fmt"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Limits on the definitions and subschemas that checks read. They are far above what clients support, and parsed
// schemas take many times their size in memory.
const (
	maxSurveyed   = 10_000
	maxSubschemas = 100_000
)

// Listing is a parsed tools/list.
type Listing struct {
	Tools  []*Definition
	Size   int // bytes of the definitions
	Unread int // definitions beyond the limits
}

// Definition is an entry of tools/list that is an object.
type Definition struct {
	Index int // in the whole listing, from 0
	Raw   json.RawMessage
	Name  string // empty if it is missing or not a string
	// Members are the definition's members. The last of several duplicates counts.
	Members map[string]json.RawMessage
	// Input and Output are nil if the schema is missing or not an object.
	Input, Output *jsonschema.Tree
}

// Read returns the clean run's definitions. It parses them once.
func Read(e *evidence.Evidence) *Listing {
	return evidence.Once(&e.Kept, func() *Listing {
		all := &Listing{}
		raw, _ := e.Tools()
		subschemas := 0
		for i, one := range raw {
			if i >= maxSurveyed || subschemas > maxSubschemas {
				all.Unread = len(raw) - i
				break
			}
			all.Size += len(one)
			if d := readDefinition(i, one); d != nil {
				all.Tools = append(all.Tools, d)
				for _, schema := range d.Schemas() {
					subschemas += len(schema.All)
				}
			}
		}
		return all
	})
}

// CountTools returns how many tools the server lists, including those that are not read.
func CountTools(e *evidence.Evidence) int { return len(Read(e).Tools) + Read(e).Unread }

// readDefinition returns nil if the value is not an object.
func readDefinition(index int, raw json.RawMessage) *Definition {
	if !evidence.IsObject(raw) {
		return nil
	}
	d := &Definition{Index: index, Raw: raw, Name: rawjson.GetText(raw, "name"), Members: evidence.Members(raw)}
	d.Input, d.Output = d.schema("inputSchema"), d.schema("outputSchema")
	return d
}

// schema parses a member; nil if it is not an object.
func (d *Definition) schema(member string) *jsonschema.Tree {
	if !evidence.IsObject(d.Members[member]) {
		return nil
	}
	return jsonschema.Parse(d.Members[member]).Tree("/" + member)
}

// Text returns a string member, or nothing.
func (d *Definition) Text(name string) string {
	if value := d.Members[name]; rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// Schemas returns the schemas that are objects.
func (d *Definition) Schemas() []*jsonschema.Tree {
	return slices.DeleteFunc([]*jsonschema.Tree{d.Input, d.Output}, func(t *jsonschema.Tree) bool { return t == nil })
}

// Where returns a place in the definition. pointer is relative to the tool; if the tool has no name, the result is
// relative to the result of tools/list.
func (d *Definition) Where(pointer string) *evidence.Where {
	if d.Name == "" {
		pointer = fmt.Sprintf("/tools/%d", d.Index) + pointer
	}
	pointer = evidence.Excerpt(pointer, evidence.MaxPointer)
	return &evidence.Where{Run: "clean", Method: "tools/list", Tool: d.Name, Pointer: pointer}
}

// Label returns a name for the tool, for messages.
func (d *Definition) Label() string {
	if d.Name == "" {
		return fmt.Sprintf("tool %d", d.Index)
	}
	return evidence.Label(d.Name)
}

// Finding returns a finding at a place in the definition.
func (d *Definition) Finding(pointer, format string, args ...any) check.Finding {
	return check.At(d.Where(pointer), format, args...)
}

// One returns a single finding at a place in the definition.
func (d *Definition) One(pointer, format string, args ...any) []check.Finding {
	return []check.Finding{d.Finding(pointer, format, args...)}
}

// InputNodes returns the subschemas of the input schema.
func (d *Definition) InputNodes() []*jsonschema.Subschema {
	if d.Input == nil {
		return nil
	}
	return d.Input.All
}
