package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

func askRequiredUnknown(d *definition, tree *schemaTree) []Finding {
	var found []Finding
	known := make(map[*schemaNode]*knownNames)
	for _, node := range tree.nodes {
		required, _ := node.object["required"].([]any)
		if len(required) == 0 {
			continue
		}
		top := node
		for top.inPlace() && top.parent != nil {
			top = top.parent
		}
		names := known[top]
		if names == nil {
			names = namesAround(top)
			known[top] = names
		}
		for i, entry := range required {
			name, ok := entry.(string)
			if ok && !names.open && !names.has[name] {
				found = append(found, d.finding(fmt.Sprintf("%s/required/%d", node.pointer(), i),
					fmt.Sprintf("%q is required, and no property has that name", excerpt(name, maxLabel))))
			}
		}
	}
	return found
}

// knownNames are the properties that a value can have by all that is held against it.
type knownNames struct {
	has  map[string]bool
	open bool // further names have a schema too, or it is not known what there is
}

// maxAround bounds how many subschemas are looked at for one value's properties.
const maxAround = 2000

// namesAround collects the properties of a schema with all its parts: a required
// name may be described in another branch.
func namesAround(top *schemaNode) *knownNames {
	names := &knownNames{has: make(map[string]bool)}
	seen := map[*schemaNode]bool{top: true}
	queue := []*schemaNode{top}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		if len(seen) > maxAround {
			names.open = true
			return names
		}
		for _, below := range node.below {
			switch below.keyword {
			case "properties":
				names.has[below.name] = true
			case "patternProperties":
				names.open = true
			case "additionalProperties", "unevaluatedProperties":
				names.open = names.open || below.object != nil
			}
		}
		// What is referred to and was not read may describe anything.
		names.open = names.open || node.target == nil && node.has("$ref", "$dynamicRef", "$recursiveRef")
		for _, next := range node.sameValue() {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return names
}

const paramNameLimit = 64

func askParamNameChars(d *definition) []Finding {
	if d.input == nil {
		return nil
	}
	var found []Finding
	for _, node := range d.input.nodes {
		if node.keyword != "properties" {
			continue
		}
		if remark := paramNameRemark(node.name); remark != "" {
			found = append(found, d.finding(node.pointer(), fmt.Sprintf("%q %s", excerpt(node.name, maxLabel), remark)))
		}
	}
	return found
}

// paramNameRemark says what is wrong with a property's name, empty where nothing is.
func paramNameRemark(name string) string {
	length := utf8.RuneCountInString(name)
	switch {
	case name == "":
		return "is empty"
	case name == "__proto__" || name == "constructor" || name == "prototype":
		return "is a name with a meaning of its own in JavaScript"
	case length > paramNameLimit:
		return fmt.Sprintf("has %d characters; the limit is %d", length, paramNameLimit)
	}
	for _, r := range name {
		if !nameRune(r) && r != '.' {
			return "has " + codePoint(r)
		}
	}
	return ""
}

func askXMCPHeader(d *definition) []Finding {
	if d.input == nil {
		return nil
	}
	var found []Finding
	used := make(map[string]bool)
	for _, node := range d.input.nodes {
		value, there := node.object["x-mcp-header"]
		if !there {
			continue
		}
		name, isText := value.(string)
		remark := headerRemark(node, name, isText)
		if remark == "" && used[strings.ToLower(name)] {
			remark = fmt.Sprintf("%q is used twice", excerpt(name, maxLabel))
		}
		used[strings.ToLower(name)] = true
		if remark != "" {
			found = append(found, d.finding(node.pointer()+"/x-mcp-header", remark))
		}
	}
	return found
}

// headerRemark says which rule an x-mcp-header breaks by itself, empty where none.
func headerRemark(node *schemaNode, name string, isText bool) string {
	if !isText || name == "" {
		return "it is not a text, or empty"
	}
	if at := strings.IndexFunc(name, func(r rune) bool { return !headerRune(r) }); at >= 0 {
		r, _ := utf8.DecodeRuneInString(name[at:])
		return fmt.Sprintf("%q has %s, which no header's name may have", excerpt(name, maxLabel), codePoint(r))
	}
	if !plainParameter(node) {
		return fmt.Sprintf("%q is not reached through properties alone", excerpt(name, maxLabel))
	}
	switch kind := node.object["type"]; kind {
	case "string", "integer", "boolean":
		return ""
	default:
		value, _ := json.Marshal(kind)
		return fmt.Sprintf("%q is on a parameter of type %s; string, integer and boolean may have one", excerpt(name, maxLabel), excerptJSON(value))
	}
}

// plainParameter says that nothing but properties leads to the node.
func plainParameter(node *schemaNode) bool {
	if node.parent == nil {
		return false
	}
	for ; node.parent != nil; node = node.parent {
		if node.keyword != "properties" {
			return false
		}
	}
	return true
}

// headerRune says whether r may stand in an HTTP field name (RFC 9110, 5.6.2).
func headerRune(r rune) bool {
	return nameRune(r) || r < 0x7f && strings.ContainsRune("!#$%&'*+.^`|~", r)
}

func askUnknownKeyword(e *Evidence) []Finding {
	var spots []spot
	seen := make(map[string]bool)
	for _, d := range e.survey().tools {
		for _, tree := range d.schemas() {
			for _, node := range tree.nodes {
				for _, keyword := range slices.Sorted(maps.Keys(node.object)) {
					if !foreignKeyword(keyword, node.object[keyword]) || seen[keyword] {
						continue
					}
					seen[keyword] = true // one place for each is enough
					spots = append(spots, d.spot(node.pointer()+rawjson.Pointer(keyword), excerpt(keyword, maxLabel)))
				}
			}
		}
	}
	return together(spots, func(list string) string { return list })
}

// foreignKeyword says whether no draft of JSON Schema knows a keyword in this form.
// MCP's own x-mcp-header has a check of its own.
func foreignKeyword(keyword string, value any) bool {
	if _, isBool := value.(bool); isBool && keyword == "required" {
		return true
	}
	return jsonschema.Holds(keyword) == jsonschema.HoldsNone && !plainKeyword(keyword) && keyword != "x-mcp-header"
}

// plainKeyword says whether a draft from 4 on knows a keyword that holds no schemas.
func plainKeyword(keyword string) bool {
	switch keyword {
	case "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
		"$vocabulary", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
		"maxLength", "minLength", "pattern", "format", "contentEncoding", "contentMediaType",
		"maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
		"maxProperties", "minProperties", "required", "dependentRequired":
		return true
	}
	return false
}

func untyped(node *schemaNode) bool {
	return node.keyword == "properties" && node.object != nil &&
		!node.has("type", "$ref", "$dynamicRef", "$recursiveRef", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if")
}

// isBoolSchema leaves out additionalProperties and its relatives, where a boolean is
// what everybody writes.
func isBoolSchema(node *schemaNode) bool {
	switch node.keyword {
	case "properties", "patternProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "$defs", "definitions":
		return node.object == nil
	}
	return false
}

func isTypeUnion(node *schemaNode) bool {
	_, isList := node.object["type"].([]any)
	return isList
}

// portability makes one finding of all input subschemas of a kind.
func portability(is func(*schemaNode) bool) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		var spots []spot
		for _, d := range e.survey().tools {
			if d.input == nil {
				continue
			}
			for _, node := range d.input.nodes {
				if is(node) {
					spots = append(spots, d.spot(node.pointer(), d.label()+"."+excerpt(node.propertyPath(), maxLabel)))
				}
			}
		}
		return together(spots, func(list string) string {
			return fmt.Sprintf("%s: %s", exec.Count(len(spots), "place"), list)
		})
	}
}
