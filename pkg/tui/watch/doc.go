// Package watch is the pane that shows what happens between toolx and its servers: stderr, the frames
// on the wire, logs and notices, past calls, and the latency of tools. It takes events, keeps a
// bounded number of them, and draws only the rows on the screen, so that a server that prints without
// end costs no more than a quiet one. It counts dropped events and shows the count.
package watch
