package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"toolx/pkg/rawjson"
)

// editTOML replaces a table of TOML, or appends it. The only client that uses TOML has its servers in tables.
func editTOML(text []byte, _ *node, change Change) ([]byte, error) {
	if change.Value == nil {
		return nil, errors.New("TOML entries can only be replaced as a whole")
	}
	newline := newlineOf(text)
	table, err := tomlTable(change.Path, jsonNode(change.Value))
	if err != nil {
		return nil, err
	}
	added := []byte(strings.ReplaceAll(table, "\n", newline))
	begin, end := tomlRange(text, change.Path)
	if begin < 0 {
		begin, end = len(text), len(text)
		if len(text) > 0 {
			added = slices.Concat([]byte(newline), added)
			if !bytes.HasSuffix(text, []byte("\n")) {
				added = slices.Concat([]byte(newline), added)
			}
		}
	} else if end < len(text) {
		added = append(added, newline...)
	}
	return slices.Concat(text[:begin], added, text[end:]), nil
}

// tomlRange returns the range of the table of a path with its sub-tables, negative if there is none. Comments before
// the next table belong to that one.
func tomlRange(text []byte, path []string) (begin, end int) {
	begin, end = -1, len(text)
	parser := unstable.Parser{KeepComments: true}
	parser.Reset(text)
	comment := -1 // where the comments above the next expression begin
	for parser.NextExpression() {
		expression := parser.Expression()
		if expression.Kind == unstable.Comment {
			if comment < 0 {
				comment = lineAt(text, int(expression.Raw.Offset))
			}
			continue
		}
		if expression.Kind == unstable.Table || expression.Kind == unstable.ArrayTable {
			var keys []string
			at := -1
			for key := expression.Key(); key.Next(); {
				if keys = append(keys, string(key.Node().Data)); at < 0 {
					at = lineAt(text, int(key.Node().Raw.Offset))
				}
			}
			switch within := len(keys) >= len(path) && slices.Equal(keys[:len(path)], path); {
			case within && begin < 0:
				begin = at
			case !within && begin >= 0:
				if comment >= 0 {
					at = comment
				}
				return begin, at
			}
		}
		comment = -1
	}
	return begin, end
}

// lineAt returns where the line of an offset begins.
func lineAt(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// tomlTable returns a mapping as a table, followed by tables for the mappings in it.
func tomlTable(path []string, n *node) (string, error) {
	keys := make([]string, len(path))
	for i, key := range path {
		if keys[i] = key; !isBareKey(key) {
			keys[i] = string(rawjson.Quote(key))
		}
	}
	text, after := "["+strings.Join(keys, ".")+"]\n", ""
	for _, m := range n.members {
		if m.value.kind == kindMap {
			inner, err := tomlTable(append(slices.Clone(path), m.key), m.value)
			if err != nil {
				return "", err
			}
			after += "\n" + inner
			continue
		}
		var value any
		if err := json.Unmarshal(m.value.json(), &value); err != nil {
			return "", err
		}
		if number, isNumber := value.(float64); isNumber && number == float64(int64(number)) {
			value = int64(number)
		}
		line, err := toml.Marshal(map[string]any{m.key: value})
		if err != nil {
			return "", err
		}
		text += string(line)
	}
	return text + after, nil
}

// isBareKey reports whether TOML accepts a key without quotes.
func isBareKey(key string) bool {
	other := func(r rune) bool { return r > 127 || r == '$' }
	return plainKey(key) && !strings.ContainsFunc(key, other)
}
