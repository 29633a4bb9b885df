// Package cause determines from a server's output why it failed: the line that reports it, what is missing, and how to
// fix it. It is pure: the same output always has the same cause.
package cause

import (
	"cmp"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// Kind is a kind of cause. A kind that a doctor check covers has the id of the check.
type Kind string

// The kinds.
const (
	Variable   Kind = "env-missing"         // an environment variable
	Argument   Kind = "argument-missing"    // an argument or a flag of the command line
	Subcommand Kind = "subcommand-missing"  // the sub-command that starts the MCP server
	Login      Kind = "login-missing"       // credentials that a login provides
	Config     Kind = "config-missing"      // a config file, or something in it
	Backend    Kind = "backend-unreachable" // a service that the server depends on
	Program    Kind = "program-missing"     // a program that the server runs
	Addon      Kind = "native-addon"        // a compiled module that does not load
	Package    Kind = "package-broken"      // a module that the package should contain
	Runtime    Kind = "node-engine"         // a newer Node
	HTTP       Kind = "stdout-http-mode"    // it listens for HTTP and does not read stdin
	Signal     Kind = "signal"              // a signal ended it or a program that it ran
	Files      Kind = "files"               // a file, a folder, a disk, a permission or a local socket
	Busy       Kind = "busy"                // something is overloaded, or in use by another process
	Value      Kind = "value"               // an argument or variable with a value that it rejects
	Observed   Kind = "observed"            // from its process or its log; the server printed nothing
	Idle       Kind = "idle"                // it exited without an error
	Other      Kind = "other"               // a known cause without a kind of its own
	Said       Kind = "said"                // no rule matches: the cause is the server's own line
)

// HasCheck reports whether a doctor check covers exactly this kind.
func (k Kind) HasCheck() bool {
	return !slices.Contains([]Kind{Signal, Files, Busy, Value, Observed, Idle, Other, Said, ""}, k)
}

// Kinds that only decide on retries: for lines that no rule matches, and for failures without telling output.
const (
	Crash   Kind = "crash"   // an uncaught exception or a panic
	NotMCP  Kind = "not-mcp" // it responded, but not with MCP
	Silence Kind = "silence" // no response within the limit
)

// Output is what is known about a server that failed. Any field may be empty.
type Output struct {
	Stderr, Stdout []string // the kept lines; of stdout without responses
	// Reply is the message of the error response to a request. It takes precedence over any line.
	Reply string
	// Alive reports whether the server is still running. Then only a clear error counts as the cause.
	Alive bool
	// Done reports whether it exited with status 0.
	Done bool
	// Ended is its exit status or the signal that ended it, as os.ProcessState prints it; empty if unknown.
	Ended string
	// Args are the arguments of its command line, and Folder is its working directory; empty if unknown.
	Args   []string
	Folder string
	// Entry describes how the server was started; fixes depend on it.
	Entry Entry
	// Question is the prompt that it prints although there is no terminal, as QuestionIn returns it.
	Question string
	// Environ is the server's environment, as NAME=value pairs. A variable with a value is not missing.
	Environ []string
	// Node is the version of Node that runs the server; Engines is the range in its package.json, if Node is outside
	// that range.
	Node, Engines string
}

// Cause is why a server failed.
type Cause struct {
	Kind Kind
	// Rule is the id of the rule in rules.txt, with its group, or of the detector; empty for a quoted line.
	Rule string
	// What is a sentence without a full stop: "GITHUB_TOKEN is not set".
	What string
	// Line is the main line of the output, without colours, time and level.
	Line string
	// Fixes say what to do about it.
	Fixes []string
	// Variables has the names of missing variables: all names of one of the groups are needed.
	Variables [][]string
	// Place is where in the server's own code the error comes from, as "FILE:LINE"; empty if unknown.
	Place string
	// NoAddress reports whether a connection failed to an address that the output does not contain.
	NoAddress bool
	// lineKind is the kind of the quoted line, if Kind is Said.
	lineKind Kind
}

// Quotes reports whether What is only the server's own line.
func (c *Cause) Quotes() bool { return c.Line != "" && c.What == quoted(c.Line) }

// Diagnose returns why a server failed; nil if its output does not say so.
func Diagnose(out Output) *Cause {
	o := read(out)
	c := first(o, fromAll())
	switch {
	case c != nil:
	case o.head < 0 && o.usage == "":
		c = nothingWrong(o)
	default:
		if c = usageCause(o); o.head >= 0 {
			c = first(o, fromHead())
		}
		switch {
		case o.Alive && inPassing(o, c):
			c = nil
		case o.Done && (c == nil && withoutReason(o) || reportsSuccess(o, c)):
			c = idle()
		default:
			if c == nil {
				c = quotedCause(o)
			}
			addAdvice(o, c)
		}
	}
	if c == nil || c.Kind == Said {
		c = cmp.Or(question(out), c)
	}
	if out.Entry != (Entry{}) {
		c = c.Fit(out.Entry)
	}
	return c
}

// nothingWrong returns the cause of an output without an error.
func nothingWrong(o *output) *Cause {
	if o.Alive {
		return nil
	}
	if c := requiredVariables(o); c != nil || !o.Done || len(o.lines) == 0 {
		return c
	}
	return idle()
}

// inPassing reports whether a running server may only mention the cause and continue.
func inPassing(o *output, c *Cause) bool {
	return (o.head < 0 || o.lines[o.head].weight < errs) && (c == nil || !slices.Contains(whileAlive, c.Kind))
}

// quotedCause returns the cause of an output that no detector recognises: the server's own line.
func quotedCause(o *output) *Cause {
	if o.head < 0 {
		return &Cause{Kind: Argument, What: "it printed its usage: " + quoted(o.usage), Line: o.usage}
	}
	line := o.explained(o.head)
	if c := fileCause(line); c != nil {
		return c
	}
	return &Cause{Kind: Said, What: quoted(line), Line: line}
}

// idle returns the cause of a program that exited without an error.
func idle() *Cause {
	return &Cause{
		Kind: Idle, What: "it exited without an error, like a program that is not a server",
		Fixes: []string{NoServerFix},
	}
}

// NoServerFix is the fix for a program that exits without an error and may not be a server.
const NoServerFix = "check its documentation and --help: " +
	"it may need a sub-command or flag in args of this server, or it may not be an MCP server"

// withoutReason reports whether the output of a program that exited with status 0 gives no reason: it has no error
// word, or only one in a long report or next to a success message.
func withoutReason(o *output) bool {
	const long = 40
	return o.head < 0 || o.lines[o.head].weight == silent ||
		o.lines[o.head].weight <= hints && (len(o.lines) > long || slices.ContainsFunc(o.all, succeeded().MatchString))
}

// reportsSuccess reports whether a program prints that it is done. A certain cause takes precedence.
func reportsSuccess(o *output, c *Cause) bool {
	return (c == nil || slices.Contains([]Kind{Said, Other, Busy, Argument}, c.Kind)) &&
		slices.ContainsFunc(o.all, done().MatchString)
}

// whileAlive are the kinds that stop a running server from responding.
var whileAlive = []Kind{Backend, Login, HTTP}

// longest is the maximum length of a quoted line, in characters.
const longest = 200

// quoted returns a line in quotes, without the words that only mark it as an error. A line that contains quotes gets
// no further ones.
func quoted(line string) string {
	text := words.Shorten(bare(line), longest)
	if strings.Contains(text, `"`) {
		return text
	}
	return `"` + text + `"`
}
