package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
)

// isLangChainCall recognises {"name", "args", "id", "type": "tool_call"}.
func isLangChainCall(fields members) bool {
	return fields.text("name") != "" && (fields.text("type") == "tool_call" || fields.has("args"))
}

func readLangChainCall(fields members) (ToolCall, Format) {
	return newCall(fields.text("id"), fields.text("name"), fields.get("args")), LangChain
}

// isInvalidLangChainCall recognises what LangChain keeps of a call that it could not
// read: {"name", "args": "<text>", "id", "error", "type": "invalid_tool_call"}.
func isInvalidLangChainCall(fields members) bool { return fields.text("type") == "invalid_tool_call" }

func readInvalidLangChainCall(fields members) (ToolCall, Format) {
	why := cmp.Or(fields.text("error"), "they are not valid JSON")
	return ToolCall{
		ID: fields.text("id"), Name: fields.text("name"), Arguments: json.RawMessage("{}"),
		Err: fmt.Errorf("the arguments of the tool call could not be read: %s", why),
	}, LangChain
}

// serializedMessage finds the message in LangChain's serialized forms:
// {"lc": 1, "id": […, "AIMessage"], "kwargs": {…}} and {"type": "ai", "data": {…}}.
func serializedMessage(fields members) (json.RawMessage, bool) {
	if fields.isObject("kwargs") && fields.has("lc") {
		return fields.get("kwargs"), true
	}
	if fields.isObject("data") && fields.text("type") == "ai" {
		return fields.get("data"), true
	}
	return nil, false
}

// serializedRole returns who wrote a message in the first of those forms, by the class that its id ends in; empty where
// it is none.
func serializedRole(fields members) string {
	path, ok := fields.list("id")
	if !ok || len(path) == 0 || !fields.has("lc") {
		return ""
	}
	switch class := rawjson.Unquote(path[len(path)-1]); {
	case strings.HasPrefix(class, "AIMessage"):
		return "assistant"
	case strings.Contains(class, "Message"):
		return strings.ToLower(class)
	}
	return ""
}

// langChainResult returns a ToolMessage.
func langChainResult(result ToolResult) any {
	status := "success"
	if result.IsError {
		status = "error"
	}
	return struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		ID      string `json:"tool_call_id"`
		Name    string `json:"name"`
		Status  string `json:"status"`
	}{"tool", result.Text, result.Call.ID, result.Call.Name, status}
}
