package doctor

// rpcChecks hold the server's messages against JSON-RPC 2.0. What is no message at
// all is for the checks of framing.
func rpcChecks() []Check {
	return []Check{
		rpcVersion(), rpcBatch(), rpcIDType(), rpcIDNull(), rpcIDUnknown(), rpcIDDuplicate(), rpcShape(),
		rpcDuplicateKeys(), rpcDepth(), rpcNumberRange(), rpcSurrogate(),
		rpcLateReply(), rpcServerRequest(), rpcNotMCP(), rpcIDCollision(),
		rpcParseErrorSurvival(), rpcErrorCodeReserved(),
	}
}
