package diagnose

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/mask"
	"toolx/pkg/words"
)

const (
	answerFirst   = "in the server: respond to initialize before any slow work"
	mostOfCommand = 120 // bytes of the command of a program that a server runs, and of its last output
)

// connecting explains a silent process by an outgoing connection without a response; nil if there is none.
func (p *start) connecting() *cause.Cause {
	if p.State == nil || len(p.State.Connecting) == 0 {
		return nil
	}
	other := withoutProcess(p.State.Connecting[0])
	return observed("it waits for a connection to "+other,
		"check that this machine reaches "+other+" (the network, a VPN, a firewall), or correct the address in "+
			"env or args of this server",
		answerFirst+"; connect to backends when a tool needs them")
}

// overHTTP explains a silent process by the address at which it speaks MCP; nil if there is none.
func (p *start) overHTTP() *cause.Cause {
	if p.Endpoint == "" {
		return nil
	}
	return &cause.Cause{
		Kind: cause.HTTP, What: "it speaks MCP over HTTP at " + p.Endpoint + " instead of on stdin and stdout",
		Fixes: []string{
			"add --stdio, or --transport stdio, to args of this server",
			"or use it over HTTP: url: " + p.Endpoint + " in place of command",
		},
	}
}

// Doing explains a silent process by what it does; nil if the system does not tell.
func (f *Failure) Doing(launch *config.Resolved) *cause.Cause {
	return (&start{Failure: f, launch: launch}).state()
}

// state explains a silent process by its state.
func (p *start) state() *cause.Cause {
	if p.State == nil {
		return nil
	}
	what, fixes := p.doing()
	if line := p.lastOutput(); line != "" {
		what += "; last output: " + line
	}
	return observed(what, fixes...)
}

// doing describes what a silent process does, and what to do about it. It must have a State.
func (p *start) doing() (what string, fixes []string) {
	var shapes *mask.Masker // knows no values, only shapes and names
	read := p.Unread == 0
	switch s := p.State; {
	case p.Busy():
		return "it has used a full core for " + Rounded(min(s.Used+s.Queued, p.Lived)).String(), []string{
			answerFirst + "; see where it computes, with a profiler or a debugger",
		}
	case s.Runs != "":
		return "it runs " + words.Shorten(shapes.Text(s.Runs), mostOfCommand), []string{
			"see whether that program ends: run the server's command in a terminal",
			answerFirst + "; say on stderr what it waits for",
		}
	case len(s.Listening) > 0:
		what = "it listens on " + withoutProcess(s.Listening[0])
		if p.Unread > 0 {
			what += ", and does not read stdin"
		}
		return what, []string{answerFirst + ", such as waiting for a connection"}
	case len(s.Connected) > 0:
		return "it is connected to " + withoutProcess(s.Connected[0]), []string{
			answerFirst + "; connect to backends when a tool needs them",
		}
	case read && p.reads(frameHeader()):
		return "it expects Content-Length framing, like language servers, instead of lines", []string{
			"in the server: use MCP's stdio transport, with one JSON message per line and no headers",
		}
	case read && p.reads(untilEnd()):
		return "it reads stdin until EOF", []string{
			"in the server: read stdin line by line, and respond to each line, because stdin stays open",
		}
	case read:
		return "it read the request", []string{
			"in the server: respond to initialize; see every message with --trace",
		}
	case p.Unread > 0:
		what = "it does not read stdin"
		if p.lastOutput() == "" {
			what += " and prints nothing"
		}
		return what, []string{
			"check its documentation and --help: it may need a subcommand or flag for MCP on stdio",
			answerFirst,
		}
	}
	return "its state is " + p.State.State, []string{answerFirst}
}

// withoutProcess returns the address of a socket: "127.0.0.1:3000 (pid 17)".
func withoutProcess(socket string) string {
	address, _, _ := strings.Cut(socket, " ")
	return address
}

// lastOutput returns the last line that a server printed, on stderr if it printed anything there.
func (p *start) lastOutput() string {
	for _, line := range slices.Backward(slices.Concat(p.Stdout, p.StderrTail)) {
		if line = strings.TrimSpace(line); line != "" {
			return words.Shorten(line, mostOfCommand)
		}
	}
	return ""
}

// Busy reports whether a silent process has used a processor nearly all the time, or would have if one had been free.
func (f *Failure) Busy() bool {
	return f.State != nil && f.State.Used > 0 && f.State.Used+f.State.Queued > f.Lived*3/4
}

// reads reports whether the code of a script, or its output, matches a pattern.
func (p *start) reads(pattern *regexp.Regexp) bool {
	const most = 1 << 20
	command, args := cmdline.Unwrapped(p.launch.Command, p.launch.Args)
	script := cmdline.Script(p.launch.Command, p.launch.Args, p.launch.Cwd, p.launch.Env)
	program := cmdline.LookupIn(p.launch.Cwd, p.launch.Env).Find(command).Path // it may be a script itself
	for _, arg := range append(slices.Clone(args), program) {
		if path := cmdline.RealPath(arg, p.launch.Cwd); script == "" && isScript(path) {
			script = path
		}
	}
	return pattern.Match(cmdline.FileBeginning(script, most)) ||
		slices.ContainsFunc(p.Stdout, pattern.MatchString)
}

// isScript reports whether a file is the text of a program.
func isScript(path string) bool {
	begin := cmdline.FileBeginning(path, 512)
	return len(begin) > 0 && !bytes.Contains(begin, []byte{0})
}

var (
	// frameHeader matches the header of language servers' messages, in code that reads it.
	frameHeader = expression(`(?i)\bcontent-length\b`)
	// untilEnd matches code that reads stdin to its end.
	untilEnd = expression(`(?i)\$?\bstdin(?:\.buffer)?\.(?:read|readlines|slurp)\b(?:\(\)|[^(\w])|` +
		`readFileSync\((?:0|process\.stdin\.fd|['"]/dev/stdin['"])|\bopen\(0\)\.read\(\)|` +
		`\bstream_get_contents\(STDIN\)|php://stdin|\$\(cat\)|\$\(</dev/stdin\)|local \$/`)
)
