// Package fake is a scripted MCP server: correct by default, and wrong in exactly
// the ways that its modes name. Tests run it as a real process, because what they
// prove (pipes, signals, exit codes, bytes that are no frames) has no stand-in.
//
// It imports the standard library only, so that it starts in about a millisecond, and shares no code with what it
// tests. Nothing in it is random, and it reads no clock except in modes that are about time.
//
// The program lives in cmd/fakeserver; a test binary can also serve as one by calling Main. The names of modes and
// flags are stable: tests and the doctor's catalogue use them.
package fake

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Mode is one way in which the server behaves.
type Mode struct {
	Name string // what to type: kebab-case, stable
	Help string // one line
}

// Heavy reports whether a server in this mode writes megabytes, makes much work, or leaves processes. What that costs a
// client shows only where the client is a process of its own.
func (m Mode) Heavy() bool {
	return slices.ContainsFunc([]string{
		"huge", "flood", "endless", "wide", "grows", "0k", "burst", "deep", "slow-regex", "grandchild", "hold",
		"ignore",
	}, func(word string) bool { return strings.Contains(m.Name, word) })
}

// Modes returns every mode in the order of --list. Several modes combine where
// that makes sense; what they do is applied in the order in which they are given.
func Modes() []Mode {
	all := allModes()
	modes := make([]Mode, len(all))
	for i, m := range all {
		modes[i] = Mode{Name: m.name, Help: m.help}
	}
	return modes
}

// Exit codes of Main that no mode asked for.
const (
	exitUsage    = 2  // the command line is wrong
	exitLifetime = 70 // the watchdog ended a process that outlived its use
)

// Main runs the server on the process's standard streams until its stdin ends or
// a mode says otherwise. args is the command line without the program's name:
//
//	fakeserver [--flag…] MODE [MODE…]
//
// It returns the exit code. The caller must end the process with it at once: a
// mode may have left goroutines blocked for ever.
func Main(args []string) int {
	opts, err := parse(args, os.Stderr)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "fakeserver: %v\n", err)
		return exitUsage
	case opts.list:
		for _, m := range allModes() {
			fmt.Printf("%-24s %s\n", m.name, m.help)
		}
		return 0
	}
	s, err := newServer(opts)
	if err != nil {
		fmt.Fprintf(os.Stderr, "fakeserver: %v\n", err)
		return exitUsage
	}
	// The watchdog: whatever a mode ignores, no process stays behind for long.
	time.AfterFunc(opts.lifetime, func() { s.finish(exitLifetime) })
	go s.serve()
	return <-s.exit
}

// options are the command line, read.
type options struct {
	modes []mode
	list  bool

	name     string        // serverInfo's name
	on       string        // which replies a fault concerns; empty means the mode's own
	text     string        // replaces the text that pollutes
	stderr   string        // a line for stderr, at the start
	wait     time.Duration // of the modes that are about time
	lifetime time.Duration
	bytes    int
	count    int
	code     int
	signal   string
	recordTo string // file that takes every line read
	pids     string // file that takes the process ids
	state    string // file that counts starts
	times    int
	gate     string // file whose appearance ends the slow start
	defs     string // tool definitions: JSON, or a file of it
	terms    string // members of the results of tools/list
}

// parse reads the command line; flags and modes may be mixed.
func parse(args []string, stderr io.Writer) (*options, error) {
	opts := &options{}
	flags := opts.flags(stderr)
	var names []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			break
		}
		names = append(names, flags.Arg(0))
		args = flags.Args()[1:]
	}
	if opts.list {
		return opts, nil
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no mode: fakeserver good is a correct server, fakeserver --list shows the others")
	}
	for _, name := range names {
		m, ok := findMode(name)
		if !ok {
			return nil, fmt.Errorf("unknown mode %q: fakeserver --list shows every mode", name)
		}
		opts.modes = append(opts.modes, m)
	}
	return opts, nil
}

func (o *options) flags(stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("fakeserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.list, "list", false, "list every mode and exit")
	flags.StringVar(&o.name, "name", "fake", "the server's `name` in serverInfo and in the env tool's answer")
	flags.StringVar(&o.on, "on", "", "replies with the fault: \"all\", or `methods` with commas (default: the mode's)")
	flags.StringVar(&o.text, "text", "", "the `text` that pollutes, instead of the mode's own")
	flags.StringVar(&o.stderr, "stderr", "", "a `line` printed on stderr at the start")
	flags.DurationVar(&o.wait, "wait", 700*time.Millisecond, "how long the modes take that are about time")
	flags.DurationVar(&o.lifetime, "lifetime", 10*time.Minute, "the process ends after this time, whatever its mode")
	flags.IntVar(&o.bytes, "bytes", 100<<20, "size of huge lines, in bytes")
	flags.IntVar(&o.count, "count", 0, "how many lines, notifications or tools (default: the mode's own)")
	flags.IntVar(&o.code, "code", -1, "exit code of the modes that exit (default: the mode's own)")
	flags.StringVar(&o.signal, "signal", "", "signal of the modes that die by one, without SIG (default: the mode's)")
	flags.StringVar(&o.recordTo, "record", "", "append every line that is read to this `file`")
	flags.StringVar(&o.pids, "pids", "", "append the ids of the processes to this `file`, one a line")
	flags.StringVar(&o.state, "state", "", "the `file` in which flaky-start counts its starts")
	flags.IntVar(&o.times, "times", 1, "how many starts of flaky-start fail")
	flags.StringVar(&o.gate, "gate", "", "slow-start ends when this `file` exists")
	flags.StringVar(&o.defs, "tools", "",
		"a JSON array of MCP tools, or a `file` of it, instead of the built-in ones; each answers with its arguments")
	flags.StringVar(&o.terms, "terms", "", "raw JSON `members` of the results of tools/list, such as '\"ttlMs\":60000'")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: fakeserver [--flag…] MODE [MODE…]")
		flags.PrintDefaults()
	}
	return flags
}

// covers reports whether a fault with this scope concerns the replies to method.
func covers(scope, method string) bool {
	if scope == scopeAll {
		return true
	}
	for one := range strings.SplitSeq(scope, ",") {
		if one == method {
			return true
		}
	}
	return false
}

// textOr is --text, or what the mode would print.
func (o *options) textOr(text string) string {
	if o.text != "" {
		return o.text
	}
	return text
}

// countOr is --count, or the mode's own number.
func (o *options) countOr(count int) int {
	if o.count > 0 {
		return o.count
	}
	return count
}

// codeOr is --code, or the mode's own exit code.
func (o *options) codeOr(code int) int {
	if o.code >= 0 {
		return o.code
	}
	return code
}

// signalOr is --signal, or the mode's own.
func (o *options) signalOr(signal string) string {
	if o.signal != "" {
		return o.signal
	}
	return signal
}

// notePID lets a test find the processes that a server left behind.
func (o *options) notePID(pid int) error {
	if o.pids == "" {
		return nil
	}
	file, err := os.OpenFile(o.pids, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintln(file, pid)
	return err
}
