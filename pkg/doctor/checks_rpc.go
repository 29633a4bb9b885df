package doctor

// rpcChecks hold the server's messages against JSON-RPC 2.0. What is no message at
// all is for the checks of framing.
func rpcChecks() []Check {
	return []Check{
		{ID: "rpc-version", Need: NeedProcess, Ask: askRPCVersion},
		{ID: "rpc-batch", Need: NeedProcess, Ask: askBatch},
		{ID: "rpc-id-type", Need: NeedProcess, Ask: askIDType},
		{ID: "rpc-id-null", Need: NeedProcess, Ask: askIDNull},
		{ID: "rpc-id-unknown", Need: NeedProcess, Ask: askRPCIDUnknown},
		{ID: "rpc-id-duplicate", Need: NeedProcess, Ask: askIDDuplicate},
		{ID: "rpc-shape", Need: NeedProcess, Ask: askShape},
		{ID: "rpc-duplicate-keys", Need: NeedProcess, Ask: func(e *Evidence) []Finding { return e.oddities(duplicateKey, "the values are %s") }},
		{ID: "rpc-depth", Need: NeedProcess, Ask: askDepth},
		{ID: "rpc-number-range", Need: NeedProcess, Ask: func(e *Evidence) []Finding { return e.oddities(bigNumber, "the number is %s") }},
		{ID: "rpc-surrogate", Need: NeedProcess, Ask: askRPCSurrogate},
		{ID: "rpc-late-reply", Need: NeedProcess, Ask: askLateReply},
		{ID: "rpc-server-request", Need: NeedProcess, Ask: askServerRequest},
		{ID: "rpc-not-mcp", Need: NeedProcess, Ask: askNotMCP},
		{ID: "rpc-id-collision", Need: NeedProcess, Ask: askIDCollision},
		{ID: "rpc-parse-error-survival", Need: NeedProbe, Ask: askParseErrorSurvival},
		{ID: "rpc-error-code-reserved", Need: NeedProcess, Ask: askErrorCodeReserved},
	}
}
