package servers

import (
	"errors"

	"toolx/pkg/cause"
	"toolx/pkg/servers/diagnose"
)

// endingKinds are the kinds of the endings that say more about another start than any output does. The others are
// judged by the output.
var endingKinds = map[Ending]cause.Kind{
	EndingNotFound: cause.Program, EndingNotStarted: cause.Program,
	EndingUnset: cause.Variable, EndingUnusable: cause.Config, EndingMisconfigured: cause.Config,
	EndingNoHeaders: cause.Config, EndingUnauthorized: cause.Login,
	EndingSilent: cause.Silence, EndingUnfinished: cause.Silence, EndingUnanswered: cause.Silence,
}

// Policy returns whether another start can help (MCP-6).
func (f *Failure) Policy() cause.Policy {
	var failed *HTTPError
	kind, decided := endingKinds[f.Ending]
	switch {
	case f.Judged != "":
		return f.Judged
	case errors.As(f.Reason, &failed):
		return failed.causeKind().Policy()
	case decided:
		return kind.Policy()
	}
	switch c := f.Cause(); {
	case c.Policy() != cause.Unknown:
		return c.Policy()
	case f.Ending == EndingRefused, f.Ending == EndingMalformed && f.URL == "":
		return cause.NotMCP.Policy()
	case f.Ending == EndingExited && !diagnose.Printed(f.Stdout) && !diagnose.Printed(f.StderrTail):
		return cause.Idle.Policy()
	}
	return cause.Unknown
}

// again reports whether to start a server once more after err, with which an attempt failed (MCP-6). An explicit
// number of retries is kept, whatever the failure, but for a missing program: the specification would retry that too.
func (d *dial) again(err error) bool {
	var failure *Failure
	switch {
	case !errors.As(err, &failure):
		return true
	case failure.final, failure.Ending == EndingNotFound, failure.Ending == EndingClosed:
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
