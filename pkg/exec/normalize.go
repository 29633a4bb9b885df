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

// NORM-7, the decision: normalization exists because callers that are not programs, above all language models, write
// parameter names in the style of their own training: device_name for a tool that says deviceName. The call would fail
// over spelling alone, or worse: a server that ignores unknown parameters runs without the value. Asking the model to
// try again costs a turn each time, and a server cannot be made to accept both spellings. A rename is safe where the
// schema knows the new name and not the given one, so that is the only place where it is certain to happen; it is
// logged, and the server's own refusal is returned unchanged.
//
// It applies to tools of MCP servers only (NORM-4), since toolx's own tools can be spelled as toolx likes, and to
// top-level names only: below them begin the values, and the keys of a nested object are often data (headers,
// environment variables, column names) whose spelling nobody may touch. Its order is
//
//  1. the names that the user mapped for this tool (NORM-2),
//  2. names that the schema knows, which never change (NORM-1),
//  3. names with underscores that the schema knows in another spelling (NORM-1),
//  4. names with underscores that it does not know at all: to camelCase, unless
//     its own names are in snake_case, or it welcomes names of any kind (NORM-3).
//
// Values are never touched, nor is the order or spelling of anything else: the
// arguments reach the tool byte for byte (ROUTE-3).
//
// 4 is the only guess. The server refuses an unknown name anyway, or ignores it, so a wrong guess costs nothing that
// the given name would not; where names of any kind are welcome the name is data, and it is left alone.
//
// 2 to 4 are switched off per server by `normalize: false`, which sets
// Tool.KeepNames, and everything by Defaults.KeepNames (NORM-7).

// Rename is one changed parameter name.
type Rename struct{ From, To string }

// String returns the change as the log shows it (NORM-5): "{device_name: …} → {deviceName: …}".
func (r Rename) String() string { return "{" + r.From + ": …} → {" + r.To + ": …}" }

// normalize changes parameter names in arguments, a JSON object, to those that the tool's schema knows (NORM-1 to
// NORM-4), and says which. What is not an object is returned as it is, for validation to report.
//
// The error is an *InvalidArgumentsError where two given names would become one:
// there is no telling which value is meant, and none may be lost.
func normalize(tool *Tool, arguments json.RawMessage) (json.RawMessage, []Rename, error) {
	given, ok := rawjson.Members(arguments)
	if tool.Type != TypeMCP || !ok {
		return arguments, nil, nil
	}
	names := newNaming(tool)
	var renames []Rename
	renamed := slices.Clone(given)
	for i, m := range given {
		if to := names.target(m.Name); to != m.Name {
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

// collisions finds names that normalization would make one.
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

// naming decides what a tool calls a parameter.
type naming struct {
	tool *Tool
	// known are the names in the schema, and guess says that unknown names may be converted to camelCase; read sets
	// both, for most names need neither.
	known map[string]bool
	guess bool
	// spellings are the same by what they have in common with their other
	// spellings (see loose); built when first needed.
	spellings map[string][]string
}

func newNaming(tool *Tool) *naming { return &naming{tool: tool} }

// read reads the names in the schema, once.
func (n *naming) read() {
	if n.known != nil {
		return
	}
	schema := n.tool.Input().Root()
	n.known, n.guess = schema.Branches().Names(), !schema.Branches().Welcomes()
	for name := range n.known {
		if strings.Contains(strings.Trim(name, "_"), "_") {
			n.guess = false
		}
	}
}

// target returns the tool's name for a given one; the same where nothing is to be changed.
func (n *naming) target(name string) string {
	if n.tool.Type != TypeMCP {
		return name
	}
	if to, ok := n.tool.Rename[name]; ok {
		return to
	}
	// A leading underscore is a mark of its own (_meta), not a space between words.
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

// spelling finds the one known name that differs from name in underscores and capitals only: deviceID for device_id.
func (n *naming) spelling(name string) (string, bool) {
	camel := camelCase(name)
	if n.known[camel] {
		return camel, true
	}
	if n.spellings == nil {
		n.spellings = make(map[string][]string, len(n.known))
		for known := range n.known {
			n.spellings[loose(known)] = append(n.spellings[loose(known)], known)
		}
	}
	found := n.spellings[loose(name)]
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// loose returns a name without underscores and capitals.
func loose(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// camelCase joins the words of a snake_case name: new_parameter_name becomes
// newParameterName, API_KEY becomes apiKey. Underscores around it stay.
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
