package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Change is one change of a config file's text.
type Change struct {
	// Path are the keys that lead to the value, from the file's root: "servers", "files". Missing mappings are created.
	Path []string
	// Value is the new value as JSON; nil removes the key.
	Value json.RawMessage
	// Rename replaces the last key of Path; Value is then not used.
	Rename string
}

// EditError reports that a text cannot be edited without affecting other parts. Nothing was changed.
type EditError struct {
	Origin Origin // of the value, or the file
	Reason string
}

// Error returns the position and the reason.
func (e *EditError) Error() string {
	return fmt.Sprintf("%s cannot be edited: %s", e.Origin, e.Reason)
}

// Hint returns what to do instead.
func (e *EditError) Hint() string { return "edit the file by hand" }

// Edit returns a config file's text after changes. It keeps the rest of the text: comments, order, spaces, quotes. name
// determines the format, as in Load. Edit checks each change by parsing the new text, which must differ only by the
// change. The error is an *Error for a file that cannot be parsed, else an *EditError.
func Edit(name string, data []byte, changes ...Change) ([]byte, error) {
	text, problem := decodeText(name, data)
	if problem != nil {
		return nil, &Error{Problems: []Problem{*problem}}
	}
	mark := data[:len(data)-len(text)] // a byte order mark
	for _, change := range changes {
		var err error
		if text, err = edit(name, text, change); err != nil {
			return nil, err
		}
	}
	return slices.Concat(mark, text), nil
}

// edit makes one change, and checks it.
func edit(name string, text []byte, change Change) (edited []byte, err error) {
	defer func() {
		// The parser's positions may be wrong and outside the text.
		if recover() != nil {
			edited, err = nil, &EditError{Origin: Origin{File: name}, Reason: unusualForm}
		}
	}()
	root, problems := parse(name, text)
	if len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	if root == nil {
		root = &node{}
	}
	failed := func(reason string) error { return &EditError{Origin: whereOf(name, root, change.Path), Reason: reason} }
	wanted, err := root.changed(change)
	if err != nil {
		return nil, failed(err.Error())
	}
	edited, err = formatOf(name, text).edit(text, root, change)
	if err != nil {
		return nil, failed(err.Error())
	}
	// Edits are made by position, which could damage unusual syntax.
	again, problems := parse(name, edited)
	if len(problems) > 0 || again == nil || !reflect.DeepEqual(again.plain(), wanted.plain()) {
		return nil, failed(unusualForm)
	}
	return edited, nil
}

// whereOf returns the position of the value at path, or of the nearest value around it.
func whereOf(name string, root *node, path []string) Origin {
	origin := Origin{File: name}
	for _, key := range path {
		m, found := root.get(key)
		if !found {
			break
		}
		origin, root = m.origin, m.value
	}
	return origin
}

// unusualForm is the reason for not editing unusual syntax.
const unusualForm = "its syntax is too unusual"

var errNoSuchKey = errors.New("key not found")

// changed returns a copy of n after a change.
func (n *node) changed(change Change) (*node, error) {
	if n.kind != kindMap && n.kind != kindNull {
		return nil, fmt.Errorf("expected a mapping, found %s", n.kind)
	}
	changed := &node{kind: kindMap, members: slices.Clone(n.members)}
	key, at := change.Path[0], n.indexOf(change.Path[0])
	removes := change.Value == nil && change.Rename == ""
	switch {
	case at < 0 && (removes || change.Rename != ""):
		return nil, errNoSuchKey
	case len(change.Path) == 1 && removes:
		changed.members = slices.Delete(changed.members, at, at+1)
		return changed, nil
	case len(change.Path) == 1 && change.Rename != "":
		if n.indexOf(change.Rename) >= 0 {
			return nil, fmt.Errorf("the key '%s' already exists", change.Rename)
		}
		changed.members[at].key = change.Rename
		return changed, nil
	}
	value := &node{}
	if at >= 0 {
		value = changed.members[at].value
	}
	if len(change.Path) > 1 {
		var err error
		change.Path = change.Path[1:]
		if value, err = value.changed(change); err != nil {
			return nil, err
		}
	} else if value = jsonNode(change.Value); value == nil {
		return nil, errors.New("the value is not JSON")
	}
	if at < 0 {
		changed.members = append(changed.members, member{key: key, value: value})
	} else {
		changed.members[at].value = value
	}
	return changed, nil
}

// jsonNode parses JSON; nil if it is invalid.
func jsonNode(text json.RawMessage) *node {
	root, problems := parseJSON("", text)
	if len(problems) > 0 {
		return nil
	}
	return root
}

// nearest follows path through existing mappings. It returns the innermost one, the member with it (nil for the root),
// and the remaining keys.
func (n *node) nearest(path []string) (inner *node, parent *member, rest []string) {
	inner, rest = n, path
	for len(rest) > 1 {
		m, found := inner.get(rest[0])
		if !found {
			break
		}
		inner, parent, rest = m.value, &m, rest[1:]
	}
	return inner, parent, rest
}

// within returns a value inside new mappings with the keys.
func within(keys []string, value *node) *node {
	for _, key := range slices.Backward(keys) {
		value = &node{kind: kindMap, members: []member{{key: key, value: value}}}
	}
	return value
}

// ServerPath returns the path of a server's entry in a config file's text, and whether it exists; if not, the path at
// which to add it.
func ServerPath(name string, data []byte, server string) (path []string, found bool) {
	sections := []string{"servers", "mcpServers"}
	section := sections[0]
	if strings.HasSuffix(name, ".mcp.json") {
		section = sections[1]
	}
	for _, key := range sections {
		if path := []string{key, server}; Holds(name, data, path) {
			return path, true
		}
		if Holds(name, data, []string{key}) {
			section = key
		}
	}
	return []string{section, server}, false
}

// Holds reports whether a config file's text has a value at a path of keys.
func Holds(name string, data []byte, path []string) bool {
	text, _ := decodeText(name, data)
	root, _ := parse(name, text)
	if root == nil {
		return false
	}
	inner, _, rest := root.nearest(path)
	return len(rest) == 1 && inner.indexOf(rest[0]) >= 0
}

// CheckServerName returns why a server cannot have a name, or nil.
func CheckServerName(name string) error {
	for _, r := range name {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			return fmt.Errorf("the name %q has spaces or invisible characters", name)
		}
	}
	if strings.Contains(name, "__") || strings.ContainsAny(name, ":/\\*?[]{}") {
		return fmt.Errorf("the name %q has characters that are special in tool names", name)
	}
	return nil
}

// Says reports whether the entry has a key.
func (s *Server) Says(key string) bool { return s.node != nil && s.node.indexOf(key) >= 0 }
