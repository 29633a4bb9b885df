//go:build !linux

package procs

import "time"

// Tree returns a process and its descendants, parents before their children; nil if it is gone.
func Tree(int) []Process { return nil }

// Listening returns nil.
func Listening([]Process) []string { return nil }

// Queued returns zero.
func Queued([]Process) time.Duration { return 0 }

// Memory returns zero.
func Memory(int) int64 { return 0 }

// StateOf returns what a process is doing.
func StateOf(int) *State { return nil }
