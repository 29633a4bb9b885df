package cause

import (
	"cmp"
	"slices"
)

// Policy is whether to retry a failed start (MCP-6).
type Policy string

// The policies. A failure of an unknown kind may go away, so it is retried unless someone is debugging the server.
const (
	Permanent Policy = "permanent" // the next start would fail the same way
	Transient Policy = "transient" // what is missing may be available soon
	Unknown   Policy = "unknown"
)

// policies has the policy of every kind. Nothing else decides on retries.
var policies = map[Kind]Policy{
	Variable: Permanent, Argument: Permanent, Subcommand: Permanent, Login: Permanent, Config: Permanent,
	Program: Permanent, Addon: Permanent, Package: Permanent, Runtime: Permanent, Files: Permanent, Value: Permanent,
	Signal: Permanent, Crash: Permanent, HTTP: Permanent, NotMCP: Permanent, Other: Permanent,
	// A silent server waits for something else or is not a server, which another start does not change.
	Silence: Permanent, Idle: Permanent, Observed: Permanent,
	Backend: Transient, Busy: Transient,
	Said: Unknown,
}

// Policy returns the policy of a kind.
func (k Kind) Policy() Policy { return cmp.Or(policies[k], Unknown) }

// Policy returns the policy of a cause. A nil cause, for unexplained failures, has the policy of Said.
func (c *Cause) Policy() Policy {
	if c == nil {
		return Said.Policy()
	}
	return cmp.Or(c.lineKind, c.Kind).Policy()
}

// kindOfQuote returns the kind of a line that no rule matches: Crash, Value, or else Said.
func kindOfQuote(o *output, text string) Kind {
	head := o.head
	words := withoutNames(text)
	switch {
	case head < 0:
		return Said
	case o.lines[head].weight == fatal, languageError().MatchString(text),
		slices.ContainsFunc(o.all, crashed().MatchString):
		return Crash
	case o.lines[head].weight >= hints && (wrongValue().MatchString(words) || wrongWord().MatchString(words)),
		o.path(head) != "":
		return Value
	}
	return Said
}
