//go:build !linux

package procs

import (
	"os"
	"testing"
)

// TestNothingIsKnown: callers leave out what they would say of a process.
func TestNothingIsKnown(t *testing.T) {
	pid := os.Getpid()
	if tree, state := Tree(pid), StateOf(pid); tree != nil || state != nil || Memory(pid) != 0 {
		t.Errorf("%v, %v and %d, want nothing", tree, state, Memory(pid))
	}
	if sockets, queued := Listening(nil), Queued(nil); sockets != nil || queued != 0 {
		t.Errorf("%v and %v, want nothing", sockets, queued)
	}
}
