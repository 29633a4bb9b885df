// Package servers holds MCP sessions: it starts server processes and speaks newline-delimited JSON-RPC with them, or
// reaches servers over HTTP; it retries, and keeps sessions in a Pool.
//
// Session.Request is the only way to ask a server anything, the handshake included. It uses a link, which is a process
// or HTTP. Both links pass what a server sends through one peer, so that ids, answers, the server's requests and their
// events work the same way. A server's stdout goes through a framer and a classifier, so that every line becomes a
// message or an event that says what is wrong with it. The package reports what happens as events on an exec.Bus;
// nothing here prints.
package servers
