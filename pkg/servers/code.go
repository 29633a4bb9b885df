package servers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// Explained returns why a server failed to start, by what it printed and by the package of Node that it belongs to: the
// log that it keeps there, and what its code looks for in vain. c is the cause that it printed, nil if there is none; a
// line that no rule knows gets a fix, and another cause is returned as it is. The process began at the time began. The
// answer is nil where the package tells nothing either.
func (f *Failure) Explained(c *cause.Cause, launch *config.Resolved, began time.Time) *cause.Cause {
	return f.explained(c, codeOf(launch, began))
}

// code is what is known of the code of a server for Node.
type code struct {
	cmdline.Source // empty for a server that node does not run
	launch         *config.Resolved
	unset          []string // the variables that it reads and that have no value
	log            string   // the file in its package in which it has logged since it began; empty where there is none
	logged         []string // the last lines of that
}

// codeOf reads the code of a server, and its log.
func codeOf(launch *config.Resolved, began time.Time) *code {
	script := cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env)
	source := cmdline.SourceOf(script)
	in := &code{Source: source, launch: launch, unset: source.Unset(launch.Env)}
	if found, ok := cmdline.PackageAbove(script); ok {
		in.log, in.logged = found.OwnLog(began.Add(-time.Second)) // file systems have coarse clocks
	}
	return in
}

// explained is Explained with the server's code.
func (f *Failure) explained(c *cause.Cause, in *code) *cause.Cause {
	switch {
	case c != nil && (c.Kind == cause.Said || missesVariables(c)):
		return in.withUnset(c)
	case c != nil:
		return c
	case f.Ending == EndingSilent:
		return cmp.Or(in.fromLog(f.Output()), in.silent())
	case f.Ending == EndingExited && len(f.Stdout)+len(f.Stderr) == 0:
		return cmp.Or(in.fromLog(f.Output()), in.exited(f.How))
	}
	return nil
}

// fromLog returns the cause that the server's own log shows; nil if it has none. printed is what the server wrote.
func (in *code) fromLog(printed cause.Output) *cause.Cause {
	if in.log == "" {
		return nil
	}
	printed.Stderr, printed.Stdout = in.logged, nil
	c := cause.Of(printed)
	if c == nil {
		return nil
	}
	if c.Kind == cause.Said {
		c = byCode("its log says "+c.What, c.Fixes...)
	}
	c.Fixes = append(c.Fixes, "it logs to "+in.log)
	return c
}

// missesVariables reports whether a server misses variables without their names.
func missesVariables(c *cause.Cause) bool {
	return c.Kind == cause.Config && strings.Contains(strings.ToLower(c.Line), "environment variable")
}

// withUnset adds a fix to a cause: the code reads variables that are not set. Where a line of the server itself says
// what to do, they are those that it may mean: "Expected parameter accessToken", ACME_ACCESS_TOKEN.
func (in *code) withUnset(c *cause.Cause) *cause.Cause {
	unset := in.unset
	if len(c.Fixes) > 0 && !missesVariables(c) {
		line := strings.ToLower(c.Line)
		unset = slices.DeleteFunc(slices.Clone(unset), func(name string) bool {
			return !strings.Contains(line, strings.ToLower(name[strings.LastIndexByte(name, '_')+1:]))
		})
	}
	if len(unset) == 0 {
		return c
	}
	completed := *c
	completed.Fixes = append(slices.Clone(c.Fixes), addUnset(unset))
	return &completed
}

// addUnset is the fix for variables that the code reads.
func addUnset(unset []string) string {
	return "add to env of this server what its code reads, if it needs that: " + strings.Join(unset, ", ")
}

// exited explains a server that ended and printed nothing; how is its exit status.
func (in *code) exited(how string) *cause.Cause {
	well := how == "exit status 0"
	if well {
		lookup := cmdline.LookupIn(in.launch.Cwd, in.launch.Env)
		if script := cmdline.UnknownByLink(in.launch.Command, lookup); script != "" {
			return byCode("a link starts it, and its script runs only if process.argv[1] is its own path",
				"in the server: compare with pathToFileURL(realpathSync(process.argv[1])).href",
				"from outside: command node, args "+script)
		}
	}
	switch {
	case len(in.unset) > 0:
		return byCode(in.readsUnset(), addUnset(in.unset), "in the server: write on stderr why it ends")
	case in.Subcommand != "" && !slices.Contains(in.launch.Args, in.Subcommand):
		return byCode(in.Subcommand+" is missing, a sub-command that its code looks for",
			"add the sub-command to args of this server: "+in.Subcommand, "in the server: write its usage on stderr")
	case well:
		return byCode("it prints nothing and ends without an error, as a program that is no server",
			"see its page and its --help: it may want a sub-command or a flag in args of this server, or be no MCP server",
			"in the server: write on stderr why it ends; if it should not, keep reading stdin until it is closed")
	}
	return nil
}

// silent explains a server that does not answer and prints no error.
func (in *code) silent() *cause.Cause {
	switch {
	case in.Stdio && !slices.Contains(in.launch.Args, "--stdio"):
		return byCode("--stdio is missing, which its code looks for", "add --stdio to args of this server")
	case in.TextStdin:
		return byCode("its code sets an encoding for stdin, where the TypeScript SDK wants bytes",
			"in the server: take out process.stdin.setEncoding, which makes the SDK loop for ever")
	case len(in.unset) > 0:
		return byCode(in.readsUnset(),
			"set in env of this server what its code reads: it may wait for a service that is not there",
			"in the server: answer initialize before anything slow; connect to backends when a tool needs them")
	}
	return nil
}

// byCode returns a cause that the code of a server shows.
func byCode(what string, fixes ...string) *cause.Cause {
	return &cause.Cause{Kind: cause.Code, What: what, Fixes: fixes}
}

// readsUnset says that variables have no value: "A, B, which its code reads, are not set".
func (in *code) readsUnset() string {
	verb := " are not set"
	if len(in.unset) == 1 {
		verb = " is not set"
	}
	return strings.Join(in.unset, ", ") + ", which its code reads," + verb
}
