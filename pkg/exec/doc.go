// Package exec runs tool calls. It holds the one collection of tools (Registry),
// the one way to run any of them (Executor), and the words for what happens on
// the way (Event) and at the end (Result).
//
// A call goes through fixed stations: the tool exists, its arguments are
// normalized, they are valid, it runs under its timeouts, its output is shaped.
// Whoever calls a tool (the call command, the TUI, a model, the MCP server side)
// goes through Executor.Call; there is no second path.
//
// The package knows nothing of processes, HTTP, terminals or files of
// configuration: what runs a tool stands behind the Implementation interface.
package exec
