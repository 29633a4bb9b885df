// Package servers connects with MCP servers: a Pool opens each session when it is needed, with retries, and finds the
// server that has a tool.
//
// It makes the transport of each session: a process (stdio), a server over HTTP (http), or a process of toolx that
// keeps the server between commands (daemon). What is sent over it is up to a protocol.Session. What happens is
// reported as events on an exec.Bus; nothing here prints.
package servers
