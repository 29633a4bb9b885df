package config

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// kind is the kind of a node's value.
type kind int

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindList
	kindMap
)

// String returns the kind's name in messages.
func (k kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "text", "a list", "a mapping"}[k]
}

// node is one value of a file in any format, with order, digits and positions. Nodes do not change after parsing,
// because a YAML alias shares the node of its anchor.
type node struct {
	kind kind
	// text is the content of a text, the literal of a number in JSON's grammar, and "true" or "false" of a boolean.
	text string
	// written is a scalar as in the file, without quotes.
	written string
	items   []*node
	members []member
	// origin is where the value begins.
	origin Origin
	// weight is the approximate size of the value in bytes, with all aliases expanded.
	weight int
	// flaws are the parser's problems with the value, without those at the anchors of its aliases.
	flaws []Problem
}

// eachFlaw calls visit with the parser's problems with the value, including aliases. It may report a problem twice.
func (n *node) eachFlaw(visit func(Problem)) {
	for _, flaw := range n.flaws {
		visit(flaw)
	}
	for _, item := range n.items {
		item.eachFlaw(visit)
	}
	for _, m := range n.members {
		m.value.eachFlaw(visit)
	}
}

// member is one entry of a mapping.
type member struct {
	key    string
	origin Origin // of the key
	value  *node
}

// nodeWeight is the weight of a node besides its text.
const nodeWeight = 16

// weigh sets the weight of n from its parts and returns n.
func (n *node) weigh() *node {
	n.weight = nodeWeight + len(n.text)
	for _, item := range n.items {
		n.weight += item.weight
	}
	for _, m := range n.members {
		n.weight += len(m.key) + m.value.weight
	}
	return n
}

// get returns the member with a key.
func (n *node) get(key string) (member, bool) {
	if i := n.indexOf(key); i >= 0 {
		return n.members[i], true
	}
	return member{}, false
}

// indexOf returns the index of the member with a key, or -1.
func (n *node) indexOf(key string) int {
	return slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
}

// place is the position to report for the member: that of a scalar value, else that of the key.
func (m member) place() Origin {
	switch m.value.kind {
	case kindNull, kindList, kindMap:
		return m.origin
	}
	return m.value.origin
}

// same reports whether two scalars have the same value.
func (n *node) same(other *node) bool {
	scalar := n.kind != kindList && n.kind != kindMap
	return scalar && n.kind == other.kind && n.text == other.text
}

// json returns the node as JSON, with members in the file's order and numbers digit by digit.
func (n *node) json() json.RawMessage {
	switch n.kind {
	case kindBool, kindNumber:
		return json.RawMessage(n.text)
	case kindText:
		return rawjson.Quote(n.text)
	case kindList:
		items := make([]json.RawMessage, len(n.items))
		for i, item := range n.items {
			items[i] = item.json()
		}
		return rawjson.Array(items)
	case kindMap:
		members := make([]rawjson.Member, len(n.members))
		for i, m := range n.members {
			members[i] = rawjson.NewMember(m.key, m.value.json())
		}
		return rawjson.Object(members)
	}
	return json.RawMessage("null")
}

// plain returns the node as gojsonschema takes it.
func (n *node) plain() any {
	switch n.kind {
	case kindBool:
		return n.text == "true"
	case kindNumber:
		return plainNumber(n.text)
	case kindText:
		return n.text
	case kindList:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.plain()
		}
		return items
	case kindMap:
		members := make(map[string]any, len(n.members))
		for _, m := range n.members {
			members[m.key] = m.value.plain()
		}
		return members
	}
	return nil
}

// plainNumber returns a number for the validator, whose exact fractions would take a gigabyte for 1e999999999. It
// replaces a number with a large exponent with one that validates the same.
func plainNumber(text string) json.Number {
	_, exponent, found := strings.Cut(strings.ToLower(text), "e")
	if !found {
		return json.Number(text)
	}
	if power, err := strconv.Atoi(exponent); err == nil && -100 <= power && power <= 100 {
		return json.Number(text)
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	if strings.HasPrefix(exponent, "-") {
		return json.Number(sign + "1e-100")
	}
	return json.Number(sign + "1e100")
}

// joinKey returns the path of a mapping's member: "servers.zwave", or `servers["my server"]` where the key is not a
// plain word.
func joinKey(path, key string) string {
	if !plainKey(key) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// joinIndex returns the path of a list's item, counted from 0.
func joinIndex(path string, index int) string {
	return path + "[" + strconv.Itoa(index) + "]"
}

func plainKey(key string) bool {
	for _, r := range key {
		plain := r == '_' || r == '-' || r == '$' ||
			'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r > 127
		if !plain {
			return false
		}
	}
	return key != ""
}

// each calls visit with the values below n, their paths ("args[0]", "env.TOKEN") and positions: that of a scalar, or
// that of the key of a mapping or list. It continues below a value if visit returns true.
func (n *node) each(path string, visit func(path string, at Origin, value *node) (below bool)) {
	for i, item := range n.items {
		if below := joinIndex(path, i); visit(below, item.origin, item) {
			item.each(below, visit)
		}
	}
	for _, m := range n.members {
		if below := joinKey(path, m.key); visit(below, m.place(), m.value) {
			m.value.each(below, visit)
		}
	}
}

// originAt returns the position of the value at a path; false if there is none.
func (n *node) originAt(path string) (origin Origin, found bool) {
	n.each("", func(at string, place Origin, _ *node) bool {
		if at == path {
			origin, found = place, true
		}
		return !found && strings.HasPrefix(path, at)
	})
	return origin, found
}

func beginsWithKey(path, key string) bool {
	rest, found := strings.CutPrefix(path, key)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Place returns the path of a value of the entry for messages, and its origin, or that of the entry if the value's is
// not known. Steps lead from the entry to the value: keys as string, indexes as int. For an entry from the command
// line, paths start at the entry ("args[0]").
func (s *Server) Place(steps ...any) (path string, origin Origin) {
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			path = joinIndex(path, step)
		case string:
			path = joinKey(path, step)
		}
	}
	origin = s.origin(path)
	if s.literal {
		return path, origin
	}
	whole := joinKey("servers", s.Name)
	switch {
	case path == "":
		return whole, origin
	case path[0] == '[':
		return whole + path, origin
	}
	return whole + "." + path, origin
}
