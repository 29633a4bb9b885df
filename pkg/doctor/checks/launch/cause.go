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

// causeChecks returns one check for each kind of cause in a failed server's output.
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

// askCause returns a check for one kind of cause.
func askCause(kind cause.Kind) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		c := e.Cause()
		if c == nil || c.Kind != kind {
			return nil
		}
		return []check.Finding{findingOf(e, c)}
	}
}

// findingOf returns the finding about the cause of a failure.
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
		f.Notes = evidence.LastOutput(failure)
		f.DropQuote(c.Line)
	}
	if e.FailsOnStdout() {
		f.Notes = append(f.Notes, "it printed the error to stdout instead of stderr")
	}
	return f
}

// endOf describes how the server failed.
func endOf(e *evidence.Evidence) (how string, failure *diagnose.Failure) {
	failure = cmp.Or(e.Clean.Failure, e.Clean.Died())
	switch {
	case failure == nil:
		return "tools/list " + e.RefusedList().Outcome(), nil
	case failure.How != "":
		return failure.How, failure
	case failure.Ending == diagnose.EndingSilent:
		return "no response within " + evidence.Rounded(failure.Lived), failure
	case failure.Waiting != "":
		return strings.TrimSpace(string(failure.Ending) + " " + failure.Waiting), failure
	}
	return string(failure.Ending), failure
}

// askNodeEngine reports an error if the server failed because of its Node version, and a warning if its package
// requires another version.
func askNodeEngine(e *evidence.Evidence) []check.Finding {
	wanted, outside := e.EngineMismatch()
	asks := fmt.Sprintf("%s: engines.node is %q; node -v prints %s", filepath.Join(wanted.Folder, "package.json"),
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
	f.Title = fmt.Sprintf("%s requires node %s, but this is %s", wanted.Name, wanted.Engines.Node, e.Node)
	return []check.Finding{f}
}
