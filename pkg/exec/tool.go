package exec

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/guard"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Type is the kind of implementation behind a tool.
type Type string

// The implementation types.
const (
	TypeMCP      Type = "mcp"      // a tool of an MCP server
	TypeBuiltin  Type = "builtin"  // a handler compiled into toolx
	TypeMock     Type = "mock"     // a canned response from the config
	TypeInternal Type = "internal" // one of toolx's own services
)

// Tool is one callable tool of any type. Tools are immutable.
type Tool struct {
	// Name is unique in a Registry: "server__tool" for an MCP tool, the tool's own name for the others.
	Name string
	// Aliases are other names of the tool, such as LangChain's lc_name.
	Aliases []string
	// Server is the name of the MCP server, empty for toolx's own tools.
	Server string
	// Plain is the tool's name without its server's, as Implementation expects it.
	Plain string
	// Type is the kind of implementation behind a tool.
	Type Type
	// BuiltIn reports whether toolx has the tool without any config. A server's tool of the same name wins (see
	// Registry.Find).
	BuiltIn bool
	// Launch is the command of a server from toolx's command line, and Address its URL; a command that calls the tool
	// must repeat them.
	Launch  []string
	Address string
	// Flags are the flags of toolx's command line that such a command must repeat to find the tool: "--config", "FILE".
	// They have no secret values.
	Flags []string

	Title       string
	Description string
	Annotations mcp.ToolAnnotation

	// TaskSupport is execution.taskSupport of MCP 2025-11-25: "required", "optional" or "forbidden"; empty if the
	// server does not say.
	TaskSupport string

	// Definition is the whole MCP tool object, byte for byte.
	Definition json.RawMessage
	// InputSchema and OutputSchema are slices of Definition; nil if there is none.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	// Timeout is the idle timeout of this tool's calls; zero means that the Executor's default applies.
	Timeout time.Duration

	// Rename maps parameter names to the tool's names (NORM-2).
	Rename map[string]string
	// KeepNames switches off the heuristic normalization of parameter names (NORM-4, NORM-7).
	KeepNames bool

	// Implementation runs the tool.
	Implementation Implementation

	// Guards decide whether the tool may be used, and which calls need confirmation.
	Guards guard.Guards

	// Warn logs a problem with the config's entry of a tool once; nil if there is none.
	Warn func()
	// Broken is why every call fails because of an invalid config entry; nil for other tools.
	Broken error

	input, output parsedSchema

	judge  sync.Once // for denied, since comparing a definition with a snapshot takes time
	denied *DeniedError
}

// parsedSchema is a schema that is parsed when first used.
type parsedSchema struct {
	once     sync.Once
	document *jsonschema.Document
}

func (p *parsedSchema) of(text json.RawMessage) *jsonschema.Document {
	p.once.Do(func() { p.document = jsonschema.Parse(text) })
	return p.document
}

// Implementation runs tools: an MCP session, or a handler of toolx's own.
type Implementation interface {
	// CallTool runs one tool with arguments that are already normalized and valid. It returns the MCP CallToolResult as
	// JSON, byte for byte from a server; a result with isError is not an error here.
	//
	// An error means that there is no result. It may carry a Kind (see KindOf);
	// when ctx ends first the error is, or wraps, the context's.
	CallTool(ctx context.Context, request Request) (json.RawMessage, error)
}

// Request is a call as an Implementation receives it.
type Request struct {
	// Name is the tool's Plain name.
	Name string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Confined reports that the user at the keyboard did not choose the arguments, so they may only name files in the
	// folders that servers may work in.
	Confined bool
	// Progress reports progress, which restarts the idle timeout. It is never nil and may be called from any goroutine.
	Progress func(Progress)
}

// Progress is one report of a running call (MCP notifications/progress), or a state of its task.
type Progress struct {
	Progress float64 // so far; grows
	Total    float64 // zero if the server does not know
	Message  string
	// Status is the state of the task; empty in other reports.
	Status string
}

// Then returns the combined progress after another report: a state of the task has no numbers, and other reports have
// no state.
func (p Progress) Then(next Progress) Progress {
	if next.Status != "" {
		next.Progress, next.Total = p.Progress, p.Total
		return next
	}
	next.Status = p.Status
	return next
}

// Text returns the report as text: "working: two steps left".
func (p Progress) Text() string {
	if p.Status != "" && p.Message != "" {
		return p.Status + ": " + p.Message
	}
	return p.Status + p.Message
}

// NewTool makes a Tool from the JSON of an MCP tool object, which it keeps byte for byte. Name and Plain are both the
// object's name; the caller qualifies. It fails if the definition is not an object or has no name.
func NewTool(definition json.RawMessage) (*Tool, error) {
	if !json.Valid(definition) {
		return nil, errNoJSON
	}
	tool := &Tool{Definition: definition}
	var annotations json.RawMessage
	// Nothing is copied: a schema can have tens of megabytes.
	for member := range rawjson.Each(definition) {
		switch member.Name {
		case "name":
			tool.Name = textOf(member.Value)
		case "title":
			tool.Title = textOf(member.Value)
		case "description":
			tool.Description = textOf(member.Value)
		case "annotations":
			annotations = member.Value
		case "execution":
			tool.TaskSupport = rawjson.GetText(member.Value, "taskSupport")
		case "inputSchema":
			tool.InputSchema = member.Value
		case "outputSchema":
			tool.OutputSchema = member.Value
		}
	}
	if tool.Name == "" {
		return nil, errNoName
	}
	tool.Plain = tool.Name
	// Annotations are hints: a malformed one is ignored.
	_ = json.Unmarshal(annotations, &tool.Annotations)
	if tool.Title == "" {
		tool.Title = tool.Annotations.Title
	}
	return tool, nil
}

// textOf returns the text of a JSON string; empty for any other value.
func textOf(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// Prefix returns the server's name if lists and models need it before the tool's name. A server on the command line,
// which is the only one, does not need it.
func (t *Tool) Prefix() string {
	if len(t.Launch) > 0 || t.Address != "" {
		return ""
	}
	return t.Server
}

// Shown returns the name under which the tool is listed; Find returns the tool by it.
func (t *Tool) Shown() string {
	if t.Prefix() == "" && t.Server != "" {
		return t.Plain
	}
	return t.Name
}

// guarded returns the properties that guards check.
func (t *Tool) guarded() guard.Tool {
	return guard.Tool{
		Server: t.Server, Plain: t.Plain,
		ReadOnly: t.Annotations.ReadOnlyHint, Destructive: t.Annotations.DestructiveHint,
		Definition: t.Definition,
	}
}

// Denied returns why the tool may not be used, nil if it may.
func (t *Tool) Denied() *DeniedError {
	t.judge.Do(func() {
		if refused := t.Guards.Refuse(t.guarded()); refused != nil {
			t.denied = &DeniedError{refused, t}
		}
	})
	return t.denied
}

// Asks returns why a call of the tool needs confirmation, nil if it does not. unsaid applies if no guard decides.
func (t *Tool) Asks(unsaid guard.Confirm) *guard.AskError { return t.Guards.Asks(t.guarded(), unsaid) }

// Input returns the tool's input schema, parsed once.
func (t *Tool) Input() *jsonschema.Document { return t.input.of(t.InputSchema) }

// Output returns the schema of the tool's structured results, parsed once.
func (t *Tool) Output() *jsonschema.Document { return t.output.of(t.OutputSchema) }

// Schema returns the tool's compiled input schema, compiled once. An error means that the schema itself is broken
// (VAL-3): callers warn and skip validation. It is that of ctx if it ends first.
func (t *Tool) Schema(ctx context.Context) (*jsonschema.Schema, error) { return t.Input().Compile(ctx) }
