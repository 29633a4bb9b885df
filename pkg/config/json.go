package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"toolx/pkg/rawjson"
)

// maxDepth is how deeply values may nest. The parsers recurse, and Go cannot recover from a stack overflow.
const maxDepth = 200

// parseJSON reads JSON, or JSON with comments and trailing commas.
func parseJSON(file string, data []byte) (*node, []Problem) { return parseJSONOf(file, data, data) }

// parseJSONOf reads a text whose values have the same positions as in data.
func parseJSONOf(file string, data, text []byte) (*node, []Problem) {
	if offset := tooDeepJSON(text); offset >= 0 {
		cursor := cursor{data: data}
		return nil, []Problem{tooDeep(cursor.origin(file, offset))}
	}
	// A comment on the last line may lack its newline; hujson insists on one.
	value, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, []Problem{jsonProblem(file, data, err)}
	}
	reader := jsonReader{file: file, cursor: cursor{data: data}}
	return reader.node(&value), reader.problems
}

// tooDeep returns the problem of a file that nests too deeply.
func tooDeep(origin Origin) Problem {
	return Problem{Origin: origin, Text: fmt.Sprintf("values are nested more than %d deep", maxDepth)}
}

// tooDeepJSON returns the offset of the bracket that opens one level too many, or -1. It only counts brackets and
// leaves errors to the parser.
func tooDeepJSON(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			i = rawjson.StringEnd(data, i) - 1
		case '/':
			i = skipComment(data, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment at i, or i if there is none.
func skipComment(data []byte, i int) int {
	begin, end := data[i:], "\n"
	switch {
	case bytes.HasPrefix(begin, []byte("//")):
	case bytes.HasPrefix(begin, []byte("/*")):
		end = "*/"
	default:
		return i
	}
	length := bytes.Index(begin[2:], []byte(end))
	if length < 0 {
		return len(data)
	}
	return i + 2 + length + len(end) - 1
}

// jsonProblem turns hujson's error, which has its position only in its text, into a problem.
func jsonProblem(file string, data []byte, err error) Problem {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return Problem{Origin: Origin{File: file, Line: 1, Column: 1}, Text: "not valid JSON: " + err.Error()}
	}
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner
	}
	text := "not valid JSON: " + reason.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		text = "not valid JSON: unexpected end of file, a closing bracket or quote is missing"
	}
	if begin, ok := lineOf(data, line); ok {
		column = 1 + utf8.RuneCountInString(begin[:min(column-1, len(begin))])
	}
	return Problem{
		Origin: Origin{File: file, Line: line, Column: column},
		Text:   text,
		Source: sourceLine(data, line, column),
	}
}

// strictClient returns the client that accepts neither comments nor trailing commas in a file of this name; empty for
// other files.
func strictClient(base string) string {
	return map[string]string{
		sharedFile: "Claude Code", ".claude.json": "Claude Code", "claude_desktop_config.json": "Claude Desktop",
	}[base]
}

// unportable returns what the client of a file rejects although toolx accepts it: the first comment or trailing comma.
func unportable(file File, text []byte) []Warning {
	client := strictClient(filepath.Base(file.Path))
	var refusal *json.SyntaxError
	if client == "" || !errors.As(json.Unmarshal(text, new(json.RawMessage)), &refusal) {
		return nil
	}
	at := int(refusal.Offset) - 1 // of the rejected byte
	what := "a comma before a closing bracket"
	if at < len(text) && text[at] == '/' {
		what = "a comment"
	}
	place := cursor{data: text}
	return []Warning{{
		Origin: place.origin(file.Name, at),
		Text:   fmt.Sprintf("%s cannot read a file with %s, so it has none of these servers", client, what),
	}}
}

// jsonReader turns hujson's tree into nodes.
type jsonReader struct {
	file     string
	cursor   cursor
	problems []Problem
}

func (r *jsonReader) node(value *hujson.Value) *node {
	n := &node{origin: r.cursor.origin(r.file, value.StartOffset)}
	before := len(r.problems)
	defer func() { n.flaws = r.problems[before:] }()
	switch v := value.Value.(type) {
	case *hujson.Object:
		n.kind = kindMap
		n.members = r.members(v)
	case *hujson.Array:
		n.kind = kindList
		for i := range v.Elements {
			n.items = append(n.items, r.node(&v.Elements[i]))
		}
	case hujson.Literal:
		n.text = v.String()
		n.written = n.text
		switch v.Kind() {
		case 'n':
			n.text = ""
		case 't', 'f':
			n.kind = kindBool
		case '"':
			n.kind = kindText
		default:
			n.kind = kindNumber
		}
	}
	return n.weigh()
}

func (r *jsonReader) members(object *hujson.Object) []member {
	var members keyed
	for i := range object.Members {
		name := &object.Members[i].Name
		key, _ := name.Value.(hujson.Literal)
		m := member{key: key.String(), origin: r.cursor.origin(r.file, name.StartOffset)}
		m.value = r.node(&object.Members[i].Value)
		if problem, ok := members.add(m); !ok {
			r.problems = append(r.problems, problem)
		}
	}
	return members.list
}

// keyed collects the members of a mapping and rejects duplicate keys, because parsers disagree on which one counts.
type keyed struct {
	list  []member
	index map[string]int
}

// add appends m, or returns why it does not.
func (k *keyed) add(m member) (Problem, bool) {
	if first, found := k.index[m.key]; found {
		return Problem{
			Origin: m.origin,
			Text:   fmt.Sprintf("duplicate key '%s', first at %s", m.key, k.list[first].origin),
			Fix:    "remove one of the two", Duplicate: true, first: k.list[first].origin,
		}, false
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[m.key] = len(k.list)
	k.list = append(k.list, m)
	return Problem{}, true
}

// cursor turns offsets into lines and columns. With increasing offsets it passes over the data once.
type cursor struct {
	data   []byte
	offset int
	line   int // before offset, from 0
	column int // characters on the line before offset
}

// origin returns the position of an offset. For an offset before the last one it starts again from the beginning.
func (c *cursor) origin(file string, offset int) Origin {
	if offset < c.offset {
		*c = cursor{data: c.data}
	}
	passed := c.data[c.offset:min(offset, len(c.data))]
	if newlines := bytes.Count(passed, []byte("\n")); newlines > 0 {
		c.line += newlines
		c.column = 0
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	c.column += utf8.RuneCount(passed)
	c.offset = offset
	return Origin{File: file, Line: c.line + 1, Column: c.column + 1}
}
