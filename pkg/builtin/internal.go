package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"toolx/pkg/exec"
)

const listToolsDefinition = `{
	"name": "list_tools",
	"title": "List tools",
	"description": "Lists the tools that can be called through toolx, with name, server, type and description; describe_tool returns the parameters of one.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"server": {"type": "string", "description": "Only the tools of this server"},
			"pattern": {"type": "string", "description": "Only tools whose name contains this text or matches this glob (*_device); case-insensitive"},
			"definitions": {"type": "boolean", "default": false, "description": "Include each tool's complete MCP definition, with its schema"}
		}
	},
	"annotations": {"title": "List tools", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

const listServersDefinition = `{
	"name": "list_servers",
	"title": "List servers",
	"description": "Lists the configured MCP servers and their status, without starting any.",
	"inputSchema": {"type": "object", "properties": {}},
	"annotations": {"title": "List servers", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

const describeToolDefinition = `{
	"name": "describe_tool",
	"title": "Describe a tool",
	"description": "Returns one tool's description, annotations and parameter schema (JSON Schema).",
	"inputSchema": {
		"type": "object",
		"properties": {
			"name": {"type": "string", "minLength": 1, "description": "The tool's name, as list_tools returns it"}
		},
		"required": ["name"]
	},
	"annotations": {"title": "Describe a tool", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// toolEntry is a tool in the results of internal tools.
type toolEntry struct {
	Name        string          `json:"name"`
	Server      string          `json:"server,omitempty"`
	Type        exec.Type       `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Definition  json.RawMessage `json:"definition,omitempty"` // byte for byte as its owner sent it
}

func entryOf(tool *exec.Tool, whole bool) toolEntry {
	entry := toolEntry{
		Name: tool.Name, Server: tool.Server, Type: tool.Type,
		Title: tool.Title, Description: tool.Description,
	}
	if whole {
		entry.Definition = tool.Definition
	}
	return entry
}

// listTools returns the tools of the Registry (IMPL-4). A server that cannot be opened is reported; the tools of the
// others are listed.
func (s Services) listTools(ctx context.Context, request exec.Request) (any, error) {
	var arguments struct {
		Server      string `json:"server"`
		Pattern     string `json:"pattern"`
		Definitions bool   `json:"definitions"`
	}
	if err := decode(request, &arguments); err != nil {
		return nil, err
	}
	if err := s.checkServer(arguments.Server); err != nil {
		return nil, err
	}
	pattern := strings.ToLower(arguments.Pattern)
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("the pattern %q is malformed: write [ as \\[", arguments.Pattern)
	}
	answer := struct {
		Tools    []toolEntry `json:"tools"`
		Problems string      `json:"problems,omitempty"`
	}{Tools: []toolEntry{}}
	if err := s.Open(ctx, arguments.Server); err != nil {
		if arguments.Server != "" || ctx.Err() != nil {
			return nil, err
		}
		answer.Problems = err.Error()
	}
	for _, tool := range s.all() {
		if arguments.Server != "" && tool.Server != arguments.Server {
			continue
		}
		if matches(pattern, strings.ToLower(tool.Name)) {
			answer.Tools = append(answer.Tools, entryOf(tool, arguments.Definitions))
		}
	}
	return answer, nil
}

// matches reports whether name contains pattern, or matches it as a glob.
func matches(pattern, name string) bool {
	if strings.Contains(name, pattern) {
		return true
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// listServers returns the configured servers.
func (s Services) listServers(context.Context, exec.Request) (any, error) {
	type entry struct {
		Server
		Tools int `json:"tools"` // of those that were listed
	}
	entries := []entry{}
	counts := make(map[string]int)
	for _, tool := range s.all() {
		counts[tool.Server]++
	}
	for _, server := range s.Servers() {
		entries = append(entries, entry{server, counts[server.Name]})
	}
	return struct {
		Servers []entry `json:"servers"`
	}{entries}, nil
}

// describeTool returns everything about one tool.
func (s Services) describeTool(ctx context.Context, request exec.Request) (any, error) {
	var arguments struct {
		Name string `json:"name"`
	}
	if err := decode(request, &arguments); err != nil {
		return nil, err
	}
	if s.Find == nil {
		return nil, errors.New("no tools are known here")
	}
	tool, err := s.Find(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	return entryOf(tool, true), nil
}

// checkServer returns an error for the name of a server that is not configured.
func (s Services) checkServer(server string) error {
	if server == "" {
		return nil
	}
	var names []string
	for _, known := range s.Servers() {
		if known.Name == server {
			return nil
		}
		names = append(names, known.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("no server named %q: none is configured", server)
	}
	return fmt.Errorf("no server named %q: known servers are %s", server, strings.Join(names, ", "))
}

func (s Services) all() []*exec.Tool {
	if s.Registry == nil {
		return nil
	}
	return s.Registry.Offered()
}
