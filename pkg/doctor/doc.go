// Package doctor finds out what is wrong with MCP servers and with the config that names them. It judges: sessions and
// wires of pkg/servers do the talking, their events are the evidence, and a check is a question about it.
//
// A server is started twice: once as any client does (the clean run), once with a probe of the other era, hostile input
// and a signal (the probing run), if possible at the same time. One that is reached by HTTP has raw exchanges instead
// of the second, and a look at what stands around it. Nothing that exists is ever called with invented arguments.
package doctor
