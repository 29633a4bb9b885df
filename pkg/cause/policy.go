package cause

import (
	"cmp"
	"slices"
)

// Policy tells whether a failed start is worth a retry (MCP-6).
type Policy string

// The policies. A failure of an unknown kind may pass, and is worth a retry unless someone is debugging the server.
const (
	Permanent Policy = "permanent" // the next start would fail in the same way
	Transient Policy = "transient" // what the server lacks may be there soon
	Unknown   Policy = "unknown"
)

// policies has the policy of every kind. It is the only place that decides on a retry.
var policies = map[Kind]Policy{
	Variable: Permanent, Argument: Permanent, Subcommand: Permanent, Login: Permanent, Config: Permanent,
	Program: Permanent, Addon: Permanent, Package: Permanent, Runtime: Permanent, Files: Permanent, Value: Permanent,
	Signal: Permanent, Crash: Permanent, HTTP: Permanent, NotMCP: Permanent, Other: Permanent,
	// Another start does not help a silent server: it waits for something else, or it is not a server.
	Silence: Permanent, Idle: Permanent, Observed: Permanent,
	Backend: Transient, Busy: Transient,
	Said: Unknown,
}

// Policy returns the policy of a kind.
func (k Kind) Policy() Policy { return cmp.Or(policies[k], Unknown) }

// Policy returns the policy of a cause. For nil, which no output explains, it is that of Said.
func (c *Cause) Policy() Policy {
	if c == nil {
		return Said.Policy()
	}
	return cmp.Or(c.lineKind, c.Kind).Policy()
}

// kindOfQuote returns the kind of a line that no rule knows: an uncaught exception, a rejected value, or else Said.
func kindOfQuote(o *output, text string) Kind {
	head := o.head
	words := wordsOf(text)
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
