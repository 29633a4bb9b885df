// Package tui is the terminal interface: servers with their tools, resources and
// prompts (items: item.go), forms made from schemas, calls and results, and what servers
// write meanwhile.
//
// There is one model (model.go). Messages say what happened; each kind has its
// update_<subject>.go. What takes time runs in commands, and what comes back too
// late, for something that is gone, is dropped. Panes are plain structs that draw
// themselves into a rectangle (see package pane). Everything is asked of the same
// config, pool, executor and events as on the command line.
//
// What servers ask of the user comes through Questions, and stands over the panes until
// it is answered or withdrawn (question.go).
package tui
