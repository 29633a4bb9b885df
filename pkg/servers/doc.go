// Package servers holds MCP sessions: it starts server processes and speaks
// newline-delimited JSON-RPC with them, or reaches servers over HTTP; it retries, and
// keeps sessions in a Pool.
//
// Session.Request is the only way to ask a server anything, the handshake included. It
// stands on a link, which is a process or HTTP, and both links take what a server sends
// through one peer, so that ids, answers, requests of the server and their events are the
// same. A server's stdout goes through a framer and a classifier, so that every line
// becomes a message or an event that says what is wrong with it. What happens is told as
// events on an exec.Bus; nothing here prints.
package servers
