package servers

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

// Explained returns why a server failed to start; nil if nothing shows it. c is the cause that its output shows, nil if
// there is none: then its command line, the log that it has open, and what its process waits for are looked at. Any
// other cause is returned as it is, but that a container may lack a variable, and an npm package its program, or have
// another one. began is when the process started.
func (f *Failure) Explained(c *cause.Cause, launch *config.Resolved, began time.Time) *cause.Cause {
	return withOtherProgram(f.explained(c, launch, began), launch).Fit(entryOf(launch))
}

// explained is Explained without a look at the package's other programs.
func (f *Failure) explained(c *cause.Cause, launch *config.Resolved, began time.Time) *cause.Cause {
	if c != nil && c.Kind == cause.Idle && !f.printed() {
		c = nil
	}
	if c != nil && c.Kind == cause.HTTP && f.State != nil && len(f.State.Listening) > 0 {
		if c = f.ofState(); c == nil { // no port of its own is one of MCP's
			c = f.ofDoing(launch)
		}
	}
	if c = inPackage(inContainer(c, launch), launch); c != nil {
		return c
	}
	switch {
	case f.Buffered:
		return &cause.Cause{
			Kind: cause.Other, What: "it answers only when its stdin is closed: its output stays in a buffer",
			Fixes: []string{
				"in the server: flush stdout after each message",
				"from outside, for Python: start it with python -u, or add PYTHONUNBUFFERED=1 to its env",
				"from outside, for others: stdbuf -oL COMMAND",
			},
		}
	case f.Ending == EndingSilent:
		if c := withoutProgram(launch); c != nil {
			return c
		}
		if c := f.fromOpenLog(began); c != nil {
			return c
		}
		if c := f.ofState(); c != nil {
			return c
		}
		return f.ofDoing(launch)
	case f.Ending == EndingExited && !f.printed():
		return ofSilentEnd(f.How, launch)
	}
	return nil
}

// ofSilentEnd explains a server that printed nothing by its exit status; nil if that does not say why.
func ofSilentEnd(how string, launch *config.Resolved) *cause.Cause {
	const unsettled = "exit status 13" // of Node, which says why only from version 22 on
	switch how {
	case unsettled:
		if cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env) != "" {
			return cause.Unsettled("")
		}
	case "exit status 0":
		return observed("it prints nothing and ends without an error, as a program that is no server",
			cause.NoServerFix,
			"in the server: write on stderr why it ends; if it should not, keep reading stdin until it is closed")
	}
	return nil
}

// printed reports whether a server printed anything; what npx says of itself does not count.
func (f *Failure) printed() bool {
	return slices.ContainsFunc(slices.Concat(f.Stdout, f.Stderr), func(line string) bool {
		return strings.TrimSpace(line) != "" && !ofNPM().MatchString(line)
	})
}

// ofNPM matches the lines that npx prints before what it runs, or behind it.
var ofNPM = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^npm (?:notice|warn|WARN)\b`) })

// withoutProgram returns the cause of a server that does not answer because what is to run its program was given none;
// nil if it may have been.
func withoutProgram(launch *config.Resolved) *cause.Cause {
	command, args := cmdline.Unwrapped(launch.Command, launch.Args)
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

// fromOpenLog returns the cause that the log shows which a silent server has open; nil if it has none or shows none.
func (f *Failure) fromOpenLog(began time.Time) *cause.Cause {
	if f.State == nil || f.State.Log == "" {
		return nil
	}
	return LogCause(f.State.Log, cmdline.LogSince(f.State.Log, began), f.Output())
}

// LogCause returns the cause that the lines of a server's log show; nil if they show none. path is the log's, and
// printed what the server wrote besides.
func LogCause(path string, lines []string, printed cause.Output) *cause.Cause {
	printed.Stderr, printed.Stdout = lines, nil
	c := cause.Of(printed)
	if c == nil {
		return nil
	}
	if c.Quotes() {
		c = observed("its log says "+c.What, c.Fixes...)
	}
	c.Fixes = append(c.Fixes, LogsTo(path))
	return c
}

// LogsTo names the log of a server.
func LogsTo(path string) string { return "it logs to " + path }

// observed returns a cause that the process of a server or its log shows.
func observed(what string, fixes ...string) *cause.Cause {
	return &cause.Cause{Kind: cause.Observed, What: what, Fixes: fixes}
}
