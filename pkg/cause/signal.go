package cause

import (
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rules"
)

// signals are the signals that end a process, with their numbers on Linux: a shell exits with 128 plus the number.
var signals = faultsOf("signals")

// signalIn returns the signal that ended a program according to a line; nil if there is none.
func signalIn(text string) *rules.Rule {
	text = strings.TrimPrefix(strings.TrimSpace(text), "signal: ") // of Go
	found := shellSignal().FindStringSubmatch(text)
	if found == nil {
		found = namedSignal().FindStringSubmatch(text)
	}
	for _, word := range found[min(1, len(found)):] {
		if signal, _ := faultIn(word, signals()); signal != nil {
			return signal
		}
	}
	return nil
}

// signalOf returns the signal of an exit status, such as "signal: killed", or "exit status 137" from a shell; nil if
// there is none.
func signalOf(ended string) *rules.Rule {
	status, found := strings.CutPrefix(ended, "exit status ")
	if !found {
		return signalIn(ended)
	}
	number, _ := strconv.Atoi(status)
	for _, signal := range signals() {
		if signal.Get("number") == strconv.Itoa(number-128) {
			return signal
		}
	}
	return nil
}

// signalCause returns the cause of a program that a signal ended, by its exit status or its last lines; nil if none
// did, or if the program reported an error before it ended.
func signalCause(o *output) *Cause {
	if o.Alive {
		return nil
	}
	by, line := signalOf(o.Ended), ""
	const last = 3 // a script may print something after it
	for _, text := range slices.Backward(o.all[max(0, len(o.all)-last):]) {
		if found := signalIn(text); found != nil && (by == nil || found == by) {
			by, line = found, strings.TrimSpace(text)
			break
		}
	}
	if by == nil || slices.ContainsFunc(o.all, ranOut().MatchString) {
		return nil // it reports that itself
	}
	least := errs
	if by.ID == "SIGABRT" { // programs that call abort print why: an assertion, an exception
		least = hints
	}
	if o.head >= 0 && o.lines[o.head].weight >= least && by.Get("crash") == "" {
		return nil
	}
	return &Cause{Kind: Signal, Line: line, What: by.Get("what"), Fixes: slices.Clone(by.All("fix"))}
}

// SignalTitle returns which signal ended a server, by its exit status; empty if none did.
func SignalTitle(ended string) string {
	if by := signalOf(ended); by != nil {
		return by.Get("what")
	}
	return ""
}
