// Package exec runs tool calls. It holds the one collection of tools (Registry), the one way to run any of them
// (Executor), and the types for what happens during a call (Event) and how it ends (Result).
//
// A call goes through fixed steps: the tool is found, its arguments are normalized and validated, it runs under its
// timeouts, and its output is shaped. Every caller (the call command, the TUI, a model, the MCP server side) uses
// Executor.Call; there is no second path.
//
// The package knows nothing of processes, HTTP, terminals or config files: whatever runs a tool implements the
// Implementation interface.
package exec
