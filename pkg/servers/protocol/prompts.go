package protocol

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
)

// Prompts returns the server's prompts, all pages, each byte for byte; the list is empty for a server without prompts.
func (r *requester) Prompts(ctx context.Context) ([]json.RawMessage, error) {
	return r.pages(ctx, string(mcp.MethodPromptsList), "prompts")
}

// GetPrompt returns a GetPromptResult, byte for byte. arguments is a JSON object of strings, or nil. A refusal is an
// *exec.ToolError with the server's own message.
func (r *requester) GetPrompt(
	ctx context.Context, name string, arguments json.RawMessage, progress func(exec.Progress),
) (json.RawMessage, error) {
	return r.demand(ctx, string(mcp.MethodPromptsGet), PromptParams(name, arguments), progress)
}

// PromptParams returns the params of a prompts/get; nil arguments are left out.
func PromptParams(name string, arguments json.RawMessage) json.RawMessage {
	return CallParams(name, arguments)
}

// Reference names what an argument to be completed belongs to: a prompt by its name, or a resource by its URI template.
type Reference struct {
	Prompt   string
	Template string
}

// Complete returns a CompleteResult, byte for byte: possible values for an argument, given the value typed so far.
// known has the arguments that are already settled; it may be nil.
func (r *requester) Complete(
	ctx context.Context, ref Reference, argument, value string, known map[string]string,
) (json.RawMessage, error) {
	of := map[string]string{"type": "ref/prompt", "name": ref.Prompt}
	if ref.Template != "" {
		of = map[string]string{"type": "ref/resource", "uri": ref.Template}
	}
	params := map[string]any{"ref": of, "argument": map[string]string{"name": argument, "value": value}}
	if len(known) > 0 {
		params["context"] = map[string]any{"arguments": known}
	}
	return r.ask(ctx, string(mcp.MethodCompletionComplete), params)
}
