package builtin

import (
	"context"
	"encoding/json"

	"toolx/pkg/exec"
)

const echoDefinition = `{
	"name": "echo",
	"title": "Echo",
	"description": "Returns its arguments unchanged, as {\"echo\": arguments}. Any arguments are accepted. Useful to see what reaches a tool.",
	"inputSchema": {"type": "object", "additionalProperties": true},
	"annotations": {"title": "Echo", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// echo gives the arguments back (IMPL-3). They are never parsed, so digits, key
// order and repeated keys come back as they went in; only white space between
// values is lost, for a frame of the protocol is one line.
func echo(_ context.Context, request exec.Request) (any, error) {
	return struct {
		Echo json.RawMessage `json:"echo"`
	}{request.Arguments}, nil
}
