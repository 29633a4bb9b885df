package exec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// NORM-7, the decision: normalization exists because language models often spell parameter names in the style of their
// training data: device_name for a tool's deviceName. The call would fail because of spelling, or worse, a server that
// ignores unknown parameters would run without the value. Asking the model to retry costs a turn each time, and servers
// do not accept both spellings. Renaming is safe if the schema has the new name and not the given one; toolx logs it,
// and returns the server's own error unchanged.
//
// It applies only to tools of MCP servers (NORM-4), since toolx controls the names of its own tools, and only to
// top-level names: the keys of nested objects are often data (headers, environment variables, column names). The order
// is
//
//  1. names that the user mapped for this tool (NORM-2),
//  2. names in the schema, which never change (NORM-1),
//  3. names with underscores that the schema has in another spelling (NORM-1),
//  4. names with underscores that it does not have in any spelling: to camelCase, unless
//     its own names are in snake_case, or it allows any names (NORM-3).
//
// Values, order and everything else remain as given: the arguments reach the tool byte for byte (ROUTE-3).
//
// 4 is the only guess. The server would reject or ignore the unknown name anyway, so a wrong guess does no harm; a
// schema that allows any names treats them as data, so they do not change.
//
// `normalize: false` switches off 2 to 4 for a server (Tool.KeepNames), and Defaults.KeepNames switches off everything
// (NORM-7).

// Rename is one changed parameter name.
type Rename struct{ From, To string }

// String returns the change for the log (NORM-5): "{device_name: …} → {deviceName: …}".
func (r Rename) String() string { return "{" + r.From + ": …} → {" + r.To + ": …}" }

// normalize changes parameter names in arguments, a JSON object, to those of the tool's schema (NORM-1 to NORM-4), and
// returns the changes. It returns anything but an object unchanged, for validation to report.
//
// The error is an *InvalidArgumentsError if two given names would become one, since one of the values would be lost.
func normalize(tool *Tool, arguments json.RawMessage) (json.RawMessage, []Rename, error) {
	given, ok := rawjson.Members(arguments)
	if tool.Type != TypeMCP || !ok {
		return arguments, nil, nil
	}
	names := newNaming(tool)
	var renames []Rename
	renamed := given
	for i, m := range given {
		if to := names.target(m.Name); to != m.Name {
			if len(renames) == 0 {
				renamed = slices.Clone(given)
			}
			renames = append(renames, Rename{From: m.Name, To: to})
			renamed[i] = rawjson.NewMember(to, m.Value)
		}
	}
	if len(renames) == 0 || !json.Valid(arguments) {
		return arguments, nil, nil
	}
	if problems := collisions(given, names); len(problems) > 0 {
		return arguments, nil, &InvalidArgumentsError{Tool: tool, Problems: problems, Arguments: arguments}
	}
	return rawjson.Object(renamed), renames, nil
}

// collisions finds names that would become the same.
func collisions(given []rawjson.Member, names *naming) []jsonschema.Problem {
	first := make(map[string]string)
	var problems []jsonschema.Problem
	for _, m := range given {
		to := names.target(m.Name)
		other, taken := first[to]
		if !taken {
			first[to] = m.Name
			continue
		}
		if other == m.Name {
			continue // the same name twice, which validation reports
		}
		problems = append(problems, jsonschema.Problem{
			Path: other, Reason: jsonschema.ReasonConflict,
			Expected: fmt.Sprintf("not be given together with '%s'", m.Name),
			Detail:   fmt.Sprintf("both mean '%s'", to),
		})
	}
	return problems
}

// naming maps given parameter names to a tool's.
type naming struct {
	tool *Tool
	// known are the names in the schema, and guess allows converting unknown names to camelCase; read sets both, since
	// most names need neither.
	known map[string]bool
	guess bool
	// spellings are the known names by their foldName form; built when first needed.
	spellings map[string][]string
}

func newNaming(tool *Tool) *naming { return &naming{tool: tool} }

// read reads the names in the schema, once.
func (n *naming) read() {
	if n.known != nil {
		return
	}
	schema := n.tool.Input().Root()
	n.known, n.guess = schema.Branches().Names(), !schema.Branches().AcceptsOthers()
	for name := range n.known {
		if strings.Contains(strings.Trim(name, "_"), "_") {
			n.guess = false
		}
	}
}

// target returns the tool's name for a given one, which is the same if nothing changes.
func (n *naming) target(name string) string {
	if n.tool.Type != TypeMCP {
		return name
	}
	if to, ok := n.tool.Rename[name]; ok {
		return to
	}
	// A leading underscore has a meaning (_meta), it does not separate words.
	if n.tool.KeepNames || !strings.Contains(strings.Trim(name, "_"), "_") {
		return name
	}
	n.read()
	if n.known[name] || n.tool.Input().Root().Branches().HasPattern(name) {
		return name
	}
	if to, ok := n.spelling(name); ok {
		return to
	}
	if n.guess {
		return camelCase(name)
	}
	return name
}

// spelling finds the one known name that differs from name only in underscores and case: deviceID for device_id.
func (n *naming) spelling(name string) (string, bool) {
	camel := camelCase(name)
	if n.known[camel] {
		return camel, true
	}
	if n.spellings == nil {
		n.spellings = make(map[string][]string, len(n.known))
		for known := range n.known {
			n.spellings[foldName(known)] = append(n.spellings[foldName(known)], known)
		}
	}
	found := n.spellings[foldName(name)]
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// foldName returns a name without underscores and capitals.
func foldName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// camelCase joins the words of a snake_case name: new_parameter_name becomes newParameterName, API_KEY becomes apiKey.
// It keeps underscores around the name.
func camelCase(name string) string {
	inner := strings.Trim(name, "_")
	start := strings.Index(name, inner)
	words := strings.FieldsFunc(inner, func(r rune) bool { return r == '_' })
	for i, word := range words {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		letters := []rune(word)
		if i > 0 {
			letters[0] = unicode.ToUpper(letters[0])
		}
		words[i] = string(letters)
	}
	return name[:start] + strings.Join(words, "") + name[start+len(inner):]
}
