//go:build !linux

package procs

// Tree returns nil.
func Tree(int) []Process { return nil }

// Memory returns zero.
func Memory(int) int64 { return 0 }

// StateOf returns nil.
func StateOf(int) *State { return nil }
