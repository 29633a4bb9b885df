package doctor

import (
	"fmt"
	"slices"
	"strings"
)

func askRefExternal(d *definition, tree *schemaTree) []Finding {
	return refFindings(d, tree, refExternal, "")
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
