package servers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/cause"
	toolxexec "toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/words"
)

// ConnectError says that a server could not be connected to (MCP-4).
type ConnectError struct {
	Server   string
	Attempts int
	// Last is why the last attempt failed.
	Last error
	// Advice is the server's configured hint.
	Advice string
}

func (e *ConnectError) Error() string {
	text := e.Last.Error()
	if e.Attempts > 1 {
		text += fmt.Sprintf("; MCP connection failed after %d attempts", e.Attempts)
	}
	return text
}

// Unwrap returns the reason of the last attempt.
func (e *ConnectError) Unwrap() error { return e.Last }

// Kind implements the interface that fault.KindOf looks for: KindUsage for an unset variable, KindAuth where
// authorization is missing, otherwise KindConnect.
func (e *ConnectError) Kind() fault.Kind {
	var failure *diagnose.Failure
	if errors.As(e.Last, &failure) {
		if kind := failure.Kind(); kind == fault.KindUsage || kind == fault.KindAuth || kind == fault.KindTimeout {
			return kind
		}
	}
	// Authorization may have an error of its own.
	if fault.KindOf(e.Last) == fault.KindAuth {
		return fault.KindAuth
	}
	return fault.KindConnect
}

// Hint returns the configured hint, and on a line of its own the hint that follows from the ending.
func (e *ConnectError) Hint() string { return diagnose.JoinHints(e.Advice, e.ownHint()) }

// ownHint returns the hint that follows from the ending; empty where there is none.
func (e *ConnectError) ownHint() string {
	var failure *diagnose.Failure
	if !errors.As(e.Last, &failure) {
		return ""
	}
	c, withheld := failure.Cause(), diagnose.WithheldHint(failure.Withheld, failure.StderrTail)
	switch {
	case withheld != "":
		return withheld
	case errors.As(failure.Reason, new(*diagnose.Revision)):
		return fault.HintOf(failure.Reason)
	case failure.Ending == diagnose.EndingSilent && diagnose.Fetches(failure.Command) &&
		failure.Waiting == "initialize" &&
		(c == nil || c.Kind == cause.Observed && failure.Unread > 0):
		return failure.Program() +
			" may still be downloading the server: pass --start-timeout 5m, or run the command once in a terminal; " +
			"otherwise the server may need an argument for MCP on stdio"
	case c != nil && c.NoAddress:
		return diagnose.JoinHints(append(slices.Clone(c.Fixes),
			"toolx doctor looks where a server for Node connects to")...)
	case c != nil && len(c.Fixes) > 0:
		return diagnose.JoinHints(c.Fixes...)
	case failure.Ending == diagnose.EndingSilent:
		return "check whether it needs an argument for MCP on stdio; --trace shows every message, " +
			"--start-timeout waits longer, toolx doctor examines it"
	case failure.Ending == diagnose.EndingExited && c == nil:
		return "run the command in a terminal until it waits for input; toolx doctor looks closer"
	case failure.Ending == diagnose.EndingUnanswered, failure.Ending == diagnose.EndingUnfinished:
		return "--start-timeout gives it more time; --trace shows every message"
	}
	return failure.Hint()
}

// Details returns what is known of the last attempt, one fact a line.
func (e *ConnectError) Details() []string {
	var failure *diagnose.Failure
	if errors.As(e.Last, &failure) {
		return failure.Details()
	}
	return nil
}

// NamedText returns the text of an error, with the server's name before it unless it begins with that.
func NamedText(server string, err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "server ") {
		return text
	}
	return fmt.Sprintf("server %q: %s", server, text)
}

// UnreachedError says that no server that answered has a tool, and which servers were not reached.
type UnreachedError struct {
	Missing *toolxexec.NotFoundError
	Failed  []Opened // the servers that were not reached; at least one
	// Alone reports that only those servers can be meant: none answered, and no tool has a similar name. The message
	// then is their failure, as it is that of Owner.
	Alone bool
	// Owner is the first of Failed, where that is a server that had the tool when it was last asked; else empty.
	Owner string
}

func (e *UnreachedError) Error() string {
	switch {
	case e.Owner != "":
		return fmt.Sprintf("Tool '%s' not found: its server '%s' was not reached: %v",
			e.Missing.Name, e.Owner, e.Failed[0].Err)
	case e.Alone:
		return fmt.Sprintf("Tool '%s' not found: %v", e.Missing.Name, e.Failed[0].Err)
	}
	names := words.Texts(e.Failed, func(failed Opened) string { return failed.Server })
	return fmt.Sprintf("%v; %s not reached", e.Missing, wereNames(names))
}

// Unwrap returns the error that decides kind and hint.
func (e *UnreachedError) Unwrap() error {
	if e.Alone || e.Owner != "" {
		return e.Failed[0].Err
	}
	return e.Missing
}

// Details returns a line for each server that was not reached, except those whose first failure a Retry has reported.
func (e *UnreachedError) Details() []string {
	if e.Alone || e.Owner != "" {
		details := fault.DetailsOf(e.Failed[0].Err)
		if e.Owner != "" {
			details = append(details, fmt.Sprintf("according to its catalogue, server '%s' has the tool", e.Owner))
		}
		return details
	}
	var details []string
	for _, failed := range e.Failed {
		var tried *ConnectError
		if errors.As(failed.Err, &tried) && tried.Attempts > 1 {
			continue
		}
		details = append(details, words.FirstLine(NamedText(failed.Server, failed.Err)))
	}
	return details
}

// wereNames returns the beginning of a sentence about servers: "server 'a' was", "servers 'a', 'b' were".
func wereNames(names []string) string {
	text := "'" + strings.Join(names, "', '") + "'"
	if len(names) == 1 {
		return "server " + text + " was"
	}
	return "servers " + text + " were"
}
