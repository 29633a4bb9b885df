package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// langChainFormats returns the tool objects of LangChain JS, as far as JSON holds them: invoke is a function and cannot
// be written.
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

// pythonSchema is where LangChain's Python library keeps a tool's schema, which its JavaScript library calls schema.
const pythonSchema = "args_schema"

func looksLikeLangChain(element members) bool {
	return element.get("schema") != nil || element.isObject(pythonSchema) ||
		slices.ContainsFunc(element, func(member rawjson.Member) bool { return isLangChains(member.Name) })
}

// isLangChains recognises LangChain's internal members.
func isLangChains(name string) bool { return name == "lc" || strings.HasPrefix(name, "lc_") }

// unwrapLangChain finds the name, description and schema (CONV-1): lc_name wins over name, and missing ones come from
// lc_kwargs. Other members stay, except LangChain's internal ones.
func unwrapLangChain(element members) (members, error) {
	if element.has("lc") {
		var err error
		if element, err = constructed(element); err != nil {
			return nil, err
		}
	}
	element = inJavaScript(element)
	arguments := inJavaScript(membersOf(element.get("lc_kwargs")))
	found := members{}
	if name := cmp.Or(element.text("lc_name"), element.text(nameMember), arguments.text(nameMember)); name != "" {
		found = found.with(nameMember, rawjson.Quote(name))
	}
	for _, name := range []string{descriptionMember, "schema"} {
		if value := fallback(element.get(name), arguments.get(name)); value != nil {
			found = found.with(name, value)
		}
	}
	for _, member := range element {
		if !isLangChains(member.Name) && !found.has(member.Name) && saysMore(member) {
			found = append(found, member)
		}
	}
	return found, nil
}

// inJavaScript calls the schema of a tool that was written by Python as JavaScript does.
func inJavaScript(element members) members {
	if schema := element.get(pythonSchema); element.isObject(pythonSchema) && element.get("schema") == nil {
		return element.without("schema", pythonSchema).with("schema", schema)
	}
	return element
}

// constructed takes the arguments of a serialized LangChain object: {"lc":1,"type":"constructor","kwargs":{…}}. Most
// tools cannot be serialized, and say so in type.
func constructed(element members) (members, error) {
	if element.text("type") == "constructor" && element.isObject("kwargs") {
		return membersOf(element.get("kwargs")), nil
	}
	if element.get("schema") != nil || element.isObject(pythonSchema) || element.isObject("lc_kwargs") {
		return element.without("lc", "type", "id"), nil
	}
	return nil, errors.New("a stringified LangChain tool has lost its schema: " +
		"export name, description and schema of the tool instead, the schema with z.toJSONSchema")
}

// fallback chooses the second value where the first is missing, or is a zod schema and the second is not.
func fallback(first, second json.RawMessage) json.RawMessage {
	if first == nil || (second != nil && isZod(membersOf(first)) && !isZod(membersOf(second))) {
		return second
	}
	return first
}

// saysMore reports whether a member is worth keeping: not one of the common fields, a function or a setting that is
// off.
func saysMore(member rawjson.Member) bool {
	switch member.Name {
	case nameMember, descriptionMember, "schema", "invoke", "func":
		return false
	case "responseFormat":
		return rawjson.Unquote(member.Value) != "content"
	}
	return !isAtRest(member.Value)
}

// writeLangChain says the name as lc_name too, so that the rule that reads it gives the same tool back.
func writeLangChain(e commonFields, definition members) json.RawMessage {
	plain := flat("schema").fill(nil, e)
	whole := flat("schema").fill(formFor(LangChain, definition), e)
	return rawjson.Object(membersOf(whole).
		with("schema", e.schema).
		with("lc_name", rawjson.Quote(e.name)).
		with("lc_kwargs", plain))
}

// isLangChainCall recognises {"name", "args", "id", "type": "tool_call"}.
func isLangChainCall(fields members) bool {
	return fields.text("name") != "" && (fields.text("type") == "tool_call" || fields.has("args"))
}

// readInvalidLangChainCall reads what LangChain keeps of a call that it could not read: {"name", "args": "<text>",
// "id", "error", "type": "invalid_tool_call"}.
func readInvalidLangChainCall(fields members) (ToolCall, Format) {
	why := cmp.Or(fields.text("error"), "they are not valid JSON")
	return failedCall(fields.text("id"), fields.text("name"),
		fmt.Errorf("the arguments of the tool call could not be read: %s", why)), LangChain
}
