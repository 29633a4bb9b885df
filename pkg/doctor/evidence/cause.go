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

// Cause returns why there is no session with the server, why it ended, or why it refuses to list its tools, as far as
// its output says so; nil if it does not, or if nothing of that happened.
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

// lateCause returns what a silent server could not reach, as it says only after it was given up: clients of databases
// wait for half a minute too. It is nil if the server says nothing of that.
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

// FailsOnStdout reports whether the line that says why the server failed to start is one that it wrote to stdout.
func (e *Evidence) FailsOnStdout() bool {
	return !e.Handshaken() && slices.ContainsFunc(EventsOf[wire.PollutedLine](e.Clean),
		func(line wire.PollutedLine) bool { return e.SaysCause(string(line.Text)) })
}

// SaysCause reports whether a line of output is the one that says why the server failed to start. A finding about the
// failure quotes it.
func (e *Evidence) SaysCause(line string) bool {
	c := e.Cause()
	return c != nil && !e.Handshaken() && c.Line != "" && strings.TrimSpace(line) == strings.TrimSpace(c.Line)
}

// failed returns how the session, or the server after it, came to its end unasked; nil if it did not.
func (e *Evidence) failed() *diagnose.Failure { return cmp.Or(e.Clean.Failure, e.Clean.Died()) }

// output returns what the server wrote before it failed.
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

// RefusedList returns the tools/list that the server answered with an error, or nil.
func (e *Evidence) RefusedList() *Exchange {
	if x := e.Clean.Exchange("tools/list", 0); x.Answered() && x.Error != nil {
		return x
	}
	return nil
}

// EngineMismatch returns the server's package, if the Node that runs it is outside of what the package asks for.
func (e *Evidence) EngineMismatch() (found cmdline.NodePackage, outside bool) {
	found, ok := e.NodePackage()
	return found, ok && found.Excludes(e.Node)
}
