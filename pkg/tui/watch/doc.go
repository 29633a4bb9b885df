// Package watch is the pane that shows what happens between toolx and its servers:
// stderr, the frames on the wire, logs and notices, the calls that were made, and how
// long a tool takes. It takes events, keeps a bounded number of them, and draws those
// rows alone that are on the screen: a server that prints without end costs no more
// than a quiet one. What was dropped is counted and told.
package watch
