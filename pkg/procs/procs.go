// Package procs reads what the system knows of running processes, without starting another program: a process and its
// descendants, their memory and sockets, and what a process waits for. It supports Linux only.
package procs

import "time"

// Process is one process of a server's tree.
type Process struct {
	PID, Parent int
	Command     []string // its arguments, the program first
	// Stdin and Stdout say that it shares these with the first process of its tree.
	Stdin, Stdout bool
}

// State is what a silent process does.
type State struct {
	State string // a letter and its meaning: "S (sleeping)"
	Wait  string // where in the kernel it waits, empty where that is not told
	// Deaf reports whether the stdin of the process is no longer a pipe.
	Deaf bool
	// Listening, Connecting and Connected are the addresses on which it and its descendants accept TCP connections,
	// those that have not answered their own, and those that have; each with its process: "127.0.0.1:3000 (pid 17)".
	Listening, Connecting, Connected []string
	// Used is the processor time that it and its descendants have used, and Queued the time for which they were ready
	// to run and got no processor.
	Used, Queued time.Duration
	// Log is a file named *.log that one of them has open, empty where there is none.
	Log string
	// Runs is the command of a program that it has started and that does not read the server's stdin, such as an
	// installer; empty where there is none.
	Runs string
}
