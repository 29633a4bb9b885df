package cause

import (
	"slices"
	"strconv"
	"strings"
)

// signal is a signal that ends a process. Shells and Go print it as a text that begins with word, in any case.
type signal struct {
	number     int
	name, word string
}

// signals are those that end a process, by the numbers that Linux gives them.
var signals = [...]signal{
	{1, "SIGHUP", "hangup"},
	{2, "SIGINT", "interrupt"},
	{3, "SIGQUIT", "quit"},
	{4, "SIGILL", "illegal instruction"},
	{5, "SIGTRAP", "trace/"},
	{6, "SIGABRT", "abort"},
	{7, "SIGBUS", "bus error"},
	{8, "SIGFPE", "floating point exception"},
	{9, "SIGKILL", "killed"},
	{11, "SIGSEGV", "segmentation fault"},
	{13, "SIGPIPE", "broken pipe"},
	{14, "SIGALRM", "alarm clock"},
	{15, "SIGTERM", "terminated"},
}

// signalIn returns the signal that a line says to have ended a program; its number is 0 if the line names none.
func signalIn(text string) signal {
	text = strings.TrimPrefix(strings.TrimSpace(text), "signal: ") // of Go
	found := shellSignal().FindStringSubmatch(text)
	if found == nil {
		found = namedSignal().FindStringSubmatch(text)
	}
	for _, word := range found[min(1, len(found)):] {
		for _, s := range signals {
			if word == s.name || strings.HasPrefix(strings.ToLower(word), s.word) {
				return s
			}
		}
	}
	return signal{}
}

// signalOf returns the signal of an exit status, "signal: killed" or "exit status 137", which is how a shell reports
// one of a program that it ran; its number is 0 if there is none.
func signalOf(ended string) signal {
	if status, found := strings.CutPrefix(ended, "exit status "); found {
		number, _ := strconv.Atoi(status)
		at := slices.IndexFunc(signals[:], func(s signal) bool { return number == 128+s.number })
		if at < 0 {
			return signal{}
		}
		return signals[at]
	}
	return signalIn(ended)
}

// signalCause returns the cause of a program that a signal ended, by its exit status or by its last lines; nil if none
// did, or if the program reported an error itself before it ended in an orderly way: by abort(), or on request.
func signalCause(o *output) *Cause {
	if o.Alive {
		return nil
	}
	by, line := signalOf(o.Ended), ""
	const last = 3 // a script may print something after it
	for _, text := range slices.Backward(o.all[max(0, len(o.all)-last):]) {
		if found := signalIn(text); found.number > 0 && (by.number == 0 || found == by) {
			by, line = found, strings.TrimSpace(text)
			break
		}
	}
	crashes := []string{"SIGKILL", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"}
	least := errs
	if by.name == "SIGABRT" { // what calls abort says why: an assertion, an exception
		least = hints
	}
	reported := o.head >= 0 && o.lines[o.head].weight >= least
	switch {
	case by.number == 0, reported && !slices.Contains(crashes, by.name),
		slices.ContainsFunc(o.all, ranOut().MatchString):
		return nil // what it says itself
	}
	return &Cause{Kind: Signal, Line: line, What: by.title(), Fixes: by.fixes()}
}

// SignalTitle says which signal ended a server, by how it ended; empty if none did.
func SignalTitle(ended string) string {
	by := signalOf(ended)
	if by.number == 0 {
		return ""
	}
	return by.title()
}

// title says what the signal did to the server.
func (s signal) title() string {
	switch s.name {
	case "SIGKILL":
		return "the server was killed (SIGKILL)"
	case "SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGTERM", "SIGPIPE":
		return "the server was stopped by a signal (" + s.name + ")"
	}
	return "the server crashed (" + s.name + ")"
}

// fixes say what to do about the signal.
func (s signal) fixes() []string {
	switch s.name {
	case "SIGKILL":
		return []string{
			"it may have used too much memory: raise the limit of its container or the machine's memory, or give it " +
				"less to load; the system's log shows that (journalctl -k, dmesg)",
			"if not, look for what else kills it: a supervisor, a time limit, a virus scanner",
		}
	case "SIGILL":
		return []string{"use a build for this processor: the program has an instruction that this one does not know"}
	case "SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGTERM", "SIGPIPE":
		return []string{"look for what sent the signal: a supervisor, a time limit, or the program that started it"}
	}
	return []string{
		"use another version of the server, of what runs it, or of its native modules: this is a fault in native code",
		"tell the server's author",
	}
}
