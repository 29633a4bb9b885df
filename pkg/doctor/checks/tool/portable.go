package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

func askRequiredUnknown(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	var found []check.Finding
	known := make(map[*jsonschema.Subschema]*knownNames)
	for _, node := range tree.All {
		required := node.Get("required").Elements()
		if len(required) == 0 {
			continue
		}
		top := node.Value()
		if known[top] == nil {
			known[top] = namesAround(top)
		}
		for i, entry := range required {
			name := entry.Text()
			if rawjson.IsString(entry.Raw()) && !known[top].open && !known[top].has[name] {
				pointer := fmt.Sprintf("%s/required/%d", node.Pointer(), i)
				found = append(found,
					d.Finding(pointer, "%q is required, but no property has that name", evidence.Label(name)))
			}
		}
	}
	return found
}

// knownNames are the properties that a value can have according to all of its subschemas.
type knownNames struct {
	has  map[string]bool
	open bool // other names are possible
}

// maxAround limits the subschemas that are read for one value's properties.
const maxAround = 2000

// namesAround collects the properties of a schema and its branches, because a required property may be in another
// branch.
func namesAround(top *jsonschema.Subschema) *knownNames {
	names := &knownNames{has: make(map[string]bool)}
	seen := map[*jsonschema.Subschema]bool{top: true}
	queue := []*jsonschema.Subschema{top}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		if len(seen) > maxAround {
			names.open = true
			return names
		}
		for _, below := range node.Below {
			switch below.Keyword {
			case "properties":
				names.has[below.Name] = true
			case "patternProperties":
				names.open = true
			case "additionalProperties", "unevaluatedProperties":
				names.open = names.open || below.IsObject()
			}
		}
		// A target that was not read may have any properties.
		names.open = names.open || node.Target == nil && node.Has("$ref", "$dynamicRef", "$recursiveRef")
		for _, next := range sameValue(node) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return names
}

const paramNameLimit = 64

// askParamNameChars checks the names of arguments. Model APIs do not restrict deeper names.
func askParamNameChars(d *listing.Definition) []check.Finding {
	var found []check.Finding
	for _, node := range d.InputNodes() {
		if node.Keyword != "properties" || !isArgument(node) {
			continue
		}
		if remark := paramNameRemark(node.Name); remark != "" {
			found = append(found, d.Finding(node.Pointer(), "%q %s", evidence.Label(node.Name), remark))
		}
	}
	return found
}

// isArgument reports whether a property is one of the tool's arguments, perhaps in a branch (allOf, if).
func isArgument(node *jsonschema.Subschema) bool {
	return node.Parent.Value().Parent == nil
}

// paramNameRemark returns what is wrong with a property's name, or nothing.
func paramNameRemark(name string) string {
	length := utf8.RuneCountInString(name)
	bad := strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) && r != '.' })
	switch {
	case name == "":
		return "is empty"
	case name == "__proto__" || name == "constructor" || name == "prototype":
		return "has a special meaning in JavaScript"
	case length > paramNameLimit:
		return fmt.Sprintf("has %d characters; the limit is %d", length, paramNameLimit)
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(name[bad:])
		return "has " + evidence.CodePoint(r)
	}
	return ""
}

func askXMCPHeader(d *listing.Definition) []check.Finding {
	var found []check.Finding
	used := make(map[string]bool)
	for _, node := range d.InputNodes() {
		if !node.Has("x-mcp-header") {
			continue
		}
		name := node.Get("x-mcp-header").Text()
		remark := headerRemark(node, name)
		if remark == "" && used[strings.ToLower(name)] {
			remark = fmt.Sprintf("%q is used twice", evidence.Label(name))
		}
		used[strings.ToLower(name)] = true
		if remark != "" {
			found = append(found, d.Finding(node.Pointer()+"/x-mcp-header", "%s", remark))
		}
	}
	return found
}

// headerRemark returns what is wrong with an x-mcp-header, or nothing.
func headerRemark(node *jsonschema.Subschema, name string) string {
	label := evidence.Label(name)
	kind := node.Get("type")
	bad := strings.IndexFunc(name, func(r rune) bool { return !headerRune(r) })
	switch {
	case name == "":
		return "it is empty or not a string"
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(name[bad:])
		return fmt.Sprintf("%q has %s, which is not allowed in a header name", label, evidence.CodePoint(r))
	case !plainParameter(node):
		return fmt.Sprintf("%q is not nested in properties only", label)
	case kind == nil:
		return fmt.Sprintf("%q is on a parameter without a type; only string, integer and boolean may have one", label)
	case slices.Contains([]string{"string", "integer", "boolean"}, kind.Text()):
		return ""
	}
	return fmt.Sprintf("%q is on a parameter of type %s; only string, integer and boolean may have one",
		label, evidence.CutJSON(kind.Raw()))
}

// plainParameter reports whether the node is nested only in properties.
func plainParameter(node *jsonschema.Subschema) bool {
	for ; node.Parent != nil && node.Keyword == "properties"; node = node.Parent {
		if node.Parent.Parent == nil {
			return true
		}
	}
	return false
}

// headerRune reports whether r is allowed in an HTTP field name (RFC 9110, 5.6.2).
func headerRune(r rune) bool {
	return nameRune(r) || r < 0x7f && strings.ContainsRune("!#$%&'*+.^`|~", r)
}

func askUnknownKeyword(e *evidence.Evidence) []check.Finding {
	var spots []spot
	seen := make(map[string]bool)
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			for _, node := range tree.All {
				for _, m := range node.Members() {
					if foreignKeyword(m) && !seen[m.Name] {
						seen[m.Name] = true // one place is enough
						pointer := node.Pointer() + rawjson.Pointer(m.Name)
						spots = append(spots, spot{d, pointer, evidence.Label(m.Name)})
					}
				}
			}
		}
	}
	return together(spots, "")
}

// foreignKeyword reports whether no draft of JSON Schema has a keyword in this form. x-mcp-header has another check.
func foreignKeyword(m jsonschema.Member) bool {
	if m.Name == "required" && (m.Node.Is("true") || m.Node.Is("false")) {
		return true
	}
	return jsonschema.Holds(m.Name) == jsonschema.HoldsNone && !plainKeyword(m.Name) && m.Name != "x-mcp-header"
}

// plainKeyword reports whether a keyword of any draft since 4 does not contain schemas.
func plainKeyword(keyword string) bool {
	switch keyword {
	case "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef",
		"$recursiveAnchor", "$vocabulary", "$comment", "title", "description", "default", "examples", "deprecated",
		"readOnly", "writeOnly", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
		"exclusiveMinimum", "maxLength", "minLength", "pattern", "format", "contentEncoding", "contentMediaType",
		"maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties",
		"required", "dependentRequired":
		return true
	}
	return false
}

func untyped(node *jsonschema.Subschema) bool {
	return node.Keyword == "properties" && node.IsObject() && !node.Has("type", "enum", "const",
		"$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "not", "if")
}

// isBoolSchema ignores additionalProperties and similar keywords, where booleans are common.
func isBoolSchema(node *jsonschema.Subschema) bool {
	switch node.Keyword {
	case "properties", "patternProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not",
		"$defs", "definitions":
		return !node.IsObject()
	}
	return false
}

func isTypeUnion(node *jsonschema.Subschema) bool {
	return node.Get("type").IsArray()
}

// portability returns a check with one finding about all input subschemas of a kind.
func portability(is func(*jsonschema.Subschema) bool) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var spots []spot
		for _, d := range listing.Read(e).Tools {
			for _, node := range d.InputNodes() {
				if is(node) {
					name := d.Label() + "." + evidence.Label(node.PropertyPath())
					spots = append(spots, spot{d, node.Pointer(), name})
				}
			}
		}
		return together(spots, "%s: ", words.Count(len(spots), "place"))
	}
}
