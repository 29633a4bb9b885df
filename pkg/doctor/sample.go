package doctor

import (
	"runtime"

	"toolx/pkg/doctor/evidence"
)

// birth tells a process from a later one of the same number.
type birth struct {
	pid     int
	started uint64 // ticks since the system's start
}

// noSample says why the processes of the clean run were not measured.
func noSample(e *evidence.Evidence) string {
	switch {
	case !e.Handshaken():
		return "there was no handshake"
	case runtime.GOOS != "linux":
		return "processes are measured on Linux only"
	}
	return "the process ended before it was measured"
}

// Memory is how much memory a process and its descendants have in use, in bytes; ok
// is false where that is not known.
func Memory(pid int) (bytes int64, ok bool) {
	bytes = treeMemory(pid)
	return bytes, bytes > 0
}
