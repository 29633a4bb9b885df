package evidence

import (
	"cmp"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Cause returns the cause in the server's output for a failed start, an early exit or an error from tools/list; nil if
// there is no failure or no known cause.
func (e *Evidence) Cause() *cause.Cause {
	if e.Local() == nil || e.Clean == nil {
		return nil
	}
	return Once(&e.Kept, func() *cause.Cause {
		output, failed := e.output()
		if !failed {
			return nil
		}
		output.Node = e.Node
		if found, outside := e.EngineMismatch(); outside {
			output.Engines = found.Engines.Node
		}
		c := cause.Diagnose(output)
		if failure := e.failed(); failure != nil && !e.Initialized().Answered() {
			if c == nil {
				c = e.lateCause(failure)
			}
			c = failure.Explain(c, e.Launch, e.Clean.Began)
		}
		return c
	})
}

// lateCause returns the backend that a silent server could not reach, if it reports that only after it timed out:
// database clients wait for half a minute too.
func (e *Evidence) lateCause(failure *diagnose.Failure) *cause.Cause {
	closed := e.Clean.StdinClosed()
	if failure.Ending != diagnose.EndingSilent || closed.IsZero() {
		return nil
	}
	late := failure.Output()
	late.Stderr, late.Stdout = nil, nil
	for _, line := range EventsOf[wire.StderrLine](e.Clean) {
		if line.At.After(closed) {
			late.Stderr = append(late.Stderr, line.Text)
		}
	}
	if c := cause.Diagnose(late); c != nil && c.Kind == cause.Backend {
		return c
	}
	return nil
}

// FailsOnStdout reports whether the server printed the cause of its failed start to stdout.
func (e *Evidence) FailsOnStdout() bool {
	return !e.Handshaken() && slices.ContainsFunc(EventsOf[wire.PollutedLine](e.Clean),
		func(line wire.PollutedLine) bool { return e.SaysCause(string(line.Text)) })
}

// SaysCause reports whether a line of output is the cause of a failed start, which the finding about the failure
// quotes.
func (e *Evidence) SaysCause(line string) bool {
	c := e.Cause()
	return c != nil && !e.Handshaken() && c.Line != "" && strings.TrimSpace(line) == strings.TrimSpace(c.Line)
}

// failed returns the failure of the start or of the server during the session, or nil.
func (e *Evidence) failed() *diagnose.Failure { return cmp.Or(e.Clean.Failure, e.Clean.Died()) }

// output returns the server's output before it failed.
func (e *Evidence) output() (written cause.Output, failed bool) {
	failure := e.failed()
	if failure != nil && failure.Ending != diagnose.EndingNotFound && failure.Ending != diagnose.EndingNotStarted {
		return failure.Output(), true
	}
	refused := e.RefusedList()
	if failure != nil || refused == nil {
		return cause.Output{}, false
	}
	for _, line := range EventsOf[wire.StderrLine](e.Clean) {
		written.Stderr = append(written.Stderr, line.Text)
	}
	for _, line := range EventsOf[wire.PollutedLine](e.Clean) {
		written.Stdout = append(written.Stdout, string(line.Text))
	}
	written.Environ, written.Reply = e.Launch.Env, MemberText(MemberAt(refused.Error, "message"))
	return written, true
}

// RefusedList returns the tools/list to which the server responded with an error, or nil.
func (e *Evidence) RefusedList() *Exchange {
	if x := e.Clean.Exchange("tools/list", 0); x.Answered() && x.Error != nil {
		return x
	}
	return nil
}

// EngineMismatch returns the server's package; outside reports whether its engines field excludes the Node that runs
// it.
func (e *Evidence) EngineMismatch() (found cmdline.NodePackage, outside bool) {
	found, ok := e.NodePackage()
	return found, ok && found.Excludes(e.Node)
}
