// Package servers holds MCP sessions: it opens them, retries, and keeps them in a Pool.
//
// Session.Request is the only way to ask a server anything, the handshake included. It uses a link: a process (stdio),
// a server over HTTP (http), or a process of toolx that keeps the server running. All pass what a server sends through
// one wire.Peer, so that ids, answers, the server's requests and their events work the same way. What happens is
// reported as events on an exec.Bus; nothing here prints.
package servers
