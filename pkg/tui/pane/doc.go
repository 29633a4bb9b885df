// Package pane holds what the panes of the terminal interface share: themes, key bindings with their
// help, lists that scroll, and text fitted to cells. A pane is a plain struct that draws itself into a
// rectangle with Render(width, height). It starts nothing and waits for nothing; whatever takes time
// it returns as a command.
package pane
