package tool

import (
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
)

func askRefExternal(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	return refFindings(d, tree, listing.RefExternal, "")
}

func askRefDangling(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	return refFindings(d, tree, listing.RefDangling, " leads nowhere")
}

func refFindings(d *listing.Definition, tree *listing.SchemaTree, kind listing.RefKind, remark string) []check.Finding {
	var found []check.Finding
	for _, node := range tree.Nodes {
		if node.Reference() != "" && node.RefKind == kind {
			found = append(found, d.Finding(node.Pointer()+"/$ref", evidence.Excerpt(node.Reference(), evidence.MaxExcerpt)+remark))
		}
	}
	return found
}

// askRefLoop looks for a way from a subschema to itself that stays at one value.
func askRefLoop(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	walker := loopWalker{state: make(map[*listing.SchemaNode]int)}
	for _, node := range tree.Nodes {
		if loop := walker.visit(node); loop != nil {
			return []check.Finding{d.Finding(loop[0].Pointer(), loopText(loop))}
		}
	}
	return nil
}

func loopText(loop []*listing.SchemaNode) string {
	pointers := make([]string, 0, len(loop)+1)
	for _, node := range append(slices.Clone(loop), loop[0]) {
		pointers = append(pointers, evidence.Excerpt(node.Pointer(), evidence.MaxLabel))
	}
	if len(pointers) > 6 {
		pointers = append(pointers[:5], fmt.Sprintf("… (%d steps)", len(loop)))
	}
	return strings.Join(pointers, " → ")
}

// loopWalker goes depth first over what is held against one value.
type loopWalker struct {
	state map[*listing.SchemaNode]int // 1: on the way, 2: done
	way   []*listing.SchemaNode
}

func (w *loopWalker) visit(node *listing.SchemaNode) []*listing.SchemaNode {
	switch w.state[node] {
	case 1:
		return slices.Clone(w.way[slices.Index(w.way, node):])
	case 2:
		return nil
	}
	w.state[node] = 1
	w.way = append(w.way, node)
	for _, next := range sameValue(node) {
		if loop := w.visit(next); loop != nil {
			return loop
		}
	}
	w.way = w.way[:len(w.way)-1]
	w.state[node] = 2
	return nil
}

// sameValue are the subschemas that a value is held against together with the node.
func sameValue(n *listing.SchemaNode) []*listing.SchemaNode {
	var nodes []*listing.SchemaNode
	if n.Target != nil {
		nodes = append(nodes, n.Target)
	}
	for _, below := range n.Below {
		if below.InPlace() {
			nodes = append(nodes, below)
		}
	}
	return nodes
}
