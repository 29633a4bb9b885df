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
)

// start is a failed start of a process.
type start struct {
	*Failure
	launch *config.Resolved
	began  time.Time
}

// Explain returns why a process failed to start; nil if nothing shows it. printed is the cause that its output shows,
// nil if there is none. began is when the process started.
func (f *Failure) Explain(printed *cause.Cause, launch *config.Resolved, began time.Time) *cause.Cause {
	p, c := &start{f, launch, began}, printed
	switch {
	case c == nil:
	case c.Kind == cause.Idle && !p.printed():
		c = nil
	case c.Kind == cause.HTTP && p.State != nil && len(p.State.Listening) > 0: // its ports were tried
		c = first(p.connecting, p.overHTTP, p.state)
	}
	command, args := cmdline.Unwrapped(launch.Command, launch.Args)
	if run, ok := cmdline.ParseDocker(command, args); ok {
		c = inContainer(c, run)
	}
	if launcher, ok := cmdline.ParseLauncher(command, args); ok && c != nil && c.Kind == cause.Program {
		c = inPackage(c, launcher, launch)
	}
	if c == nil {
		c = p.observed()
	}
	if c != nil && (c.Kind == cause.Subcommand || c.Kind == cause.Argument ||
		slices.Contains(c.Fixes, cause.NoServerFix)) {
		c = withOtherProgram(c, launch)
	}
	if c != printed {
		c = c.Fit(p.Entry)
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
func (p *start) observed() *cause.Cause {
	switch {
	case p.Buffered:
		return &cause.Cause{
			Kind: cause.Other, What: "its output is buffered until its stdin closes",
			Fixes: []string{
				"in the server: flush stdout after each message",
				"from outside, for Python: start it with python -u, or add PYTHONUNBUFFERED=1 to its env",
				"from outside, for others: stdbuf -oL COMMAND",
			},
		}
	case p.Ending == EndingSilent:
		return first(p.withoutProgram, p.fromLog, p.connecting, p.overHTTP, p.state)
	case p.Ending == EndingExited && !p.printed():
		return p.silentEnd()
	}
	return nil
}

// silentEnd explains a process that ended and printed nothing by its exit status; nil if that does not say why.
func (p *start) silentEnd() *cause.Cause {
	const unsettled = "exit status 13" // of Node, which says why only from version 22 on
	switch p.How {
	case unsettled:
		if cmdline.Script(p.launch.Command, p.launch.Args, p.launch.Cwd, p.launch.Env) != "" {
			c := cause.Diagnose(cause.Output{Stderr: []string{"Detected unsettled top-level await"}})
			c.Line = "" // the process did not print it
			return c
		}
	case "exit status 0":
		return observed("it prints nothing and exits without an error, like a program that is not a server",
			cause.NoServerFix,
			"in the server: print on stderr why it exits; otherwise keep reading stdin until it is closed")
	}
	return nil
}

// printed reports whether a server printed anything; what npx says of itself does not count.
func (f *Failure) printed() bool {
	return slices.ContainsFunc(slices.Concat(f.Stdout, f.StderrTail), func(line string) bool {
		return strings.TrimSpace(line) != "" && !ofNPM().MatchString(line)
	})
}

// ofNPM matches the lines that npx prints before what it runs, or behind it.
var ofNPM = expression(`^npm (?:notice|warn|WARN)\b`)

// withoutProgram returns the cause of an interpreter that was given no program; nil if it may have been.
func (p *start) withoutProgram() *cause.Cause {
	command, args := cmdline.Unwrapped(p.launch.Command, p.launch.Args)
	name := cmdline.BaseName(command)
	readsStdin := []string{"node", "python", "python3", "ruby", "perl", "php", "sh", "bash", "zsh"}
	other := func(arg string) bool { return !slices.Contains([]string{"-", "-u", "-i", "-s"}, arg) }
	if !slices.Contains(readsStdin, name) || slices.ContainsFunc(args, other) {
		return nil
	}
	return &cause.Cause{
		Kind: cause.Argument, What: name + " has no program to run: it waits for one on stdin",
		Fixes: []string{"add the server's file to args of this server"},
	}
}

// fromLog returns the cause that the log shows which the process has open; nil if it has none or shows none.
func (p *start) fromLog() *cause.Cause {
	if p.State == nil || p.State.Log == "" {
		return nil
	}
	logged := p.Output()
	logged.Stderr, logged.Stdout = cmdline.LogSince(p.State.Log, p.began), nil
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
