// Package tui is the terminal interface: servers with their tools, resources and prompts (items:
// item.go), forms made from schemas, calls and results, and the messages and logs of the servers.
//
// The model (model.go) is the wiring of its parts: the tree, the page, the calls (calls.go), the servers
// (supervisor.go), the questions of servers (question.go), suggestions, subscriptions and what is copied.
// All of them share the theme, the clock, the status line and the dialog (shared.go).
//
// Whatever takes time runs in a command. Its answer comes back as a function to run in Update (later);
// an answer for something that no longer exists is dropped. Panes are plain structs that draw
// themselves into a rectangle (see package pane). The interface uses the same config, pool, executor
// and events as the command line.
//
// Requests from servers to the user arrive through Questions and are drawn over the panes until they
// are answered or withdrawn.
package tui
