package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
)

// Source is the content of a document.
type Source struct {
	// Format is the format of the first tool; empty without tools.
	Format Format
	// Formats are the distinct formats of all tools. If empty, all tools have Format.
	Formats []Format
	Tools   []Tool
	// Skipped are tools that could not be read (Fatal), and nulls among tools (Info).
	Skipped []Loss
}

// Label returns the formats for messages: "MCP and LangChain". A document without tools counts as LangChain's (CONV-3).
func (s *Source) Label() string {
	if len(s.Formats) == 0 {
		return cmp.Or(s.Format, LangChain).Label()
	}
	labels := make([]string, len(s.Formats))
	for i, format := range s.Formats {
		labels[i] = format.Label()
	}
	return strings.Join(labels, " and ")
}

// SyntaxError is a syntax error in a document.
type SyntaxError struct {
	Line, Column int // from 1; the column in bytes
	Err          error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at line %d, column %d: %v", e.Line, e.Column, e.Err)
}

// Unwrap returns the error of encoding/json.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Kind returns fault.KindUsage.
func (e *SyntaxError) Kind() fault.Kind { return fault.KindUsage }

// UnreadableError reports that no tool of a document can be read.
type UnreadableError struct {
	Skipped []Loss // all entries; never empty
}

func (e *UnreadableError) Error() string {
	lines := make([]string, len(e.Skipped))
	for i, loss := range e.Skipped {
		lines[i] = fmt.Sprintf("cannot read tool %s: %s", loss.Tool, loss.Detail)
	}
	return strings.Join(lines, "\n")
}

// Kind returns fault.KindUsage.
func (e *UnreadableError) Kind() fault.Kind { return fault.KindUsage }

// Read reads tools from a document: one tool, an array, an object with the array in "tools" (such as a request's body),
// a JSON-RPC response to tools/list, Gemini's functionDeclarations, Bedrock's toolConfig, the output of toolx list
// --json, or a sequence of these. Empty input (no bytes, null, an empty array) is not an error (CONV-2). If from is
// empty, the format of each tool is detected. The error is an *AmbiguousError if several formats fit, a *SyntaxError if
// the document is not JSON, and an *UnreadableError if no tool can be read.
func Read(data []byte, from Format) (*Source, error) {
	if source := recordOf(from); from != "" && (source.format == "" || source.writeOnly) {
		return nil, &fault.UsageError{Message: fmt.Sprintf("tools cannot be read from format %q", from)}
	}
	values, err := splitValues(bytes.Clone(data))
	if err != nil {
		return nil, err
	}
	var elements []element
	for _, value := range values {
		found, err := gather(jsonschema.NewNode(value), element{format: from})
		if err != nil {
			return nil, err
		}
		elements = append(elements, found...)
	}
	return readAll(elements)
}

func readAll(elements []element) (*Source, error) {
	source := &Source{}
	for i, element := range elements {
		if err := source.add(i, element); err != nil {
			return nil, err
		}
	}
	if len(source.Tools) > 0 {
		return source, nil
	}
	// A document with only nulls counts as empty.
	source.Skipped = slices.DeleteFunc(source.Skipped, func(loss Loss) bool { return loss.Severity == Info })
	if len(source.Skipped) > 0 {
		return nil, &UnreadableError{Skipped: source.Skipped}
	}
	return source, nil
}

// add reads one element. It skips unreadable elements; an ambiguous one is an error.
func (s *Source) add(index int, found element) error {
	if found.node.Is("null") {
		s.Skipped = append(s.Skipped, Loss{
			Format: found.format, Tool: positionLabel(index), Severity: Info, Kind: Skipped,
			Detail: "it is null",
		})
		return nil
	}
	name := cmp.Or(nameIn(found.node), positionLabel(index))
	definition, format, err := found.read()
	var ambiguous *AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		ambiguous.Tool = name
		return ambiguous
	case err != nil:
		s.Skipped = append(s.Skipped,
			Loss{Format: format, Tool: name, Severity: Fatal, Kind: Skipped, Detail: err.Error()})
		return nil
	}
	if len(s.Formats) == 0 {
		s.Format = format
	}
	if !slices.Contains(s.Formats, format) {
		s.Formats = append(s.Formats, format)
	}
	s.Tools = append(s.Tools, Tool{Server: found.server, Definition: definition.Bytes()})
	return nil
}

// nameIn returns the name of an element in any format.
func nameIn(list *node) string {
	name := cmp.Or(list.Get(nameMember).Text(), list.Get("lc_kwargs").Get(nameMember).Text())
	for _, one := range allRecords() {
		name = cmp.Or(name, at(list, one.layout.name).Text())
	}
	return name
}

// splitValues splits a document into its sequence of JSON values.
func splitValues(data []byte) ([]json.RawMessage, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	decoder := json.NewDecoder(bytes.NewReader(data))
	var values []json.RawMessage
	for {
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return nil, newSyntaxError(data, err)
		}
		values = append(values, value)
	}
}

// newSyntaxError returns a syntax error with its line and column.
func newSyntaxError(data []byte, err error) error {
	at := len(bytes.TrimRight(data, " \t\r\n"))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = min(max(int(syntax.Offset)-1, 0), len(data)) // Offset is after the bad byte
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of input")
	}
	before := data[:at]
	return &SyntaxError{
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: at - bytes.LastIndexByte(before, '\n'),
		Err:    err,
	}
}

// element is one tool of a document.
type element struct {
	*node
	server string
	format Format // empty if it must be detected
}

// gather returns the elements in a value; around has their common fields.
func gather(value *node, around element) ([]element, error) {
	if value.Is("null") {
		return nil, nil
	}
	if value.IsArray() {
		return gatherEach(value.Elements(), around)
	}
	if value.Has("jsonrpc") && value.Get("error").IsObject() {
		message := value.Get("error").Get("message").Text()
		return nil, &fault.UsageError{Message: "the document is a JSON-RPC error instead of tools: " + message}
	}
	if inner, within, ok := unwrap(value, around); ok {
		return gather(inner, within)
	}
	around.node = value
	return []element{around}, nil
}

func gatherEach(list []*node, around element) ([]element, error) {
	var all []element
	for _, value := range list {
		if value.Is("null") {
			around.node = value
			all = append(all, around)
			continue
		}
		found, err := gather(value, around)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// unwrap removes one wrapper and returns its content, with the fields that the wrapper adds. A tool is not a wrapper.
func unwrap(list *node, around element) (inner *node, within element, ok bool) {
	within = around
	if list.Get("definition").IsObject() {
		// An entry of toolx list --json, whose definition has the plain name.
		within.server = cmp.Or(list.Get("server").Text(), around.server)
		return list.Get("definition"), within, true
	}
	if hasSchema(list) {
		return nil, within, false
	}
	for _, one := range allRecords() {
		for _, name := range one.lists {
			if list.Has(name) {
				within.format = cmp.Or(around.format, one.format)
				return list.Get(name), within, true
			}
		}
	}
	if servers := list.Get("servers"); servers.IsArray() {
		return namedServers(servers), within, true
	}
	if list.Has("tools") {
		within.server = cmp.Or(list.Get("server").Text(), around.server)
		return list.Get("tools"), within, true
	}
	for _, name := range []string{"result", "toolConfig"} {
		if inside := list.Get(name); inside.Has("tools") {
			return inside.Get("tools"), within, true
		}
	}
	functions := list.Get("functions")
	return functions, within, functions.IsArray()
}

// namedServers adds the server's name to each server's list of tools.
func namedServers(servers *node) *node {
	return servers.Map(func(_ int, server member) *node {
		if !server.Node.Has("tools") {
			return server.Node
		}
		return jsonschema.Build("server", server.Node.Get(nameMember).Text(), "tools", server.Node.Get("tools"))
	})
}
