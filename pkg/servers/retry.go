package servers

import (
	"errors"

	"toolx/pkg/cause"
	"toolx/pkg/servers/diagnose"
)

// again reports whether to start a server once more after err, with which an attempt failed (MCP-6). An explicit
// number of retries is kept, whatever the failure, but for a missing program: the specification would retry that too.
func (d *dial) again(err error) bool {
	var failure *diagnose.Failure
	switch {
	case !errors.As(err, &failure):
		return true
	case failure.Final, failure.Ending == diagnose.EndingNotFound, failure.Ending == diagnose.EndingClosed:
		return false
	case d.Insists:
		return true
	}
	switch failure.Policy() {
	case cause.Transient:
		return true
	case cause.Unknown:
		return !d.server.OnCommandLine() // else someone is debugging it
	}
	return false
}
