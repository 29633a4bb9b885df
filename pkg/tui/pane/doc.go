// Package pane is what the panes of the terminal interface share: the look, keys
// with their help, lists that scroll, and text that is fitted to cells. A pane is a
// plain struct that draws itself into a rectangle with Render(width, height); it
// starts nothing and waits for nothing, and whatever takes time it returns as a
// command.
package pane
