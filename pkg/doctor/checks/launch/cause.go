package launch

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// causeChecks are the checks that find one kind of cause in what a server wrote before it failed.
func causeChecks() []check.Check {
	var checks []check.Check
	for _, kind := range []cause.Kind{
		cause.Variable, cause.Argument, cause.Subcommand, cause.Login, cause.Config, cause.Program, cause.Addon,
		cause.Package, cause.Backend,
	} {
		checks = append(checks, check.Check{ID: string(kind), Need: check.NeedProcess, Ask: askCause(kind)})
	}
	return checks
}

// askCause returns the question whether the server failed for a kind of cause.
func askCause(kind cause.Kind) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		c := e.Cause()
		if c == nil || c.Kind != kind {
			return nil
		}
		return []check.Finding{findingOf(e, c)}
	}
}

// findingOf returns a finding about why the server failed.
func findingOf(e *evidence.Evidence, c *cause.Cause) check.Finding {
	where := e.Place("command")
	switch c.Kind {
	case cause.Variable:
		where = e.Place("env")
	case cause.Argument, cause.Subcommand:
		where = e.Place("args")
	}
	where.Run = e.Clean.Name
	ended, failure := endOf(e)
	if x := e.RefusedList(); x != nil {
		where.Method = x.Method
	} else if !e.Handshaken() {
		where.Phase = string(wire.PhaseStart)
	}
	if c.Line != "" {
		ended += ": " + evidence.Cut(check.Masked(c.Line))
	}
	f := check.At(where, "%s", ended)
	f.Title, f.Fix, f.Variables = check.Masked(c.What), words.Texts(c.Fixes, check.Masked), c.Variables
	if failure != nil && len(failure.Stderr)+len(failure.Stdout) > 1 {
		f.Notes = evidence.LastWords(failure)
		f.QuoteOnce(c.Line)
	}
	if e.FailsOnStdout() {
		f.Notes = append(f.Notes, "it printed the error to stdout instead of stderr")
	}
	return f
}

// endOf says in a few words how the server failed.
func endOf(e *evidence.Evidence) (how string, failure *diagnose.Failure) {
	failure = cmp.Or(e.Clean.Failure, e.Clean.Died())
	switch {
	case failure == nil:
		return "tools/list " + e.RefusedList().Outcome(), nil
	case failure.How != "":
		return failure.How, failure
	case failure.Ending == diagnose.EndingSilent:
		return "no answer within " + evidence.Rounded(failure.Lived), failure
	case failure.Waiting != "":
		return strings.TrimSpace(string(failure.Ending) + " " + failure.Waiting), failure
	}
	return string(failure.Ending), failure
}

// askNodeEngine finds a server that fails because of the Node that runs it; and, as a warning, one whose package asks
// for another Node, whatever else is wrong.
func askNodeEngine(e *evidence.Evidence) []check.Finding {
	wanted, outside := e.EngineMismatch()
	asks := fmt.Sprintf("%s: engines.node is %q; node -v says %s", filepath.Join(wanted.Folder, "package.json"),
		wanted.Engines.Node, e.Node)
	if c := e.Cause(); c != nil && c.Kind == cause.Runtime {
		f := findingOf(e, c)
		f.Severity = check.Error
		if outside {
			f.Notes = append(f.Notes, asks)
		}
		return []check.Finding{f}
	}
	if !outside {
		return nil
	}
	f := check.At(e.Place("command"), "%s", asks)
	f.Title = fmt.Sprintf("%s needs node %s, and this is %s", wanted.Name, wanted.Engines.Node, e.Node)
	return []check.Finding{f}
}
