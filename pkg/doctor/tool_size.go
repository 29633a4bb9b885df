package doctor

import (
	"fmt"

	"toolx/pkg/exec"
)

// The sizes beyond which a schema is a burden for whoever reads it.
const (
	deepSchema   = 32       // levels of subschemas
	largeSchema  = 64 << 10 // bytes
	combosSchema = 10_000   // subschemas, each as often as it is referred to
)

func schemaDeep() Check {
	return Check{
		ID: "schema-deep", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a schema is nested very deep",
		Ask:   eachSchema(askSchemaDeep),
		Page: Page{
			Why: "Validators, converters and models lose their way in deep schemas; OpenAI's strict mode ends at 10 levels, and some " +
				"programs overflow their stack.",
			Bad:    `{"properties": {"a": {"properties": {"b": {"properties": {…}}}}}}, more than 32 levels`,
			Good:   `{"properties": {"path": {"type": "array", "items": {"type": "string"}}}}`,
			Fix:    []string{"in the server: make the parameters flat, or use a recursive definition where the data is recursive"},
			Source: "MCP 2026-07-28, basic/index: JSON Schema Usage (composition and resource use)",
		},
	}
}

func askSchemaDeep(d *definition, tree *schemaTree) []Finding {
	if tree.deep {
		return []Finding{d.finding(tree.root.pointer(), "deeper than JSON decoders read: 10,000 brackets in one another")}
	}
	deepest, more := tree.levels()
	if deepest <= deepSchema {
		return nil
	}
	figure := fmt.Sprint(deepest)
	if more {
		figure = "more than " + figure
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%s levels of subschemas; over %d is deep", figure, deepSchema))}
}

func schemaLarge() Check {
	return Check{
		ID: "schema-large", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a schema is very large",
		Ask:   eachSchema(askSchemaLarge),
		Page: Page{
			Why:    "A schema is sent to the model with every request: 64 kB are about 16,000 tokens, for one tool. It is also compiled by every client that validates.",
			Bad:    "an enum of 5,000 names",
			Good:   `{"type": "string", "description": "a name, as list_names gives it"}`,
			Fix:    []string{"in the server: replace long lists by a string and a tool that lists them; cut the tool in two"},
			Source: "MCP 2026-07-28, basic/index: JSON Schema Usage (composition and resource use)",
		},
	}
}

func askSchemaLarge(d *definition, tree *schemaTree) []Finding {
	if len(tree.raw) <= largeSchema {
		return nil
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%s; over %s is large", exec.Bytes(int64(len(tree.raw))), exec.Bytes(largeSchema)))}
}

func schemaCombos() Check {
	return Check{
		ID: "schema-combos", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a schema multiplies its parts",
		Ask:   eachSchema(askSchemaCombos),
		Page: Page{
			Why: "References and combinators that hold each other several times multiply: twenty levels of two ask for a million checks " +
				"of one value. Validators without a limit hang, and converters that write references out run out of memory.",
			Bad:    `"l0": {"allOf": [{"$ref": "#/$defs/l1"}, {"$ref": "#/$defs/l1"}]}, "l1": {"allOf": [{"$ref": "#/$defs/l2"}, …`,
			Good:   `"l0": {"$ref": "#/$defs/l1"}`,
			Fix:    []string{"in the server: refer to each definition once on every level"},
			Source: "MCP 2026-07-28, basic/index: JSON Schema Usage (composition and resource use)",
		},
	}
}

func askSchemaCombos(d *definition, tree *schemaTree) []Finding {
	counter := comboCounter{known: make(map[*schemaNode]float64)}
	n := counter.count(tree.root)
	if n <= combosSchema && len(tree.nodes) <= combosSchema {
		return nil
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%.3g subschemas when every reference is written out, of %d as it stands; over %d is too many",
		max(n, float64(len(tree.nodes))), len(tree.nodes), combosSchema))}
}

// comboCounter counts subschemas, each as often as it is reached. A circle counts
// once round.
type comboCounter struct{ known map[*schemaNode]float64 }

func (c comboCounter) count(node *schemaNode) float64 {
	if n, ok := c.known[node]; ok {
		return n
	}
	c.known[node] = 0 // while it is being counted
	n := 1.0
	for _, below := range node.below {
		if !below.isDefinition() {
			n += c.count(below)
		}
	}
	if node.target != nil {
		n += c.count(node.target)
	}
	c.known[node] = n
	return n
}
