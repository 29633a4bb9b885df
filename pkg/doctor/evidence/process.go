package evidence

import (
	"time"

	"toolx/pkg/procs"
)

// Start is one further start of a server, timed.
type Start struct {
	Initialize time.Duration // from the start of the process to the answer to initialize
	Err        error         // why there was no session
}

// ProcessSample is what a process tree used while it was left alone.
type ProcessSample struct {
	RSS       int64         // bytes, the whole tree; memory that processes share counts in each
	CPU       time.Duration // used during Over
	Over      time.Duration
	Settled   time.Duration // the part of CPU that the second half of Over took
	Processes int
	Listening []string // "0.0.0.0:3000 (pid 12)"
}

// BusyLoad is the share of a processor that an idle server may use: of 209 real ones, none does.
const BusyLoad = 0.2

// Load is the share of one processor that the tree used for as long as it was
// watched: the lesser of the two halves, so that the rest of a start is none.
func (s *ProcessSample) Load() float64 {
	half := s.Over / 2
	if half <= 0 {
		return 0
	}
	return min(s.CPU-s.Settled, s.Settled).Seconds() / half.Seconds()
}

// Orphan is a process of a server that outlived it.
type Orphan struct {
	procs.Process
	// Holds are the pipes of the server that it kept open: "stdout", "stderr".
	Holds []string
}

// Speed is what was measured of a server's answers, one request after the other.
type Speed struct {
	Pings     []time.Duration
	Lists     []time.Duration // of tools/list
	ListBytes int             // of its answer
	// Flood is how many pings were sent to see whether memory grows, zero where none
	// were; Before and After are what the process tree used, in bytes.
	Flood         int
	Before, After int64
}
