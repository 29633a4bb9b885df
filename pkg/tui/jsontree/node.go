package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
)

// node is a value of the document. Its children are parsed when they are needed.
type node struct {
	parent *node
	key    string // the member's name, where the parent is an object
	index  int    // the place, where it is an array
	raw    json.RawMessage
	open   bool

	cut  bool
	list []*node
	rest int // how many children are not in list, because there are too many

	change change
	old    *node // the counterpart in an earlier document
	gone   int   // how many of list are removed
}

const (
	// maxDepth bounds how deep "open everything" goes, maxUnfold how many nodes it opens.
	maxDepth  = 64
	maxUnfold = 5000
	// maxShort is the most children of a container that is open at first.
	maxShort = 40
	// maxChildren bounds how many children of one node are shown.
	maxChildren = 100_000
	// maxLines bounds how many bytes of a long text are shown below its node.
	maxLines = 128 << 10
)

// kind returns the first byte of the value: { [ " t f n - or a digit.
func (n *node) kind() byte {
	text := bytes.TrimLeft(n.raw, " \t\r\n")
	if len(text) == 0 {
		return 'n'
	}
	return text[0]
}

func (n *node) container() bool { return n.kind() == '{' || n.kind() == '[' }

// children parses the children of the value, once.
func (n *node) children() []*node {
	if n.cut {
		return n.list
	}
	n.cut = true
	for member := range rawjson.Each(n.raw) {
		n.adopt(&node{key: member.Name, raw: member.Value})
	}
	for element := range rawjson.EachElement(n.raw) {
		n.adopt(&node{index: len(n.list), raw: element})
	}
	return n.list
}

// adopt adds a child, or only counts it if there are too many.
func (n *node) adopt(child *node) {
	if len(n.list) == maxChildren {
		n.rest++
		return
	}
	child.parent = n
	n.list = append(n.list, child)
}

func (n *node) size() int { return len(n.children()) + n.rest - n.gone }

func (n *node) depth() int {
	depth := 0
	for at := n.parent; at != nil; at = at.parent {
		depth++
	}
	return depth
}

// name returns what is drawn before the value.
func (n *node) name() string {
	if n.parent != nil && n.parent.kind() == '[' {
		return fmt.Sprint(n.index)
	}
	return n.key
}

// text returns the text of a string, or any other value as it is written.
func (n *node) text() string {
	if n.kind() == '"' {
		return rawjson.Unquote(n.raw)
	}
	return string(n.raw)
}

// head returns the beginning of a scalar, enough for a number of cells: a string with no more escapes
// than JSON needs, any other value as it is written.
func (n *node) head(cells int) string {
	text := bytes.TrimSpace(n.raw)
	const bytesPerCell = 32 // an emoji with joiners is long, and longer in escapes
	limit := max(1, cells) * bytesPerCell
	switch {
	case n.kind() == '"' && len(text) > limit:
		return strings.TrimSuffix(plain(rawjson.UnquoteHead(text, limit)), `"`)
	case n.kind() == '"':
		return plain(rawjson.Unquote(text))
	case len(text) > limit:
		return strings.ToValidUTF8(string(text[:limit]), "")
	}
	return string(text)
}

// plain writes a string as JSON with no more escapes than it needs.
func plain(text string) string { return string(rawjson.Quote(text)) }

// beginning returns the part of a scalar's text that is shown below it.
func (n *node) beginning() string {
	text := n.text()
	if len(text) <= maxLines {
		return text
	}
	return fmt.Sprintf("%s\n[first %d of %d bytes]", strings.ToValidUTF8(text[:maxLines], ""), maxLines, len(text))
}

// fold closes a node and all open nodes below it.
func (n *node) fold() {
	n.open = false
	for _, child := range n.list {
		child.fold()
	}
}

// unfold opens a node and the nodes below it to a depth, within maxUnfold.
func (n *node) unfold(depth int) {
	left := maxUnfold
	n.unfoldWithin(depth, depth == maxDepth, &left)
}

func (n *node) unfoldWithin(depth int, long bool, left *int) {
	if depth == 0 || !n.container() || *left <= 0 {
		return
	}
	if n.parent != nil && !long && n.size() > maxShort {
		return
	}
	n.open = true
	*left -= n.size()
	for _, child := range n.children() {
		child.unfoldWithin(depth-1, long, left)
	}
}

// pointer returns the JSON pointer to the node (RFC 6901).
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.pointer() + rawjson.Pointer(n.name())
}

// jq returns the path to the node in jq syntax: .a[0]."b c".
func (n *node) jq() string {
	if n.parent == nil {
		return "."
	}
	path := strings.TrimSuffix(n.parent.jq(), ".")
	switch {
	case n.parent.kind() == '[':
		if path == "" {
			path = "."
		}
		return fmt.Sprintf("%s[%d]", path, n.index)
	case identifier(n.key):
		return path + "." + n.key
	}
	return path + "." + string(rawjson.Quote(n.key))
}

// identifier reports whether jq accepts a name without quotes.
func identifier(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
