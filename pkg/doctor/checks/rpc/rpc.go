// Package rpc has the checks of JSON-RPC 2.0.
package rpc

import (
	"embed"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/wire"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of messages. Package framing checks lines that are not messages.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "rpc-version", Need: check.NeedProcess, Ask: askRPCVersion},
		{ID: "rpc-batch", Need: check.NeedProcess, Ask: askBatch},
		{ID: "rpc-id-type", Need: check.NeedProcess, Ask: askIDType},
		{ID: "rpc-id-null", Need: check.NeedProcess, Ask: askIDNull},
		{ID: "rpc-id-unknown", Need: check.NeedProcess, Ask: askRPCIDUnknown},
		{ID: "rpc-id-duplicate", Need: check.NeedProcess, Ask: askIDDuplicate},
		{ID: "rpc-shape", Need: check.NeedProcess, Ask: askShape},
		{ID: "rpc-duplicate-keys", Need: check.NeedProcess, Ask: askOddities(wire.DuplicateKey, "the values are %s")},
		{ID: "rpc-depth", Need: check.NeedProcess, Ask: askDepth},
		{ID: "rpc-number-range", Need: check.NeedProcess, Ask: askOddities(wire.BigNumber, "the number is %s")},
		{ID: "rpc-surrogate", Need: check.NeedProcess, Ask: askOddities(wire.LoneSurrogate, "the escape %s has no other half")},
		{ID: "rpc-late-reply", Need: check.NeedProcess, Ask: askLateReply},
		{ID: "rpc-server-request", Need: check.NeedProcess, Ask: askServerRequest},
		{ID: "rpc-not-mcp", Need: check.NeedProcess, Ask: askNotMCP},
		{ID: "rpc-id-collision", Need: check.NeedProcess, Ask: askIDCollision},
		{ID: "rpc-parse-error-survival", Need: check.NeedProbe, Ask: askParseErrorSurvival},
		{ID: "rpc-error-code-reserved", Need: check.NeedProcess, Ask: askErrorCodeReserved},
	})
}
