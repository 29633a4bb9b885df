// Package builtin has the tools that toolx itself runs: compiled handlers (echo, math_eval, datetime, search, volume),
// fixed responses from the config (mocks), and toolx's own services (list_tools, list_servers, describe_tool).
//
// Every tool returns an MCP CallToolResult, as a server's tool does, so that callers need not tell them apart. Package
// exec finds, validates, times and logs calls; package config reads the config. Nothing here needs a server or a
// network (IMPL-5).
package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Services are what the tools use. Each field is optional; a tool that needs a missing one works without it, or says
// what is missing.
type Services struct {
	// Registry is the source of list_tools.
	Registry *exec.Registry
	// Find returns the tool of a name, for describe_tool; it may open servers.
	Find func(ctx context.Context, name string) (*exec.Tool, error)
	// Open fills Registry with the tools of the named server, or of all servers if the name is empty, before they are
	// listed. An error is shown beside the available tools.
	Open func(ctx context.Context, server string) error
	// Servers returns the configured servers and their state. It starts none.
	Servers func() []Server
	// Stage is the process that the faults of mocks affect: set under serve, nil for a plain call, which only reports
	// them.
	Stage Stage
	// Roots are the absolute folders that search is confined to for models and clients (exec.Request.Confined); nil
	// means the working folder.
	Roots []string
	// Notice writes to the log.
	Notice func(level slog.Level, text string)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Stage is a process that can be made to misbehave.
type Stage interface {
	// Stdout writes line and a newline on the standard output, past the protocol.
	Stdout(line string)
	// Stderr writes line and a newline on the standard error.
	Stderr(line string)
	// Exit ends the process at once with that code.
	Exit(code int)
}

// Server is what list_servers reports of one server. It has no values that may be secret (command line, URL,
// environment).
type Server struct {
	Name      string `json:"name"`
	Status    string `json:"status,omitempty"`    // such as "ready", "failed", "not started", "disabled"
	Transport string `json:"transport,omitempty"` // "stdio" or "http"
	Protocol  string `json:"protocol,omitempty"`  // the negotiated revision
	Error     string `json:"error,omitempty"`     // why Status is "failed"
	Hint      string `json:"hint,omitempty"`      // the config's hint
}

// Tools returns the tools that need no config, in the order of lists: first the builtin ones, then the internal ones.
func Tools(services Services) []*exec.Tool {
	var tools []*exec.Tool
	for _, h := range services.complete().handlers() {
		tool := h.tool()
		tool.BuiltIn = true
		tools = append(tools, tool)
	}
	return tools
}

// FromConfig makes the tool of a config entry (IMPL-1 to IMPL-4). What the entry leaves out, such as the description or
// the parameters, comes from its handler.
//
// A missing handler is not an error here: the tool is listed, the log has a warning when it is listed or called
// (exec.Tool.Warn), and calling it fails with "Builtin handler '<name>' not found" or "Internal handler '<name>' not
// found" and the nearest names as a hint. The same holds for an invalid entry (config.Tool.Err): it is listed, accepts
// any arguments, and every call fails with the reason.
func FromConfig(entry *config.Tool, services Services) *exec.Tool {
	tool, err := services.complete().fromConfig(entry)
	if err != nil {
		return brokenTool(entry, err)
	}
	return tool
}

// brokenTool returns the tool of an invalid entry: every call fails with err, for the user to fix.
func brokenTool(entry *config.Tool, err error) *exec.Tool {
	wrong := &fault.UsageError{Message: err.Error(), Fix: fault.HintOf(err)}
	definition := rawjson.Build("name", entry.Name, "description", entry.Description,
		"inputSchema", json.RawMessage(anyArguments))
	return &exec.Tool{
		Name: entry.Name, Plain: entry.Name, Title: entry.Title, Description: entry.Description,
		Type: exec.Type(entry.Implementation.Type), KeepNames: true, Broken: wrong,
		Definition: definition, InputSchema: json.RawMessage(anyArguments),
		Implementation: answer(func(context.Context, exec.Request) (any, error) { return nil, wrong }),
	}
}

// anyArguments is the schema of a tool without one.
const anyArguments = `{"type":"object"}`

func (s Services) fromConfig(entry *config.Tool) (*exec.Tool, error) {
	if err := entry.Err(); err != nil {
		return nil, err
	}
	kind := exec.Type(entry.Implementation.Type)
	var (
		implementation exec.Implementation
		model          *exec.Tool
		warn           func()
	)
	switch kind {
	case exec.TypeMock:
		implementation = &mock{entry: entry, services: s}
	case exec.TypeBuiltin, exec.TypeInternal:
		implementation, model, warn = s.implementation(entry, kind)
	default:
		return nil, &fault.UsageError{
			Message: fmt.Sprintf("tool %s: implementation type %q is unknown", entry.Name, entry.Implementation.Type),
			Fix:     "type is one of: mock, builtin, internal",
		}
	}
	definition, err := define(entry, model)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", entry.Name, err)
	}
	tool, err := exec.NewTool(definition)
	if err != nil {
		return nil, fmt.Errorf("tool at %s:%d: %w", entry.Origin.File, entry.Origin.Line, err)
	}
	// NORM-4: the names are the config's own, so they are not normalized.
	tool.Type, tool.KeepNames, tool.Timeout, tool.Implementation = kind, true, entry.Timeout, implementation
	tool.Aliases, tool.Warn = entry.Aliases, warn
	return tool, nil
}

// implementation returns the handler of an entry, by default the one of its name, and that handler's own tool. If there
// is none, the returned one fails, model is nil, and warn logs it once.
func (s Services) implementation(
	entry *config.Tool, kind exec.Type,
) (run exec.Implementation, model *exec.Tool, warn func()) {
	name := cmp.Or(entry.Implementation.Handler, entry.Name)
	if model = s.handlerTool(kind, name); model != nil {
		return model.Implementation, model, nil
	}
	missing := s.missingHandler(kind, name)
	warn = sync.OnceFunc(func() { s.Notice(slog.LevelWarn, fmt.Sprintf("tool %s: %v", entry.Name, missing)) })
	fails := func(context.Context, exec.Request) (any, error) {
		warn()
		return nil, missing
	}
	return answer(fails), nil, warn
}

// define writes the MCP tool object of a config entry. model, which may be nil, fills in what the entry leaves out.
func define(entry *config.Tool, model *exec.Tool) (json.RawMessage, error) {
	definition := struct {
		Name         string          `json:"name"`
		Title        string          `json:"title,omitempty"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  json.RawMessage `json:"annotations,omitempty"`
	}{
		Name: entry.Name, Title: entry.Title, Description: entry.Description,
		InputSchema: entry.Parameters, OutputSchema: entry.OutputSchema, Annotations: entry.Annotations,
	}
	if model != nil {
		if definition.Description == "" {
			definition.Description = model.Description
		}
		if definition.InputSchema == nil {
			definition.InputSchema = model.InputSchema
		}
		if definition.Annotations == nil {
			annotations, err := rawjson.Marshal(model.Annotations)
			if err != nil {
				return nil, err
			}
			definition.Annotations = annotations
		}
	}
	if definition.InputSchema == nil {
		definition.InputSchema = json.RawMessage(anyArguments)
	}
	return rawjson.Marshal(definition)
}

// A handler is a compiled tool.
type handler struct {
	name       string
	kind       exec.Type
	definition string // the MCP tool object
	answer     answer
}

// tool returns the tool of the handler without any config.
func (h handler) tool() *exec.Tool {
	tool, err := exec.NewTool(rawjson.Compact(json.RawMessage(h.definition))) // sent on one line
	if err != nil {
		// The definitions are constants, and a test reads each of them.
		panic(fmt.Sprintf("definition of the %s tool: %v", h.name, err))
	}
	tool.Type, tool.KeepNames, tool.Implementation = h.kind, true, h.answer
	return tool
}

// handlers returns all handlers, bound to s. It is a function, not a table, so that only commands that list or call
// tools pay for it.
func (s Services) handlers() []handler {
	return []handler{
		{"echo", exec.TypeBuiltin, echoDefinition, echo},
		{"math_eval", exec.TypeBuiltin, mathDefinition, mathEval},
		{"datetime", exec.TypeBuiltin, datetimeDefinition, s.datetime},
		{"search", exec.TypeBuiltin, searchDefinition, s.search},
		{"volume", exec.TypeBuiltin, volumeDefinition, volume},
		{"list_tools", exec.TypeInternal, listToolsDefinition, s.listTools},
		{"list_servers", exec.TypeInternal, listServersDefinition, s.listServers},
		{"describe_tool", exec.TypeInternal, describeToolDefinition, s.describeTool},
	}
}

// handlerTool returns the built-in tool of a handler, nil if there is none of that kind and name.
func (s Services) handlerTool(kind exec.Type, name string) *exec.Tool {
	for _, h := range s.handlers() {
		if h.kind == kind && h.name == name {
			return h.tool()
		}
	}
	return nil
}

// missingHandler returns the error of IMPL-2 and IMPL-4, which fix its text.
func (s Services) missingHandler(kind exec.Type, name string) error {
	var names []string
	for _, h := range s.handlers() {
		if h.kind == kind {
			names = append(names, h.name)
		}
	}
	title := "Builtin"
	if kind == exec.TypeInternal {
		title = "Internal"
	}
	fix := "handlers of this type: " + strings.Join(names, ", ")
	if near := words.Nearest(name, names); near != "" {
		fix = "did you mean: " + near
	}
	return &fault.UsageError{Message: fmt.Sprintf("%s handler '%s' not found", title, name), Fix: fix}
}

// complete returns s with empty functions for missing ones.
func (s Services) complete() Services {
	if s.Open == nil {
		s.Open = func(context.Context, string) error { return nil }
	}
	if s.Servers == nil {
		s.Servers = func() []Server { return nil }
	}
	if s.Notice == nil {
		s.Notice = func(slog.Level, string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s
}

// An answer does the work of a handler: it returns any value that marshals to JSON. An error means that the tool
// failed, and becomes a result with isError, as a server's would; the end of ctx, and an error with its own Kind,
// remain errors.
type answer func(ctx context.Context, request exec.Request) (any, error)

// CallTool implements exec.Implementation.
func (a answer) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	value, err := a(ctx, request)
	if err == nil {
		raw, err := rawjson.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("writing the result of %s: %w", request.Name, err)
		}
		return structuredReply(raw)
	}
	var kinded interface{ Kind() fault.Kind }
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &kinded):
		return nil, err
	}
	return failureReply(err.Error())
}

// reply is an MCP CallToolResult with the members that toolx's own tools use.
type reply struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
}

// structuredReply returns a JSON value, and its text for clients that do not read structured content, as the
// specification (server/tools, "Structured Content") recommends.
func structuredReply(value json.RawMessage) (json.RawMessage, error) {
	return replyWith(string(value), reply{StructuredContent: value})
}

// failureReply reports that the tool ran and failed.
func failureReply(message string) (json.RawMessage, error) {
	return replyWith(message, reply{IsError: true})
}

// replyWith writes a reply with one block of text.
func replyWith(text string, answer reply) (json.RawMessage, error) {
	answer.Content = []json.RawMessage{rawjson.Build("type", "text", "text", text)}
	return rawjson.Marshal(answer)
}

// decode reads a call's arguments. They fit the handler's own schema already, unless the config has another schema.
func decode(request exec.Request, into any) error {
	if err := json.Unmarshal(request.Arguments, into); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) && mismatch.Field != "" {
			return fmt.Errorf("parameter %s cannot be a %s", mismatch.Field, mismatch.Value)
		}
		return fmt.Errorf("cannot read the arguments: %w", err)
	}
	return nil
}

const echoDefinition = `{
	"name": "echo",
	"title": "Echo",
	"description": "Returns its arguments unchanged, as {\"echo\": arguments}. Accepts any arguments. Useful for checking what reaches a tool.",
	"inputSchema": {"type": "object", "additionalProperties": true},
	"annotations": {"title": "Echo", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// echo returns the arguments (IMPL-3). They are never parsed, so digits, key order and repeated keys are preserved;
// only white space between values is lost, because a message of the protocol is one line.
func echo(_ context.Context, request exec.Request) (any, error) {
	return struct {
		Echo json.RawMessage `json:"echo"`
	}{request.Arguments}, nil
}
