package protocol

import (
	"cmp"
	"encoding/json"
	"fmt"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// A resource, a template or a prompt is described as a Tool: what is shown of it, and the schema of its form. Such a
// Tool has no Implementation and is in no Registry.

// DescribeResource describes a resource of a server by its definition. Its Plain name is the URI. ok is false where the
// definition has none.
func DescribeResource(server *config.Server, definition json.RawMessage) (resource *exec.Tool, ok bool) {
	resource = describe(server, definition, rawjson.GetText(definition, "uri"))
	resource.Title = cmp.Or(resource.Title, rawjson.GetText(definition, "name"))
	return resource, resource.Plain != ""
}

// DescribeTemplate describes a resource template. Its Plain name is the template, its schema that of the variables. ok
// is false where the definition has none.
func DescribeTemplate(server *config.Server, definition json.RawMessage) (template *exec.Tool, ok bool) {
	template = describe(server, definition, rawjson.GetText(definition, "uriTemplate"))
	template.Title = cmp.Or(template.Title, rawjson.GetText(definition, "name"))
	template.InputSchema = templateSchema(template.Plain)
	return template, template.Plain != ""
}

// DescribePrompt describes a prompt. ok is false where it has no name.
func DescribePrompt(server *config.Server, definition json.RawMessage) (prompt *exec.Tool, ok bool) {
	prompt = describe(server, definition, rawjson.GetText(definition, "name"))
	prompt.InputSchema = PromptSchema(definition)
	return prompt, prompt.Plain != ""
}

// DescribeTool describes a tool by its definition, without an Implementation. The error says what is wrong with it.
func DescribeTool(server *config.Server, definition json.RawMessage) (*exec.Tool, error) {
	tool, err := exec.NewTool(definition)
	if err != nil {
		return nil, fmt.Errorf("that cannot be read: %w", err)
	}
	if len(tool.Plain) > maxName {
		return nil, fmt.Errorf("whose name has %s, over the limit of %s", exec.Bytes(int64(len(tool.Plain))),
			exec.Bytes(maxName))
	}
	qualify(tool, server)
	tool.Type, tool.Timeout, tool.Guards = exec.TypeMCP, server.Timeout, server.Guards
	tool.Rename, tool.KeepNames = server.Normalize[tool.Plain], server.KeepNames
	return tool, nil
}

// DescribeTools describes tools by their definitions, but for those that cannot be read.
func DescribeTools(server *config.Server, definitions []json.RawMessage) []*exec.Tool {
	var tools []*exec.Tool
	for _, definition := range definitions {
		if tool, err := DescribeTool(server, definition); err == nil {
			tools = append(tools, tool)
		}
	}
	return tools
}

func describe(server *config.Server, definition json.RawMessage, plain string) *exec.Tool {
	described := &exec.Tool{
		Plain: plain, Definition: definition,
		Title: rawjson.GetText(definition, "title"), Description: rawjson.GetText(definition, "description"),
	}
	qualify(described, server)
	return described
}

// qualify prefixes a tool's name with its server's, and sets what a command that calls it must repeat.
func qualify(tool *exec.Tool, server *config.Server) {
	tool.Name, tool.Server, tool.Flags = server.Name+exec.Separator+tool.Plain, server.Name, server.Flags
	switch {
	case !server.OnCommandLine():
	case server.URL != "":
		tool.Address = server.URL
	default:
		tool.Launch = append([]string{server.Command}, server.Args...)
	}
}

// maxArguments is the number of a prompt's arguments that toolx reads: with more, the schema
// would be too large to be read.
const maxArguments = 10_000

// PromptSchema returns a JSON Schema of a prompt's arguments, all of them strings (MCP 2025-11-25, server/prompts). It
// includes the names in more even where the prompt does not declare them. Without a definition, any argument is allowed
// and is a string. At most maxArguments arguments of the definition are read.
func PromptSchema(definition json.RawMessage, more ...string) json.RawMessage {
	var properties []rawjson.Member
	var required []string
	known, needed := make(map[string]bool), make(map[string]bool)
	add := func(name string, property json.RawMessage) {
		if !known[name] {
			known[name] = true
			properties = append(properties, rawjson.NewMember(name, property))
		}
	}
	arguments, _ := rawjson.FirstElements(rawjson.Get(definition, "arguments"), maxArguments)
	for _, argument := range arguments {
		name := rawjson.GetText(argument, "name")
		add(name, rawjson.Build("type", "string", "description", rawjson.GetText(argument, "description")))
		if string(rawjson.Get(argument, "required")) == "true" && !needed[name] {
			needed[name] = true
			required = append(required, name)
		}
	}
	for _, name := range more {
		add(name, json.RawMessage(`{"type":"string"}`))
	}
	if definition == nil {
		return objectSchema(properties, required,
			rawjson.NewMember("additionalProperties", json.RawMessage(`{"type":"string"}`)))
	}
	return objectSchema(properties, required)
}
