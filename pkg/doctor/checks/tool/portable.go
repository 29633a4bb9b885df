package tool

import (
	"encoding/json"
	"fmt"
	"maps"
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

func askRequiredUnknown(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	var found []check.Finding
	known := make(map[*listing.SchemaNode]*knownNames)
	for _, node := range tree.Nodes {
		required, _ := node.Object["required"].([]any)
		if len(required) == 0 {
			continue
		}
		top := node
		for top.InPlace() && top.Parent != nil {
			top = top.Parent
		}
		names := known[top]
		if names == nil {
			names = namesAround(top)
			known[top] = names
		}
		for i, entry := range required {
			name, ok := entry.(string)
			if ok && !names.open && !names.has[name] {
				found = append(found, d.Finding(fmt.Sprintf("%s/required/%d", node.Pointer(), i),
					fmt.Sprintf("%q is required, and no property has that name", evidence.Excerpt(name, evidence.MaxLabel))))
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
func namesAround(top *listing.SchemaNode) *knownNames {
	names := &knownNames{has: make(map[string]bool)}
	seen := map[*listing.SchemaNode]bool{top: true}
	queue := []*listing.SchemaNode{top}
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
				names.open = names.open || below.Object != nil
			}
		}
		// What is referred to and was not read may describe anything.
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

func askParamNameChars(d *listing.Definition) []check.Finding {
	if d.Input == nil {
		return nil
	}
	var found []check.Finding
	for _, node := range d.Input.Nodes {
		if node.Keyword != "properties" {
			continue
		}
		if remark := paramNameRemark(node.Name); remark != "" {
			found = append(found, d.Finding(node.Pointer(), fmt.Sprintf("%q %s", evidence.Excerpt(node.Name, evidence.MaxLabel), remark)))
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
			return "has " + evidence.CodePoint(r)
		}
	}
	return ""
}

func askXMCPHeader(d *listing.Definition) []check.Finding {
	if d.Input == nil {
		return nil
	}
	var found []check.Finding
	used := make(map[string]bool)
	for _, node := range d.Input.Nodes {
		value, there := node.Object["x-mcp-header"]
		if !there {
			continue
		}
		name, isText := value.(string)
		remark := headerRemark(node, name, isText)
		if remark == "" && used[strings.ToLower(name)] {
			remark = fmt.Sprintf("%q is used twice", evidence.Excerpt(name, evidence.MaxLabel))
		}
		used[strings.ToLower(name)] = true
		if remark != "" {
			found = append(found, d.Finding(node.Pointer()+"/x-mcp-header", remark))
		}
	}
	return found
}

// headerRemark says which rule an x-mcp-header breaks by itself, empty where none.
func headerRemark(node *listing.SchemaNode, name string, isText bool) string {
	if !isText || name == "" {
		return "it is not a text, or empty"
	}
	if at := strings.IndexFunc(name, func(r rune) bool { return !headerRune(r) }); at >= 0 {
		r, _ := utf8.DecodeRuneInString(name[at:])
		return fmt.Sprintf("%q has %s, which no header's name may have", evidence.Excerpt(name, evidence.MaxLabel), evidence.CodePoint(r))
	}
	if !plainParameter(node) {
		return fmt.Sprintf("%q is not reached through properties alone", evidence.Excerpt(name, evidence.MaxLabel))
	}
	switch kind := node.Object["type"]; kind {
	case "string", "integer", "boolean":
		return ""
	default:
		value, _ := json.Marshal(kind)
		return fmt.Sprintf("%q is on a parameter of type %s; string, integer and boolean may have one", evidence.Excerpt(name, evidence.MaxLabel), evidence.ExcerptJSON(value))
	}
}

// plainParameter says that nothing but properties leads to the node.
func plainParameter(node *listing.SchemaNode) bool {
	if node.Parent == nil {
		return false
	}
	for ; node.Parent != nil; node = node.Parent {
		if node.Keyword != "properties" {
			return false
		}
	}
	return true
}

// headerRune reports whether r may stand in an HTTP field name (RFC 9110, 5.6.2).
func headerRune(r rune) bool {
	return nameRune(r) || r < 0x7f && strings.ContainsRune("!#$%&'*+.^`|~", r)
}

func askUnknownKeyword(e *evidence.Evidence) []check.Finding {
	var spots []spot
	seen := make(map[string]bool)
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			for _, node := range tree.Nodes {
				for _, keyword := range slices.Sorted(maps.Keys(node.Object)) {
					if !foreignKeyword(keyword, node.Object[keyword]) || seen[keyword] {
						continue
					}
					seen[keyword] = true // one place for each is enough
					spots = append(spots, spotAt(d, node.Pointer()+rawjson.Pointer(keyword), evidence.Excerpt(keyword, evidence.MaxLabel)))
				}
			}
		}
	}
	return together(spots, func(list string) string { return list })
}

// foreignKeyword reports whether no draft of JSON Schema knows a keyword in this form.
// MCP's own x-mcp-header has a check of its own.
func foreignKeyword(keyword string, value any) bool {
	if _, isBool := value.(bool); isBool && keyword == "required" {
		return true
	}
	return jsonschema.Holds(keyword) == jsonschema.HoldsNone && !plainKeyword(keyword) && keyword != "x-mcp-header"
}

// plainKeyword reports whether a draft from 4 on knows a keyword that holds no schemas.
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

func untyped(node *listing.SchemaNode) bool {
	return node.Keyword == "properties" && node.Object != nil &&
		!node.Has("type", "$ref", "$dynamicRef", "$recursiveRef", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if")
}

// isBoolSchema leaves out additionalProperties and its relatives, where a boolean is
// what everybody writes.
func isBoolSchema(node *listing.SchemaNode) bool {
	switch node.Keyword {
	case "properties", "patternProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "$defs", "definitions":
		return node.Object == nil
	}
	return false
}

func isTypeUnion(node *listing.SchemaNode) bool {
	_, isList := node.Object["type"].([]any)
	return isList
}

// portability makes one finding of all input subschemas of a kind.
func portability(is func(*listing.SchemaNode) bool) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var spots []spot
		for _, d := range listing.Read(e).Tools {
			if d.Input == nil {
				continue
			}
			for _, node := range d.Input.Nodes {
				if is(node) {
					spots = append(spots, spotAt(d, node.Pointer(), d.Label()+"."+evidence.Excerpt(node.PropertyPath(), evidence.MaxLabel)))
				}
			}
		}
		return together(spots, func(list string) string {
			return fmt.Sprintf("%s: %s", words.Count(len(spots), "place"), list)
		})
	}
}
