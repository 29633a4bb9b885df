package evidence

import "toolx/pkg/procs"

// Orphan is a process of a server that outlived it.
type Orphan struct {
	procs.Process
	// Pipes are the pipes of the server that it kept open: "stdout", "stderr".
	Pipes []string
}
