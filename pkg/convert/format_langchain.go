package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// langChainFormats returns the format of LangChain JS's tool objects, without invoke, which is a function.
func langChainFormats() []*record {
	return []*record{{
		format: LangChain, label: "LangChain", layout: flat("schema"), aliases: []string{pythonSchema},
		marks: looksLikeLangChain, prepare: unwrapLangChain, write: writeLangChain,
		schema: profile{untouched: true},
		calls: []callShape{
			{ofType("invalid_tool_call"), readInvalidLangChainCall},
			{isLangChainCall, shapedAs(LangChain, "id", "args")},
		},
		result: resultForm{
			result: `{"type":"tool","content":"$plain","tool_call_id":"$id","name":"$name","status":"$status"}`,
		},
	}}
}

// pythonSchema is the member for a tool's schema in LangChain's Python library; its JavaScript library has schema.
const pythonSchema = "args_schema"

func looksLikeLangChain(element *node) bool {
	return element.Value("schema") != nil || element.Get(pythonSchema).IsObject() ||
		slices.ContainsFunc(element.Members(), func(m member) bool { return isLangChainMember(m.Name) })
}

// isLangChainMember reports whether a member is internal to LangChain.
func isLangChainMember(name string) bool { return name == "lc" || strings.HasPrefix(name, "lc_") }

// unwrapLangChain finds the name, description and schema (CONV-1): lc_name overrides name, and missing members come
// from lc_kwargs. It keeps other members, except LangChain's internal ones.
func unwrapLangChain(element *node) (*node, error) {
	if element.Has("lc") {
		var err error
		if element, err = constructed(element); err != nil {
			return nil, err
		}
	}
	element = inJavaScript(element)
	arguments := inJavaScript(element.Get("lc_kwargs"))
	found := jsonschema.Build()
	for _, named := range []*node{element.Get("lc_name"), element.Get(nameMember), arguments.Get(nameMember)} {
		if !found.Has(nameMember) && named.Text() != "" {
			found.Set(nameMember, named)
		}
	}
	for _, name := range []string{descriptionMember, "schema"} {
		found.Set(name, fallback(element.Value(name), arguments.Value(name)))
	}
	for _, m := range element.Members() {
		if !isLangChainMember(m.Name) && !found.Has(m.Name) && isExtra(m) {
			found.Set(m.Name, m.Node)
		}
	}
	return found, nil
}

// inJavaScript renames the schema of a Python tool as in JavaScript.
func inJavaScript(element *node) *node {
	if schema := element.Value(pythonSchema); element.Get(pythonSchema).IsObject() && element.Value("schema") == nil {
		return with(without(element, "schema", pythonSchema), "schema", schema)
	}
	return element
}

// constructed returns the arguments of a serialized LangChain object: {"lc":1,"type":"constructor","kwargs":{…}}. Most
// tools cannot be serialized and have another type.
func constructed(element *node) (*node, error) {
	if element.Get("type").Text() == "constructor" && element.Get("kwargs").IsObject() {
		return element.Get("kwargs"), nil
	}
	if element.Value("schema") != nil || element.Get(pythonSchema).IsObject() || element.Get("lc_kwargs").IsObject() {
		return without(element, "lc", "type", "id"), nil
	}
	return nil, errors.New(
		"a stringified LangChain tool has no schema: export name, description, z.toJSONSchema(schema)")
}

// fallback returns the second value if the first is missing, or if only the first is a zod schema.
func fallback(first, second *node) *node {
	if first == nil || (second != nil && isZod(first) && !isZod(second)) {
		return second
	}
	return first
}

// isExtra reports whether to keep a member that is not a common field, a function or a disabled setting.
func isExtra(m member) bool {
	switch m.Name {
	case nameMember, descriptionMember, "schema", "invoke", "func":
		return false
	case "responseFormat":
		return m.Node.Text() != "content"
	}
	return !isAtRest(m.Node)
}

// writeLangChain also writes the name as lc_name, so that it can be read back.
func writeLangChain(e commonFields, definition *node) *node {
	whole := flat("schema").fill(formFor(LangChain, definition), e)
	whole.Set("schema", e.schema)
	whole.Set("lc_name", jsonschema.Quoted(e.name))
	whole.Set("lc_kwargs", flat("schema").fill(nil, e))
	return whole
}

// isLangChainCall reports whether an object is {"name", "args", "id", "type": "tool_call"}.
func isLangChainCall(fields *node) bool {
	return fields.Get("name").Text() != "" && (fields.Get("type").Text() == "tool_call" || fields.Has("args"))
}

// readInvalidLangChainCall reads a call that LangChain could not parse: {"name", "args": "<text>", "id", "error",
// "type": "invalid_tool_call"}.
func readInvalidLangChainCall(fields *node) (ToolCall, Format) {
	why := cmp.Or(fields.Get("error").Text(), "they are not valid JSON")
	return failedCall(fields.Get("id").Text(), fields.Get("name").Text(),
		fmt.Errorf("the arguments of the tool call could not be read: %s", why)), LangChain
}
