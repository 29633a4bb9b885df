// Package diagnose finds out why the process of a server failed to start: from what it printed, what it does, and the
// package manager or the container that runs it.
package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/procs"
)

// Process is the process of a server that failed to start, with what toolx saw of it.
type Process struct {
	Launch *config.Resolved
	Output cause.Output
	Stdout []string // the first lines of stdout that were not messages
	Began  time.Time
	Lived  time.Duration
	// State is what the process did when it was given up without an answer; nil where that is not known.
	State *procs.State
	// Unread is how many bytes of stdin it had not read then, -1 if that is not known. Endpoint is the URL at which it
	// answered an HTTP request as MCP; empty if it did not.
	Unread   int
	Endpoint string
	// Buffered reports whether a silent server answered when its stdin was closed.
	Buffered bool
}

// Cause returns why the process failed to start; nil if nothing shows it. printed is the cause that its output shows,
// nil if there is none.
func (p *Process) Cause(printed *cause.Cause) *cause.Cause {
	c := printed
	switch {
	case c == nil:
	case c.Kind == cause.Idle && !p.printed():
		c = nil
	case c.Kind == cause.HTTP && p.State != nil && len(p.State.Listening) > 0: // its ports were tried
		c = first(p.connecting, p.overHTTP, p.Doing)
	}
	command, args := cmdline.Unwrapped(p.Launch.Command, p.Launch.Args)
	if run, ok := cmdline.ParseDocker(command, args); ok {
		c = inContainer(c, run)
	}
	if launcher, ok := cmdline.ParseLauncher(command, args); ok && c != nil && c.Kind == cause.Program {
		c = inPackage(c, launcher, p.Launch)
	}
	if c == nil {
		c = p.observed()
	}
	if c != nil && (c.Kind == cause.Subcommand || c.Kind == cause.Argument ||
		slices.Contains(c.Fixes, cause.NoServerFix)) {
		c = withOtherProgram(c, p.Launch)
	}
	if c != printed {
		c = c.Fit(p.Output.Entry)
	}
	return c
}

// first returns the first cause that is found; nil if there is none.
func first(finds ...func() *cause.Cause) *cause.Cause {
	for _, find := range finds {
		if c := find(); c != nil {
			return c
		}
	}
	return nil
}

// observed returns the cause of a process whose output shows none; nil if nothing else shows one either.
func (p *Process) observed() *cause.Cause {
	switch {
	case p.Buffered:
		return &cause.Cause{
			Kind: cause.Other, What: "it answers only when its stdin is closed: its output stays in a buffer",
			Fixes: []string{
				"in the server: flush stdout after each message",
				"from outside, for Python: start it with python -u, or add PYTHONUNBUFFERED=1 to its env",
				"from outside, for others: stdbuf -oL COMMAND",
			},
		}
	case p.Output.Alive:
		return first(p.withoutProgram, p.fromLog, p.connecting, p.overHTTP, p.Doing)
	case !p.printed():
		return p.silentEnd()
	}
	return nil
}

// silentEnd explains a process that ended and printed nothing by its exit status; nil if that does not say why.
func (p *Process) silentEnd() *cause.Cause {
	const unsettled = "exit status 13" // of Node, which says why only from version 22 on
	switch p.Output.Ended {
	case unsettled:
		if cmdline.Script(p.Launch.Command, p.Launch.Args, p.Launch.Cwd, p.Launch.Env) != "" {
			return cause.Diagnose(cause.Output{Stderr: []string{"Detected unsettled top-level await"}})
		}
	case "exit status 0":
		return observed("it prints nothing and ends without an error, as a program that is no server",
			cause.NoServerFix,
			"in the server: write on stderr why it ends; if it should not, keep reading stdin until it is closed")
	}
	return nil
}

// printed reports whether a server printed anything.
func (p *Process) printed() bool { return Printed(p.Stdout) || Printed(p.Output.Stderr) }

// Printed reports whether lines have any output of a server's own: what npx says of itself does not count.
func Printed(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.TrimSpace(line) != "" && !ofNPM().MatchString(line)
	})
}

// ofNPM matches the lines that npx prints before what it runs, or behind it.
var ofNPM = expression(`^npm (?:notice|warn|WARN)\b`)

// withoutProgram returns the cause of an interpreter that was given no program; nil if it may have been.
func (p *Process) withoutProgram() *cause.Cause {
	command, args := cmdline.Unwrapped(p.Launch.Command, p.Launch.Args)
	name := cmdline.BaseName(command)
	readsStdin := []string{"node", "python", "python3", "ruby", "perl", "php", "sh", "bash", "zsh"}
	other := func(arg string) bool { return !slices.Contains([]string{"-", "-u", "-i", "-s"}, arg) }
	if !slices.Contains(readsStdin, name) || slices.ContainsFunc(args, other) {
		return nil
	}
	return &cause.Cause{
		Kind: cause.Argument, What: name + " is given no program: it waits for one on stdin",
		Fixes: []string{"add the server's file to args of this server"},
	}
}

// fromLog returns the cause that the log shows which the process has open; nil if it has none or shows none.
func (p *Process) fromLog() *cause.Cause {
	if p.State == nil || p.State.Log == "" {
		return nil
	}
	logged := p.Output
	logged.Stderr, logged.Stdout = cmdline.LogSince(p.State.Log, p.Began), nil
	c := cause.Diagnose(logged)
	if c == nil {
		return nil
	}
	if c.Quotes() {
		c = observed("its log says "+c.What, c.Fixes...)
	}
	c.Fixes = append(c.Fixes, LogsTo(p.State.Log))
	return c
}

// LogsTo names the log of a server.
func LogsTo(path string) string { return "it logs to " + path }

// observed returns a cause that the process of a server or its log shows.
func observed(what string, fixes ...string) *cause.Cause {
	return &cause.Cause{Kind: cause.Observed, What: what, Fixes: fixes}
}

// expression compiles a regular expression when it is first needed.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
