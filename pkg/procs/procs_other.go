//go:build !linux

package procs

import "time"

// Tree returns nil.
func Tree(int) []Process { return nil }

// Listening returns nil.
func Listening([]Process) []string { return nil }

// Queued returns zero.
func Queued([]Process) time.Duration { return 0 }

// Running returns zero.
func Running() int { return 0 }

// Locking returns false.
func Locking([]Process) bool { return false }

// Memory returns zero.
func Memory(int) int64 { return 0 }

// StateOf returns nil.
func StateOf(int) *State { return nil }
