package doctor

import (
	"cmp"
	"slices"
	"sync"
)

// Severity says how much a finding matters.
type Severity string

// The severities. An error breaks real clients or a MUST of the specification, a
// warning a SHOULD or some clients; info is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// rank orders severities, the worst highest.
func (s Severity) rank() int {
	return slices.Index([]Severity{Info, Warning, Error}, s)
}

// AtLeast says whether s matters as much as other.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

// Group is a family of checks, in the order in which they are judged: what comes
// first is the likelier root cause.
type Group string

// The groups.
const (
	GroupConfig      Group = "config"
	GroupLaunch      Group = "launch"
	GroupProcess     Group = "process"
	GroupFraming     Group = "framing"
	GroupRPC         Group = "json-rpc"
	GroupHandshake   Group = "handshake"
	GroupTools       Group = "tools"
	GroupSecurity    Group = "security"
	GroupHTTP        Group = "http"
	GroupPerformance Group = "performance"
)

// Need is what a check cannot do without; where it is missing the check is skipped.
type Need int

// The needs.
const (
	NeedEntry     Need = iota // the config's entry alone
	NeedProcess               // the clean run's process was started
	NeedHandshake             // the clean run's handshake succeeded
	NeedTools                 // tools/list was answered
	NeedProbe                 // the probing run was made
	NeedCalls                 // the user gave calls to make
	NeedList                  // tools/list was answered, even by what no client accepts
	NeedSample                // the clean run's processes were measured
	NeedSpeed                 // the clean run's answers were timed
	NeedPins                  // tool definitions are pinned (Options.Pinned); of AskAll

	// The last three are of checks for servers that are reached by HTTP. Of others they
	// are not asked at all.
	NeedHTTP        // the server was asked something
	NeedHTTPSession // initialize, as a raw exchange, agreed on a revision
	NeedHTTPModern  // the server speaks a revision without a handshake
)

// Check is one question. A family's table has its ID, Need and Ask or AskAll; the
// rest is read from its page.
type Check struct {
	ID   string // stable, public, kebab-case
	Need Need
	// Ask looks at one server's evidence and returns what it finds; nil is a pass.
	// Exactly one of Ask and AskAll is set.
	Ask func(*Evidence) []Finding
	// AskAll looks at all servers and the config together.
	AskAll func(*Fleet) []Finding

	Page
}

// table is the doctor's whole table. It is made once, when it is first asked for.
var table = sync.OnceValue(func() []Check {
	all := slices.Concat(
		configChecks(), launchChecks(), processChecks(), framingChecks(), rpcChecks(),
		handshakeChecks(), toolChecks(), securityChecks(), httpChecks(), performanceChecks(),
	)
	for i := range all {
		all[i].Page = pageOf(all[i].ID)
	}
	return all
})

// places are the checks' places in the table, by id.
var places = sync.OnceValue(func() map[string]int { return positions(table()) })

// Checks is the whole table, in the order of judging. Ids are unique. Callers must not
// change it.
func Checks() []Check { return table() }

// Find returns the check of that id.
func Find(id string) (Check, bool) {
	at, found := places()[id]
	if !found {
		return Check{}, false
	}
	return table()[at], true
}

// Finding is one thing that is wrong.
type Finding struct {
	ID       string   `json:"id" mask:"-"`
	Severity Severity `json:"severity"`
	Server   string   `json:"server,omitempty" mask:"-"`
	Title    string   `json:"title"`
	Where    *Where   `json:"where,omitempty"`
	// Evidence is what was seen: bytes as they came (the outputs make them safe), or
	// a sentence with figures.
	Evidence string `json:"evidence,omitempty"`
	// Notes are further facts beside the evidence, a sentence each: "and 41 more
	// lines", "toolx found the message on the line all the same".
	Notes []string `json:"notes,omitempty"`
	// Places are all places where it was found, where there are several (Gathered). Where,
	// Evidence and Notes are those of the first.
	Places  []Place  `json:"places,omitempty"`
	Culprit *Culprit `json:"culprit,omitempty"`
	Breaks  []string `json:"breaks,omitempty" mask:"-"`
	Fix     []string `json:"fix,omitempty"`
	Source  string   `json:"source,omitempty" mask:"-"`
}

// Place is one of several places of a finding: see its members of the same names.
type Place struct {
	Where    *Where   `json:"where,omitempty"`
	Evidence string   `json:"evidence,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Where is the place of a finding; fields that say nothing are left out.
type Where struct {
	Run     string  `json:"run,omitempty" mask:"-"`   // "clean", "probing", or "raw"
	Line    int     `json:"line,omitempty"`           // of stdout, from 1
	Byte    *int64  `json:"byte,omitempty"`           // in that line, from 0
	Phase   string  `json:"phase,omitempty" mask:"-"` // see servers.Phase
	MS      float64 `json:"ms,omitempty"`             // since the process was started
	Method  string  `json:"method,omitempty"`         // of the request it is about
	Tool    string  `json:"tool,omitempty"`           // the plain name
	Pointer string  `json:"pointer,omitempty"`        // JSON pointer into what Method answered or Tool is
	File    string  `json:"file,omitempty" mask:"-"`  // of the config: "file:line:column"
	Key     string  `json:"key,omitempty" mask:"-"`   // in the config: "servers.zwave.env.TOKEN"
}

// Culprit is who most likely wrote something.
type Culprit struct {
	Name       string `json:"name"`
	Confidence string `json:"confidence" mask:"-"` // certain, likely, generic
}

// Outcome is how a check ended.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "pass"
	Warned  Outcome = "warn"
	Failed  Outcome = "fail"
	Noted   Outcome = "info"
	Skipped Outcome = "skip"
	Broke   Outcome = "error" // the check itself went wrong
)

// outcomeOf is the outcome of a check whose worst finding is that severe.
func outcomeOf(severity Severity) Outcome {
	switch severity {
	case Error:
		return Failed
	case Warning:
		return Warned
	}
	return Noted
}

// CheckResult is how one check ended for one server (or for all together).
type CheckResult struct {
	ID      string  `json:"id" mask:"-"`
	Server  string  `json:"server,omitempty" mask:"-"`
	Outcome Outcome `json:"result"`
	Because string  `json:"because,omitempty"` // why it was skipped, or broke
}

// sortFindings puts the root first: by the order of the checks, then by severity
// within one check, keeping what a check says in its order.
func sortFindings(findings []Finding) {
	order := places()
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity.rank(), a.Severity.rank()),
			cmp.Compare(order[a.ID], order[b.ID]),
		)
	})
}
