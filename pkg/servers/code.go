package servers

import (
	"cmp"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// Explained returns why a server failed to start; nil if nothing shows it. c is the cause that its output shows, nil if
// there is none: then its command line is looked at, npm's log where npx started it, the log that it keeps in its npm
// package, what its process waits for, and its code. A cause that is only the server's own line gets a fix from the
// code; any other is returned as it is, but that a container may lack a variable, and an npm package its program, or
// have another one. began is when the process started.
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
	c = inPackage(inContainer(c, launch), launch)
	if c != nil && c.Kind != cause.Said && !missesVariables(c) {
		return c
	}
	if found := f.withSource(c); found != nil {
		return found
	}
	script := cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env)
	switch {
	case c != nil:
		return codeOf(script, launch).withUnset(c)
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
		logged := cmp.Or(fromLog(script, launch.Env, began, f.Output()), f.fromOpenLog(began))
		if c := cmp.Or(withoutProgram(launch), logged, f.ofState()); c != nil {
			return c
		}
		code := codeOf(script, launch)
		if c := code.ofWaiting(); c != nil {
			return c
		}
		c := f.ofDoing(launch)
		if c == nil {
			return code.ofUnset()
		}
		if len(code.unset) > 0 {
			c.Fixes = append(c.Fixes, addUnset(code.unset))
		}
		return c
	case f.Ending == EndingExited:
		if c := cmp.Or(ofInstall(launch, began), ofShipped(script)); c != nil || f.printed() {
			return c
		}
		if c := fromLog(script, launch.Env, began, f.Output()); c != nil {
			return c
		}
		const unsettled = "exit status 13" // of Node, which says why only from version 22 on
		if script != "" && f.How == unsettled {
			return cause.Unsettled("")
		}
		return codeOf(script, launch).ofEnded(f.How)
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

// withSource returns the cause that the output shows together with the line of source that an error comes from, and
// with the versions of Node that its package is for. Node prints that line only where no code of its own threw, and
// Ruby never does. Nil if it shows neither a missing variable nor that Node is too old.
func (f *Failure) withSource(c *cause.Cause) *cause.Cause {
	if c == nil {
		return nil
	}
	place, output := cmp.Or(c.Place, c.Thrown), f.Output()
	line := cmdline.SourceLine(place)
	if line != "" {
		output.Stderr = append([]string{line}, output.Stderr...)
	}
	if file := place[:max(0, strings.LastIndexByte(place, ':'))]; file != "" && lacksFeature().MatchString(c.Line) {
		if found, ok := cmdline.PackageAbove(file); ok && found.Excludes(c.Node) {
			output.Node, output.Engines = c.Node, found.Engines.Node
		}
	}
	if line == "" && output.Engines == "" {
		return nil
	}
	if found := cause.Of(output); found != nil && (found.Kind == cause.Variable || found.Kind == cause.Runtime) {
		return found
	}
	return nil
}

// lacksFeature matches errors of code that uses what an older Node does not have.
var lacksFeature = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bis not (?:a function|a constructor|defined|iterable)\b|` +
		`\bCannot read properties of undefined\b|\bClass extends value undefined\b`)
})

// ofInstall returns the cause of a start by npx that ended because a script of the package failed, as npm's log tells;
// nil if none did.
func ofInstall(launch *config.Resolved, began time.Time) *cause.Cause {
	launcher, ok := cmdline.ParseLauncher(cmdline.Unwrapped(launch.Command, launch.Args))
	if !ok || !launcher.NPM || launcher.Spec == "" {
		return nil
	}
	script, of, log := cmdline.FailedScript(launcher.Spec, launch.Env, began.Add(-time.Second))
	if log == "" {
		return nil
	}
	return byCode("npm cannot install it: the "+script+" script of "+of+" fails",
		"see what the script prints: npm install --foreground-scripts "+launcher.Spec+", in an empty folder",
		"or start it without scripts, if it works without them: --ignore-scripts in args of this server, after "+
			launcher.Name,
		"npm's log is "+log)
}

// ofShipped returns the cause of a package whose program for this system may not be run; nil if it may, or if it has
// none.
func ofShipped(script string) *cause.Cause {
	if script == "" {
		return nil
	}
	found, _ := cmdline.PackageAbove(script)
	program := found.Shipped()
	if info, err := os.Stat(program); err != nil || info.Mode()&0o111 != 0 || runtime.GOOS == "windows" {
		return nil
	}
	return byCode("it may not run "+program+", its program for this system",
		"chmod +x "+program+", or use another version of the package", "tell the package's author")
}

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

// fromLog returns the cause that the log of a script's package shows; nil if there is none. environ is the environment
// of the server, and printed what it wrote.
func fromLog(script string, environ []string, began time.Time, printed cause.Output) *cause.Cause {
	found, ok := cmdline.PackageAbove(script)
	if script == "" || !ok {
		return nil
	}
	path, lines := found.OwnLog(environ, began.Add(-time.Second)) // file systems have coarse clocks
	if path == "" {
		return nil
	}
	return LogCause(path, lines, printed)
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
		c = byCode("its log says "+c.What, c.Fixes...)
	}
	c.Fixes = append(c.Fixes, LogsTo(path))
	return c
}

// LogsTo names the log of a server.
func LogsTo(path string) string { return "it logs to " + path }

// nodeCode is what is known of the code of a server for Node.
type nodeCode struct {
	cmdline.Source // empty for a server that node does not run
	launch         *config.Resolved
	unset          []string // the variables that it reads and that have no value
}

// codeOf reads the code of a server, which may be many files.
func codeOf(script string, launch *config.Resolved) *nodeCode {
	source := cmdline.SourceOf(script)
	return &nodeCode{Source: source, launch: launch, unset: source.Unset(launch.Env)}
}

// missesVariables reports whether a server misses variables without their names.
func missesVariables(c *cause.Cause) bool {
	ofVariables := c.Kind == cause.Config || c.Kind == cause.Said
	return ofVariables && strings.Contains(strings.ToLower(c.Line), "environment variable")
}

// withUnset adds a fix to a cause: the code reads variables that are not set. Where a line of the server itself says
// what to do, they are those that it may mean: "Expected parameter accessToken", ACME_ACCESS_TOKEN.
func (n *nodeCode) withUnset(c *cause.Cause) *cause.Cause {
	unset := n.unset
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

// ofEnded explains a server that ended and printed nothing; how is its exit status.
func (n *nodeCode) ofEnded(how string) *cause.Cause {
	well := how == "exit status 0"
	if c := n.ofLink(); well && c != nil {
		return c
	}
	logs := n.LogSwitch(n.launch.Env)
	switch {
	case well && n.MetaMain:
		return byCode("its script runs only if import.meta.main is true, which Node has since 24.2",
			"run it with Node 24.2 or newer, by its full path where several are installed",
			"in the server: compare import.meta.url with process.argv[1], through realpathSync, for older ones")
	case len(n.unset) > 0:
		return byCode(n.readsUnset(), addUnset(n.unset), "in the server: write on stderr why it ends")
	case n.Subcommand != "" && !slices.Contains(n.launch.Args, n.Subcommand):
		return byCode(n.Subcommand+" is missing, a sub-command that its code looks for",
			"add the sub-command to args of this server: "+n.Subcommand, "in the server: write its usage on stderr")
	case well && n.Transport:
		return byCode("it prints nothing and ends without an error, although its code has a StdioServerTransport",
			"in the server: call connect with that transport, and await it; nothing after it may end the process",
			cause.NoServerFix)
	case well:
		return byCode("it prints nothing and ends without an error, as a program that is no server",
			cause.NoServerFix,
			"in the server: write on stderr why it ends; if it should not, keep reading stdin until it is closed")
	case logs != "":
		return byCode("it prints nothing; its code reads "+logs+", which may make it log",
			"add "+logs+" to env of this server, such as true or debug, and start it again to see why it ends",
			"in the server: write on stderr why it ends")
	}
	return nil
}

// ofLink explains a server that does nothing since a link starts it; nil if none does.
func (n *nodeCode) ofLink() *cause.Cause {
	if !n.OwnPath {
		return nil
	}
	script := cmdline.ByLink(n.launch.Command, n.launch.Args, n.launch.Cwd, n.launch.Env)
	if script == "" {
		return nil
	}
	return byCode("a link starts it, and its script runs only if process.argv[1] is its own path",
		"in the server: compare with pathToFileURL(realpathSync(process.argv[1])).href",
		"from outside: command node, args "+script)
}

// ofWaiting explains a server that does not answer and prints no error, by what its code shows for certain; nil if that
// is nothing.
func (n *nodeCode) ofWaiting() *cause.Cause {
	if c := n.ofLink(); c != nil {
		return c
	}
	switch {
	case n.Stdio && !slices.Contains(n.launch.Args, "--stdio"):
		return byCode("--stdio is missing, which its code looks for", "add --stdio to args of this server")
	case n.TextStdin:
		return byCode("its code sets an encoding for stdin, where the TypeScript SDK wants bytes",
			"in the server: take out process.stdin.setEncoding, which makes the SDK loop for ever")
	}
	return nil
}

// ofUnset explains a server that does not answer by variables that its code reads, where nothing else is known; nil if
// it reads none.
func (n *nodeCode) ofUnset() *cause.Cause {
	if len(n.unset) == 0 {
		return nil
	}
	return byCode(n.readsUnset(),
		"set in env of this server what its code reads: it may wait for a service that is not there",
		answerFirst+"; connect to backends when a tool needs them")
}

// byCode returns a cause that the code of a server shows.
func byCode(what string, fixes ...string) *cause.Cause {
	return &cause.Cause{Kind: cause.Code, What: what, Fixes: fixes}
}

// readsUnset says that variables have no value: "A, B, which its code reads, are not set".
func (n *nodeCode) readsUnset() string {
	verb := " are not set"
	if len(n.unset) == 1 {
		verb = " is not set"
	}
	return strings.Join(n.unset, ", ") + ", which its code reads," + verb
}
