// Package doctor diagnoses MCP servers and configuration. Sessions of pkg/servers talk to the servers, their events are
// the evidence, and checks turn evidence into findings.
//
// A server is started twice, if possible at the same time: as any client does (the clean run), and with a request of
// the other protocol era, invalid input and a signal (the probing run). HTTP servers get raw requests instead of the
// second run, and their TLS, network exposure and login metadata are inspected. Tools are never called with invented
// arguments.
package doctor
