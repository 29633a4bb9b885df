package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// An answer is a handler's work: it returns any value that marshals to JSON. An
// error means that the tool failed, and becomes a result with isError, as a
// server's would; the end of ctx, and an error that has a Kind of its own, stay
// errors.
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

// reply is an MCP CallToolResult, as far as toolx's own tools need it.
type reply struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
}

// structuredReply answers with a JSON value, and with its text for clients that do not read structured content, as the
// specification (server/tools, "Structured Content") recommends.
func structuredReply(value json.RawMessage) (json.RawMessage, error) {
	return replyWith(string(value), reply{StructuredContent: value})
}

// textReply answers with text alone.
func textReply(text string) (json.RawMessage, error) { return replyWith(text, reply{}) }

// failureReply answers that the tool ran and failed.
func failureReply(message string) (json.RawMessage, error) {
	return replyWith(message, reply{IsError: true})
}

// replyWith writes a reply with one block of text.
func replyWith(text string, answer reply) (json.RawMessage, error) {
	answer.Content = []json.RawMessage{rawjson.Object([]rawjson.Member{
		rawjson.NewMember("type", json.RawMessage(`"text"`)),
		rawjson.NewMember("text", rawjson.Quote(text)),
	})}
	return rawjson.Marshal(answer)
}

// decode reads a call's arguments. They fit the handler's own schema already; a
// schema in the config that says otherwise is found out here.
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
