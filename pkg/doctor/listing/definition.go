// Package listing reads the tools that a server lists, once for all checks: their
// definitions, their schemas, and what they cost a model.
package listing

import (
	"encoding/json"
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// The bounds on what the checks of tools read of a listing: definitions, and the subschemas
// of all of them. No client takes a hundredth of it, and what is read of one takes many times
// its size in memory.
const (
	maxSurveyed   = 10_000
	maxSubschemas = 100_000
)

// Listing is what the checks of tools read out of a listing, once.
type Listing struct {
	Tools  []*Definition
	Size   int // bytes of the definitions that were read
	Unread int // definitions beyond the bounds
}

// Definition is one entry of tools/list that is an object.
type Definition struct {
	Index int // in the whole listing, from 0
	Raw   json.RawMessage
	Name  string // empty where it has none, or none that is text
	// Members are the object's own; of a name given twice the last one counts.
	Members map[string]json.RawMessage
	// Input and output are nil where the schema is missing or not an object.
	Input, Output *SchemaTree
}

// Read reads the definitions of the clean run, once.
func Read(e *evidence.Evidence) *Listing {
	return evidence.Once(&e.Kept, func() *Listing {
		all := &Listing{}
		raw, _ := e.Tools()
		if more := len(raw) - maxSurveyed; more > 0 {
			all.Unread, raw = more, raw[:maxSurveyed]
		}
		subschemas := 0
		for i, one := range raw {
			if subschemas > maxSubschemas {
				all.Unread += len(raw) - i
				break
			}
			all.Size += len(one)
			if d := readDefinition(i, one); d != nil {
				all.Tools = append(all.Tools, d)
				for _, schema := range d.Schemas() {
					subschemas += len(schema.Nodes)
				}
			}
		}
		return all
	})
}

// CountTools is how many tools the server lists, those that are not read included.
func CountTools(e *evidence.Evidence) int { return len(Read(e).Tools) + Read(e).Unread }

// readDefinition returns nil for what is no object.
func readDefinition(index int, raw json.RawMessage) *Definition {
	list, ok := rawjson.Members(raw)
	if !ok {
		return nil
	}
	d := &Definition{Index: index, Raw: raw, Members: make(map[string]json.RawMessage, len(list))}
	for _, member := range list {
		d.Members[member.Name] = member.Value
	}
	d.Name = d.Text("name")
	d.Input = readSchema("/inputSchema", d.Members["inputSchema"])
	d.Output = readSchema("/outputSchema", d.Members["outputSchema"])
	return d
}

// Text is a member that is a string, empty where it is not.
func (d *Definition) Text(name string) string {
	if value := d.Members[name]; rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// Schemas are those of the two schemas that are objects.
func (d *Definition) Schemas() []*SchemaTree {
	var trees []*SchemaTree
	for _, tree := range []*SchemaTree{d.Input, d.Output} {
		if tree != nil {
			trees = append(trees, tree)
		}
	}
	return trees
}

// Where is the place of a finding in the definition; pointer counts from the tool,
// or from the answer to tools/list where the tool has no name to be found by.
func (d *Definition) Where(pointer string) *evidence.Where {
	if d.Name == "" {
		pointer = fmt.Sprintf("/tools/%d", d.Index) + pointer
	}
	return &evidence.Where{Run: "clean", Method: "tools/list", Tool: d.Name, Pointer: evidence.Excerpt(pointer, evidence.MaxPointer)}
}

// Label names the tool in a sentence.
func (d *Definition) Label() string {
	if d.Name == "" {
		return fmt.Sprintf("tool %d", d.Index)
	}
	return evidence.Excerpt(d.Name, evidence.MaxLabel)
}

// Finding is about a place in the definition.
func (d *Definition) Finding(pointer, evidence string) check.Finding {
	return check.Finding{Where: d.Where(pointer), Evidence: evidence}
}
