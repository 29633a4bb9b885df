package doctor

import (
	"fmt"
	"slices"
	"strings"
)

func schemaRefExternal() Check {
	return Check{
		ID: "schema-ref-external", Severity: Error, Group: GroupTools, Need: NeedTools,
		Title: "a schema refers to another document",
		Ask:   eachSchema(askRefExternal),
		Page: Page{
			Why: "Clients must not fetch what a schema refers to: it would let a server read files and reach addresses through its client. " +
				"So the reference leads nowhere, and what it stands for is not checked, or the schema is refused. toolx did not fetch it.",
			Bad:    `"address": {"$ref": "https://example.com/address.json"}`,
			Good:   `"address": {"$ref": "#/$defs/address"}, … "$defs": {"address": {…}}`,
			Fix:    []string{"in the server: put the schema under $defs and refer to it there"},
			Breaks: []string{"validators with a strict loader refuse the schema"},
			Source: "MCP 2026-07-28, basic/index: JSON Schema Usage (MUST NOT dereference)",
		},
	}
}

func askRefExternal(d *definition, tree *schemaTree) []Finding {
	return refFindings(d, tree, refExternal, "")
}

func schemaRefDangling() Check {
	return Check{
		ID: "schema-ref-dangling", Severity: Error, Group: GroupTools, Need: NeedTools,
		Title: "a schema refers to what is not there",
		Ask:   eachSchema(askRefDangling),
		Page: Page{
			Why: "A reference that leads nowhere makes the schema useless: validators refuse it, some model APIs refuse the whole request. " +
				"It comes from generators that copy a part of a schema without its definitions.",
			Bad:    `{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}`,
			Good:   `{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}`,
			Fix:    []string{"in the server: take the definitions along, or write the schema out where it is used"},
			Breaks: []string{"Moonshot/Kimi refuses the request", "validators refuse the schema"},
			Source: "MCP 2025-11-25, basic/index: JSON Schema Usage",
		},
	}
}

func askRefDangling(d *definition, tree *schemaTree) []Finding {
	return refFindings(d, tree, refDangling, " leads nowhere")
}

func refFindings(d *definition, tree *schemaTree, kind refKind, remark string) []Finding {
	var found []Finding
	for _, node := range tree.nodes {
		if node.reference() != "" && node.refKind == kind {
			found = append(found, d.finding(node.pointer()+"/$ref", excerpt(node.reference(), maxExcerpt)+remark))
		}
	}
	return found
}

func schemaRefLoop() Check {
	return Check{
		ID: "schema-ref-loop", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a schema refers to itself without end",
		Ask:   eachSchema(askRefLoop),
		Page: Page{
			Why: "A schema may contain itself through a property or an array's elements: the value then ends somewhere. " +
				"Through $ref and allOf alone it goes round on the same value for ever: validators hang, overflow their stack, or refuse.",
			Bad:    `"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}`,
			Good:   `"$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}}`,
			Fix:    []string{"in the server: break the circle, or lead it through a property"},
			Breaks: []string{"gojsonschema overflows its stack and takes the program with it"},
			Source: "JSON Schema 2020-12, core 9.4.1: guarding against infinite recursion",
		},
	}
}

// askRefLoop looks for a way from a subschema to itself that stays at one value.
func askRefLoop(d *definition, tree *schemaTree) []Finding {
	walker := loopWalker{state: make(map[*schemaNode]int)}
	for _, node := range tree.nodes {
		if loop := walker.visit(node); loop != nil {
			return []Finding{d.finding(loop[0].pointer(), loopText(loop))}
		}
	}
	return nil
}

func loopText(loop []*schemaNode) string {
	pointers := make([]string, 0, len(loop)+1)
	for _, node := range append(slices.Clone(loop), loop[0]) {
		pointers = append(pointers, excerpt(node.pointer(), maxLabel))
	}
	if len(pointers) > 6 {
		pointers = append(pointers[:5], fmt.Sprintf("… (%d steps)", len(loop)))
	}
	return strings.Join(pointers, " → ")
}

// loopWalker goes depth first over what is held against one value.
type loopWalker struct {
	state map[*schemaNode]int // 1: on the way, 2: done
	way   []*schemaNode
}

func (w *loopWalker) visit(node *schemaNode) []*schemaNode {
	switch w.state[node] {
	case 1:
		return slices.Clone(w.way[slices.Index(w.way, node):])
	case 2:
		return nil
	}
	w.state[node] = 1
	w.way = append(w.way, node)
	for _, next := range node.sameValue() {
		if loop := w.visit(next); loop != nil {
			return loop
		}
	}
	w.way = w.way[:len(w.way)-1]
	w.state[node] = 2
	return nil
}

// sameValue are the subschemas that a value is held against together with the node.
func (n *schemaNode) sameValue() []*schemaNode {
	var nodes []*schemaNode
	if n.target != nil {
		nodes = append(nodes, n.target)
	}
	for _, below := range n.below {
		if below.inPlace() {
			nodes = append(nodes, below)
		}
	}
	return nodes
}
