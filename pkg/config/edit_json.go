package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"toolx/pkg/rawjson"
)

// editJSON changes JSON with comments. It keeps the comments of a removed value.
func editJSON(text []byte, _ *node, change Change) ([]byte, error) {
	text, err := inLines(text)
	if err != nil {
		return nil, err
	}
	root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, err
	}
	e := jsonEditor{unit: jsonIndent(text), newline: newlineOf(text)}
	object, ok := root.Value.(*hujson.Object)
	for depth := 0; ok; depth++ {
		at := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
			name, _ := m.Name.Value.(hujson.Literal)
			return name.String() == change.Path[0]
		})
		switch {
		case at >= 0 && len(change.Path) > 1:
			object, ok = object.Members[at].Value.Value.(*hujson.Object)
			change.Path = change.Path[1:]
			continue
		case change.Rename != "":
			object.Members[at].Name.Value = hujson.Literal(rawjson.Quote(change.Rename))
		case change.Value == nil:
			e.remove(object, at)
		case at >= 0:
			object.Members[at].Value.Value, err = e.value(jsonNode(change.Value), depth+1)
		default:
			err = e.add(object, depth, change.Path[0], within(change.Path[1:], jsonNode(change.Value)))
		}
		if err != nil {
			return nil, err
		}
		packed := root.Pack()
		return packed[:len(packed)-1], nil // the newline that was added above
	}
	return nil, errors.New("expected a mapping there")
}

// jsonEditor changes the tree of a JSON text and formats new values like the rest of it.
type jsonEditor struct {
	unit    string // one step of indentation
	newline string
}

// indent returns a line break with the indentation of a depth.
func (e jsonEditor) indent(depth int) string { return e.newline + strings.Repeat(e.unit, depth) }

// value returns a value formatted for a member at a depth.
func (e jsonEditor) value(value *node, depth int) (hujson.ValueTrimmed, error) {
	var laid bytes.Buffer
	if err := json.Indent(&laid, value.json(), strings.Repeat(e.unit, depth), e.unit); err != nil {
		return nil, err
	}
	parsed, err := hujson.Parse(bytes.ReplaceAll(laid.Bytes(), []byte("\n"), []byte(e.newline)))
	return parsed.Value, err
}

// add appends a member to an object at a depth, on a new line.
func (e jsonEditor) add(object *hujson.Object, depth int, key string, value *node) error {
	laid, err := e.value(value, depth+1)
	if err != nil {
		return err
	}
	added := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.Literal(rawjson.Quote(key))},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: laid},
	}
	// Text after the last member, such as a comment on its line, stays there, with a comma before it.
	added.Name.BeforeExtra = append(bytes.TrimRight(object.AfterExtra, " \t\r\n"), e.indent(depth+1)...)
	if last := len(object.Members) - 1; last >= 0 && object.Members[last].Value.AfterExtra != nil {
		added.Value.AfterExtra = hujson.Extra{} // keep the trailing comma
	}
	object.AfterExtra = hujson.Extra(e.indent(depth))
	object.Members = append(object.Members, added)
	return nil
}

// remove removes a member and keeps its comments.
func (e jsonEditor) remove(object *hujson.Object, at int) {
	removed := object.Members[at]
	object.Members = slices.Delete(object.Members, at, at+1)
	next := &object.AfterExtra
	if at < len(object.Members) {
		next = &object.Members[at].Name.BeforeExtra
	} else if at > 0 && removed.Value.AfterExtra == nil {
		// Do not add a trailing comma.
		*next = append(object.Members[at-1].Value.AfterExtra, *next...)
		object.Members[at-1].Value.AfterExtra = nil
	}
	if comments := bytes.TrimRight(removed.Name.BeforeExtra, " \t\r\n"); len(comments) > 0 {
		*next = append(bytes.Clone(comments), *next...)
	}
}

// inLines formats a text on one line, as programs write it, and replaces an empty text by an object.
func inLines(text []byte) ([]byte, error) {
	line := bytes.TrimSpace(text)
	if len(line) == 0 {
		line = []byte("{}")
	}
	if bytes.ContainsRune(line, '\n') || !json.Valid(line) {
		return text, nil
	}
	var laid bytes.Buffer
	err := json.Indent(&laid, line, "", "  ")
	laid.WriteByte('\n')
	return laid.Bytes(), err
}

// jsonIndent returns one step of the indentation of a text: that of its first indented line.
func jsonIndent(text []byte) string {
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// newlineOf returns how the lines of a text end.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
