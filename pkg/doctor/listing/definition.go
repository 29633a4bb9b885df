// Package listing reads the tools that a server lists, once for all checks: their
// definitions, their schemas, and what they cost a model.
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

// The bounds on what the checks of tools read of a listing: definitions, and the subschemas of all of them. No client
// takes a hundredth of it, and what is read of one takes many times its size in memory.
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
	Input, Output *jsonschema.Tree
}

// Read reads the definitions of the clean run, once.
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

// readDefinition returns nil for a value that is not an object.
func readDefinition(index int, raw json.RawMessage) *Definition {
	if !evidence.IsObject(raw) {
		return nil
	}
	d := &Definition{Index: index, Raw: raw, Name: rawjson.GetText(raw, "name"), Members: evidence.Members(raw)}
	d.Input, d.Output = d.schema("inputSchema"), d.schema("outputSchema")
	return d
}

// schema reads the schema of a member, nil where that is no object.
func (d *Definition) schema(member string) *jsonschema.Tree {
	if !evidence.IsObject(d.Members[member]) {
		return nil
	}
	return jsonschema.Parse(d.Members[member]).Tree("/" + member)
}

// Text returns a member that is a string, or nothing.
func (d *Definition) Text(name string) string {
	if value := d.Members[name]; rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// Schemas returns those of the two schemas that are objects.
func (d *Definition) Schemas() []*jsonschema.Tree {
	return slices.DeleteFunc([]*jsonschema.Tree{d.Input, d.Output}, func(t *jsonschema.Tree) bool { return t == nil })
}

// Where returns a place in the definition. pointer counts from the tool; if the tool has no name, the
// result counts from the answer to tools/list.
func (d *Definition) Where(pointer string) *evidence.Where {
	if d.Name == "" {
		pointer = fmt.Sprintf("/tools/%d", d.Index) + pointer
	}
	pointer = evidence.Excerpt(pointer, evidence.MaxPointer)
	return &evidence.Where{Run: "clean", Method: "tools/list", Tool: d.Name, Pointer: pointer}
}

// Label names the tool in a sentence.
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
