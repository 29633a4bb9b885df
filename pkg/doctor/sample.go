package doctor

import (
	"runtime"
	"time"
)

// ProcessSample is what a process tree used while it was left alone.
type ProcessSample struct {
	RSS       int64         // bytes, the whole tree; memory that processes share counts in each
	CPU       time.Duration // used during Over
	Over      time.Duration
	Settled   time.Duration // the part of CPU that the second half of Over took
	Processes int
	Listening []string // "0.0.0.0:3000 (pid 12)"
}

// Load is the share of one processor that the tree used for as long as it was
// watched: the lesser of the two halves, so that the rest of a start is none.
func (s *ProcessSample) Load() float64 {
	half := s.Over / 2
	if half <= 0 {
		return 0
	}
	return min(s.CPU-s.Settled, s.Settled).Seconds() / half.Seconds()
}

// ProcessState is what a process does that does not answer.
type ProcessState struct {
	State string // a letter and its meaning: "S (sleeping)"
	Wait  string // where in the kernel it waits, empty where that is not told
	// Deaf says that the process has no pipe as its stdin any more.
	Deaf bool
}

// Orphan is a process of a server that outlived it.
type Orphan struct {
	Process
	// Holds are the pipes of the server that it kept open: "stdout", "stderr".
	Holds []string
}

// birth tells a process from a later one of the same number.
type birth struct {
	pid     int
	started uint64 // ticks since the system's start
}

// noSample says why the processes of the clean run were not measured.
func noSample(e *Evidence) string {
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
