// Package tui is the terminal interface: servers with their tools, resources and prompts (items:
// item.go), forms made from schemas, calls and results, and the messages and logs of the servers.
//
// There is one model (model.go). Messages say what happened; each kind has its update_<subject>.go.
// Whatever takes time runs in a command; an answer for something that no longer exists is dropped.
// Panes are plain structs that draw themselves into a rectangle (see package pane). The interface uses
// the same config, pool, executor and events as the command line.
//
// Requests from servers to the user arrive through Questions and are drawn over the panes until they
// are answered or withdrawn (question.go).
package tui
