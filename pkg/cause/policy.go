package cause

import (
	"cmp"
	"slices"
)

// Policy is the answer to whether a start that failed is worth another one (MCP-6).
type Policy string

// The policies. A failure of an unknown kind may pass, and is worth another start where nobody is debugging the server.
const (
	Permanent Policy = "permanent" // the next start would fail in the same way
	Transient Policy = "transient" // what the server lacks may be there soon
	Unknown   Policy = "unknown"
)

// policies has the policy of every kind. It is the only place that decides whether a start is tried again.
var policies = map[Kind]Policy{
	Variable: Permanent, Argument: Permanent, Subcommand: Permanent, Login: Permanent, Config: Permanent,
	Program: Permanent, Addon: Permanent, Package: Permanent, Runtime: Permanent, Files: Permanent, Value: Permanent,
	Signal: Permanent, Crash: Permanent, HTTP: Permanent, NotMCP: Permanent, Other: Permanent,
	// A server without a word leaves nothing to hope for: it waits for something else than another start, or ends as a
	// program that is no server.
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
	return cmp.Or(c.told, c.Kind).Policy()
}

// kindOfQuote returns the kind of what a line tells that no rule knows: that of an exception that nothing caught, or of
// a value that was rejected; Said if it is neither.
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
