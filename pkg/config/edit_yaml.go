package config

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"toolx/pkg/rawjson"
)

// editYAML changes YAML. It goes by the positions of keys and values in the tree and never writes the whole text again,
// because a YAML encoder would format all of it differently.
func editYAML(text []byte, root *node, change Change) ([]byte, error) {
	e := newYAMLEditor(text)
	inner, parent, rest := root.nearest(change.Path)
	at := inner.indexOf(rest[0])
	flow := inner.kind == kindMap && e.isFlow(inner)
	if flow && len(inner.members) == 0 && parent != nil && e.beginsLine(*parent) == nil {
		flow = false // the {} of a block mapping
	}
	switch {
	case change.Rename != "":
		return e.rename(inner.members[at], change.Rename)
	case change.Value == nil && flow:
		return e.removeFlow(inner, at)
	case change.Value == nil:
		return e.remove(inner, parent, at)
	case at >= 0:
		return e.replace(inner.members[at], jsonNode(change.Value), flow)
	}
	added := member{key: rest[0], value: within(rest[1:], jsonNode(change.Value))}
	switch {
	case flow:
		return e.addFlow(inner, added)
	case len(inner.members) > 0:
		return e.addAfter(inner, parent == nil, added)
	case parent != nil:
		return e.addFirst(*parent, added)
	}
	return e.splice(len(e.text), len(e.text), e.separated(len(e.text), e.block(added, 0))), nil
}

// yamlEditor changes the text of a YAML file.
type yamlEditor struct {
	text    []byte
	lines   [][]byte // with their ends
	newline string
}

func newYAMLEditor(text []byte) *yamlEditor {
	return &yamlEditor{text: text, lines: slices.Collect(bytes.Lines(text)), newline: newlineOf(text)}
}

// lineStart returns the offset at which a line begins, counted from 0.
func (e *yamlEditor) lineStart(line int) int {
	offset := 0
	for _, one := range e.lines[:min(line, len(e.lines))] {
		offset += len(one)
	}
	return offset
}

// offset returns the offset of a position in the text.
func (e *yamlEditor) offset(at Origin) int {
	offset := e.lineStart(at.Line - 1)
	line := e.lines[at.Line-1]
	for range at.Column - 1 {
		_, size := utf8.DecodeRune(line)
		offset, line = offset+size, line[size:]
	}
	return offset
}

// splice returns the text with the bytes from begin to end replaced.
func (e *yamlEditor) splice(begin, end int, with string) []byte {
	return slices.Concat(e.text[:begin], []byte(with), e.text[end:])
}

// separated returns lines to insert at the beginning of a line, or at the end of a text without a final newline.
func (e *yamlEditor) separated(offset int, lines string) string {
	if len(e.lines) > 0 && offset == len(e.text) && !bytes.HasSuffix(e.lines[len(e.lines)-1], []byte("\n")) {
		return e.newline + lines
	}
	return lines
}

// isFlow reports whether a mapping is written in braces.
func (e *yamlEditor) isFlow(n *node) bool {
	return n.origin.Line > 0 && bytes.HasPrefix(e.text[e.offset(n.origin):], []byte("{"))
}

// blockEnd returns the line after the last one of a block that begins with a key, counted from 0. Comments and empty
// lines after it are not part of it.
func (e *yamlEditor) blockEnd(m member) int {
	end := m.origin.Line
	for i := m.origin.Line; i < len(e.lines); i++ {
		rest := bytes.TrimLeft(e.lines[i], " ")
		indent := len(e.lines[i]) - len(rest)
		isItem := m.value.kind == kindList && indent == m.origin.Column-1 &&
			(bytes.HasPrefix(rest, []byte("- ")) || len(bytes.TrimSpace(rest)) == 1 && rest[0] == '-')
		switch {
		case len(bytes.TrimSpace(rest)) == 0:
		case indent >= m.origin.Column || isItem:
			end = i + 1
		case rest[0] != '#':
			return end
		}
	}
	return end
}

// beginsLine returns an error if a key is not the first on its line.
func (e *yamlEditor) beginsLine(m member) error {
	if len(bytes.TrimSpace(e.lines[m.origin.Line-1][:m.origin.Column-1])) > 0 {
		return errors.New("the key is not the first on its line")
	}
	return nil
}

func (e *yamlEditor) rename(m member, name string) ([]byte, error) {
	begin := e.offset(m.origin)
	length, err := e.scalarLength(begin, m.key)
	if err != nil {
		return nil, err
	}
	return e.splice(begin, begin+length, yamlText(name)), nil
}

// scalarLength returns the length of a scalar on one line in the text; written is the scalar without quotes.
func (e *yamlEditor) scalarLength(begin int, written string) (int, error) {
	rest := e.text[begin:]
	if bytes.HasPrefix(rest, []byte(written)) && written != "" {
		return len(written), nil
	}
	if rest[0] == '"' {
		return rawjson.StringEnd(rest, 0), nil
	}
	if end := bytes.IndexByte(rest[1:], '\''); rest[0] == '\'' && end >= 0 {
		return end + 2, nil
	}
	return 0, errors.New(unusualForm)
}

// remove removes a member of a block mapping. It keeps comments above it.
func (e *yamlEditor) remove(inner *node, parent *member, at int) ([]byte, error) {
	m := inner.members[at]
	if err := e.beginsLine(m); err != nil {
		return nil, err
	}
	begin, end := e.lineStart(m.origin.Line-1), e.lineStart(e.blockEnd(m))
	if len(inner.members) > 1 || parent == nil {
		return e.splice(begin, end, ""), nil
	}
	// A mapping without members needs {}.
	key := e.offset(parent.origin)
	length, err := e.scalarLength(key, parent.key)
	if err != nil {
		return nil, err
	}
	colon := key + length + bytes.IndexByte(e.text[key+length:], ':') + 1
	return slices.Concat(e.text[:colon], []byte(" {}"), e.text[colon:begin], e.text[end:]), nil
}

// replace replaces a member's value.
func (e *yamlEditor) replace(m member, value *node, flow bool) ([]byte, error) {
	scalar := m.value.kind == kindBool || m.value.kind == kindNumber || m.value.kind == kindText
	if scalar && value.kind != kindMap && value.kind != kindList {
		begin := e.offset(m.value.origin)
		length, err := e.scalarLength(begin, m.value.written)
		if err != nil {
			return nil, err
		}
		return e.splice(begin, begin+length, flowYAML(value)), nil
	}
	if flow {
		return nil, errors.New("it is written in braces")
	}
	if err := e.beginsLine(m); err != nil {
		return nil, err
	}
	begin, end := e.lineStart(m.origin.Line-1), e.lineStart(e.blockEnd(m))
	block := e.block(member{key: m.key, value: value}, m.origin.Column-1)
	return e.splice(begin, end, block), nil
}

// addAfter adds a member at the end of a block mapping; one of the root has an empty line before it.
func (e *yamlEditor) addAfter(inner *node, isRoot bool, added member) ([]byte, error) {
	last := inner.members[0]
	for _, m := range inner.members {
		if m.origin.compare(last.origin) > 0 { // merged ones are elsewhere
			last = m
		}
	}
	if err := e.beginsLine(last); err != nil {
		return nil, err
	}
	block := e.block(added, last.origin.Column-1)
	if isRoot {
		block = e.newline + block
	}
	at := e.lineStart(e.blockEnd(last))
	return e.splice(at, at, e.separated(at, block)), nil
}

// addFirst adds the first member of a mapping, whose value is empty or {}.
func (e *yamlEditor) addFirst(parent, added member) ([]byte, error) {
	text := e.text
	if parent.value.kind == kindMap {
		begin := e.offset(parent.value.origin)
		end := begin + bytes.IndexByte(text[begin:], '}') + 1
		if end <= begin || len(bytes.TrimSpace(text[begin+1:end-1])) > 0 ||
			parent.value.origin.Line != parent.origin.Line {
			return nil, errors.New(unusualForm)
		}
		text = slices.Concat(bytes.TrimRight(text[:begin], " "), text[end:])
	}
	changed := newYAMLEditor(text)
	at := changed.lineStart(parent.origin.Line)
	return changed.splice(at, at, changed.separated(at, changed.block(added, parent.origin.Column-1+yamlStep))), nil
}

// flowEnd returns the offset of the brace that ends a mapping in braces.
func (e *yamlEditor) flowEnd(n *node) (int, error) {
	depth := 0
	tokens, _ := tokenize("", e.text) // it parses
	for _, t := range tokens {
		at := originOf("", t)
		if at.compare(n.origin) < 0 {
			continue
		}
		switch t.Type {
		case token.MappingStartType:
			depth++
		case token.MappingEndType:
			if depth--; depth == 0 {
				return e.offset(at), nil
			}
		}
	}
	return 0, errors.New(unusualForm)
}

func (e *yamlEditor) addFlow(inner *node, added member) ([]byte, error) {
	end, err := e.flowEnd(inner)
	if err != nil {
		return nil, err
	}
	before := bytes.TrimRight(e.text[:end], " \t\r\n")
	text := ", "
	if len(inner.members) == 0 {
		text = ""
	} else if bytes.HasSuffix(before, []byte(",")) {
		text = " "
	}
	return e.splice(len(before), len(before), text+yamlText(added.key)+": "+flowYAML(added.value)), nil
}

func (e *yamlEditor) removeFlow(inner *node, at int) ([]byte, error) {
	begin := e.offset(inner.members[at].origin)
	if at+1 < len(inner.members) {
		return e.splice(begin, e.offset(inner.members[at+1].origin), ""), nil
	}
	end, err := e.flowEnd(inner)
	if err != nil {
		return nil, err
	}
	before := bytes.TrimRight(e.text[:begin], " \t\r\n,")
	return e.splice(len(before), end, ""), nil
}

// yamlStep is the indentation of new values.
const yamlStep = 2

// block returns the lines of a member with an indentation.
func (e *yamlEditor) block(m member, indent int) string {
	key := strings.Repeat(" ", indent) + yamlText(m.key) + ":"
	if m.value.kind != kindMap || len(m.value.members) == 0 {
		return key + " " + flowYAML(m.value) + e.newline
	}
	lines := key + e.newline
	for _, inner := range m.value.members {
		lines += e.block(inner, indent+yamlStep)
	}
	return lines
}

// flowYAML returns a value on one line.
func flowYAML(n *node) string {
	var parts []string
	switch n.kind {
	case kindText:
		return yamlText(n.text)
	case kindList:
		for _, item := range n.items {
			parts = append(parts, flowYAML(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindMap:
		for _, m := range n.members {
			parts = append(parts, yamlText(m.key)+": "+flowYAML(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(n.json())
}

// yamlText returns a text as a plain scalar if every parser reads it as that text, else in double quotes.
func yamlText(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("_-./@+=", r)
	}
	isPlain := text != "" && text[0] != '-' && text[0] != '+' && text[0] != '=' && text[0] != '@'
	for _, r := range text {
		isPlain = isPlain && plain(r)
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off": // booleans of YAML 1.1
		isPlain = false
	}
	if kind, _, _ := resolvePlain(text); !isPlain || kind != kindText {
		return string(rawjson.Quote(text))
	}
	return text
}
