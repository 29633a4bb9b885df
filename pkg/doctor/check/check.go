// Package check defines the doctor's checks and findings. Everything about a check but its question is on
// its page, which lies beside it.
package check

import (
	"slices"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
)

// Severity says how much a finding matters.
type Severity string

// The severities. An error breaks real clients or a MUST of the specification, a warning a SHOULD or some
// clients; info is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Rank orders severities, the worst highest.
func (s Severity) Rank() int {
	return slices.Index([]Severity{Info, Warning, Error}, s)
}

// AtLeast reports whether s matters as much as other.
func (s Severity) AtLeast(other Severity) bool { return s.Rank() >= other.Rank() }

// Group is a family of checks. The groups are judged in this order, the likelier root causes first.
type Group string

// The groups.
const (
	GroupConfig    Group = "config"
	GroupLaunch    Group = "launch"
	GroupProcess   Group = "process"
	GroupFraming   Group = "framing"
	GroupRPC       Group = "json-rpc"
	GroupHandshake Group = "handshake"
	GroupTools     Group = "tools"
	GroupSecurity  Group = "security"
	GroupHTTP      Group = "http"
)

// Need is the evidence that a check requires; without it the check is skipped.
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
	NeedTree                  // the clean run's processes were seen
	NeedSignal                // the probing run was made, on a system with SIGTERM
	NeedPins                  // tool definitions are pinned (Options.Pinned); of AskAll

	// The last three are for servers over HTTP; for other servers these checks do not exist.
	NeedHTTP        // the server was asked something
	NeedHTTPSession // initialize, as a raw exchange, agreed on a revision
	NeedHTTPModern  // the server speaks a revision without a handshake
)

// Check is one question. A family's table has its ID, Need and Ask or AskAll; its page has the rest.
type Check struct {
	ID   string `json:"id"` // stable, public, kebab-case
	Need Need   `json:"-"`
	// Ask looks at one server's evidence and returns what it finds; nil is a pass.
	// Exactly one of Ask and AskAll is set.
	Ask func(*evidence.Evidence) []Finding `json:"-"`
	// AskAll looks at all servers and the config together.
	AskAll func(*evidence.Fleet) []Finding `json:"-"`

	Page
}

// Finding is one thing that is wrong.
type Finding struct {
	ID       string          `json:"id" mask:"-"`
	Severity Severity        `json:"severity"`
	Server   string          `json:"server,omitempty" mask:"-"`
	Title    string          `json:"title"`
	Where    *evidence.Where `json:"where,omitempty"`
	// Evidence is what was seen: bytes as they came, which the outputs make safe, or a sentence.
	Evidence string `json:"evidence,omitempty"`
	// Notes are further facts, a sentence each: "and 41 more lines".
	Notes []string `json:"notes,omitempty"`
	// Places are all places of the finding if there are several; Where, Evidence and Notes are those of the first.
	Places  []Place          `json:"places,omitempty"`
	Culprit *culprit.Culprit `json:"culprit,omitempty"`
	Breaks  []string         `json:"breaks,omitempty" mask:"-"`
	Fix     []string         `json:"fix,omitempty"`
	// Variables has the names of missing variables: one of the groups is needed, and all names of that group.
	Variables [][]string `json:"variables,omitempty"`
	Source    string     `json:"source,omitempty" mask:"-"`
	Manner    Manner     `json:"-"`
}

// Manner is how a finding is reported, unless the user sets its severity: then it is a finding like all others.
type Manner int

// The manners.
const (
	Plain Manner = iota
	// Fact is a measurement of a healthy server too. It is in the head of the report, and never fails.
	Fact
	// Quiet is a note that most servers get and few can act on; texts for people have it only if they have everything.
	Quiet
	// Length is about the length of tool definitions. All of a server's are one finding.
	Length
	// LengthFact is a Fact, unless the server has findings of the manner Length: then it is their first.
	LengthFact
)

// Place is one of several places of a finding: see its members of the same names.
type Place struct {
	Where    *evidence.Where `json:"where,omitempty"`
	Evidence string          `json:"evidence,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
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

// CheckResult is how one check ended for one server (or for all together).
type CheckResult struct {
	ID      string  `json:"id" mask:"-"`
	Server  string  `json:"server,omitempty" mask:"-"`
	Outcome Outcome `json:"result"`
	Because string  `json:"because,omitempty"` // why it was skipped, or broke
}

// AllPlaces returns the places of a finding, at least one.
func (f Finding) AllPlaces() []Place {
	if len(f.Places) > 0 {
		return f.Places
	}
	return []Place{{Where: f.Where, Evidence: f.Evidence, Notes: f.Notes}}
}

// WorkAround begins a fix that leaves the cause in place: an entry with toolx proxy for a client's config.
const WorkAround = "work-around: "
