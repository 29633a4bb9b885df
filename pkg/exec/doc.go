// Package exec runs tool calls. It has the collection of tools (Registry), the only way to run them (Executor), and the
// types for events during a call (Event) and its outcome (Result).
//
// A call goes through fixed steps: the tool is found, its arguments are normalized and validated, it runs under its
// timeouts, and its output is shaped. Every caller (the call command, the TUI, a model, the MCP server side) uses
// Executor.Call; there is no second path.
//
// The package is independent of processes, HTTP, terminals and config files: tools run through the Implementation
// interface.
package exec
