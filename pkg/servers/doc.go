// Package servers holds MCP sessions: it starts server processes and speaks
// newline-delimited JSON-RPC with them, or reaches servers over HTTP; it retries, and
// keeps sessions in a Pool. It is the only place that makes SDK clients and transports.
//
// toolx owns the child process, not the SDK. A server's stdout goes through a
// framer and a classifier of toolx's own, so that every line becomes a message or
// an event that says what is wrong with it; only messages reach mcp-go. Over HTTP,
// mcp-go's transports stand on an http.RoundTripper of toolx's own, which takes every
// message by the same code. What happens on the way is told as events on an exec.Bus;
// nothing here prints.
package servers
