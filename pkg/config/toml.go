package config

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads a TOML 1.0 document. The parser returns the tree with its positions; decoding the document checks
// whether keys and tables are consistent.
func parseTOML(file string, data []byte) (root *node, problems []Problem) {
	defer func() {
		if cause := recover(); cause != nil {
			root, problems = nil, []Problem{{
				Origin: Origin{File: file}, Text: "not valid TOML: the parser gave up",
				Fix: "simplify unusual parts of it",
			}}
		}
	}()
	reader := tomlReader{file: file, cursor: cursor{data: data}, index: make(map[*node]map[string]int)}
	root = reader.document(data)
	if reader.deep != nil {
		return nil, []Problem{tooDeep(*reader.deep)}
	}
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		return nil, []Problem{tomlProblem(file, data, err)}
	}
	return root, nil
}

func tomlProblem(file string, data []byte, err error) Problem {
	problem := Problem{
		Origin: Origin{File: file, Line: 1, Column: 1},
		Text:   "not valid TOML: " + strings.TrimPrefix(err.Error(), "toml: "),
	}
	var decoding *toml.DecodeError
	if errors.As(err, &decoding) {
		line, column := decoding.Position()
		if begin, ok := lineOf(data, line); ok {
			column = 1 + utf8.RuneCountInString(begin[:max(0, min(column-1, len(begin)))])
		}
		problem.Origin.Line, problem.Origin.Column = line, column
		problem.Source = sourceLine(data, line, column)
	}
	return problem
}

// tomlReader builds nodes from the parser's expressions.
type tomlReader struct {
	file   string
	parser unstable.Parser
	cursor cursor
	// index finds the members of each mapping: a document may have millions, in any order.
	index map[*node]map[string]int
	deep  *Origin // the first value that is nested too deeply
}

// document reads all expressions. It skips those that contradict earlier ones.
func (r *tomlReader) document(data []byte) *node {
	r.parser.Reset(data)
	root := &node{kind: kindMap, origin: Origin{File: r.file, Line: 1, Column: 1}}
	table, depth := root, 0
	for r.deep == nil && r.parser.NextExpression() {
		expression := r.parser.Expression()
		switch expression.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, depth = r.table(root, expression.Key(), expression.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			r.keyValue(table, expression, depth)
		}
	}
	return root
}

// table returns the mapping for a table header, and its depth.
func (r *tomlReader) table(at *node, key unstable.Iterator, another bool) (table *node, depth int) {
	for key.Next() {
		depth++
		last := key.IsLast()
		origin := r.origin(key.Node().Raw)
		if r.tooDeep(depth, origin) {
			return at, depth
		}
		at = r.child(at, string(key.Node().Data), origin)
		if at.kind == kindNull {
			at.kind = kindMap
			if last && another {
				at.kind = kindList
			}
		}
		if at.kind == kindList { // of tables: use the last one
			if last && another {
				at.items = append(at.items, &node{kind: kindMap, origin: origin})
			}
			if len(at.items) == 0 {
				return &node{}, depth
			}
			at = at.items[len(at.items)-1]
		}
	}
	return at, depth
}

// keyValue reads "a.b = value" into a table.
func (r *tomlReader) keyValue(table *node, expression *unstable.Node, depth int) {
	for key := expression.Key(); key.Next(); {
		depth++
		origin := r.origin(key.Node().Raw)
		if r.tooDeep(depth, origin) {
			return
		}
		child := r.child(table, string(key.Node().Data), origin)
		switch {
		case key.IsLast():
			r.value(child, expression.Value(), depth)
		case child.kind == kindNull:
			child.kind = kindMap
		}
		table = child
	}
}

// child returns the member of a mapping, and adds it if there is none.
func (r *tomlReader) child(parent *node, key string, origin Origin) *node {
	members := r.index[parent]
	if members == nil {
		members = make(map[string]int)
		r.index[parent] = members
	}
	if i, found := members[key]; found {
		return parent.members[i].value
	}
	members[key] = len(parent.members)
	added := &node{origin: origin}
	parent.members = append(parent.members, member{key: key, origin: origin, value: added})
	return added
}

// value reads a value into n. Lists and mappings keep the origin of n, which is that of the key.
func (r *tomlReader) value(n *node, value *unstable.Node, depth int) {
	switch value.Kind {
	case unstable.Array:
		n.kind = kindList
		for children := value.Children(); children.Next(); {
			item := &node{origin: n.origin}
			if depth++; r.tooDeep(depth, n.origin) {
				return
			}
			r.value(item, children.Node(), depth)
			depth--
			n.items = append(n.items, item)
		}
		return
	case unstable.InlineTable:
		n.kind = kindMap
		for children := value.Children(); children.Next(); {
			r.keyValue(n, children.Node(), depth)
		}
		return
	}
	n.origin = r.origin(value.Raw)
	n.kind, n.text = kindText, string(value.Data)
	n.written = n.text
	switch value.Kind {
	case unstable.Bool:
		n.kind = kindBool
	case unstable.Integer, unstable.Float:
		if number, ok := tomlNumber(n.text); ok {
			n.kind, n.text = kindNumber, number
		}
	}
}

// tomlNumber returns a number in JSON's grammar; ok is false for inf and nan.
func tomlNumber(text string) (string, bool) {
	if whole, err := strconv.ParseInt(text, 0, 64); err == nil {
		return strconv.FormatInt(whole, 10), true
	}
	return jsonNumber(strings.ReplaceAll(strings.TrimPrefix(text, "+"), "_", ""))
}

func (r *tomlReader) origin(at unstable.Range) Origin { return r.cursor.origin(r.file, int(at.Offset)) }

func (r *tomlReader) tooDeep(depth int, origin Origin) bool {
	if depth > maxDepth && r.deep == nil {
		r.deep = &origin
	}
	return r.deep != nil
}
