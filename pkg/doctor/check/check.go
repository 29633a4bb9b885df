// Package check defines the doctor's checks and findings. Each check's page, a Markdown file beside its code, has its
// title, severity, fixes and the rest.
package check

import (
	"slices"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
)

// Severity is how serious a finding is.
type Severity string

// The severities. An error breaks most clients or violates a MUST of the specification, a warning breaks some clients
// or violates a SHOULD; info does no harm.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Rank returns a number that is higher for worse severities.
func (s Severity) Rank() int {
	return slices.Index([]Severity{Info, Warning, Error}, s)
}

// AtLeast reports whether s is as severe as other.
func (s Severity) AtLeast(other Severity) bool { return s.Rank() >= other.Rank() }

// Group is a family of checks. Groups run in the order below, with likely root causes first.
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

// Need is the evidence that a check requires. Without it, the check is skipped.
type Need int

// The needs.
const (
	NeedEntry     Need = iota // only the config entry
	NeedProcess               // the clean run started a process
	NeedHandshake             // the clean run's handshake succeeded
	NeedTools                 // the server responded to tools/list
	NeedProbe                 // the probing run took place
	NeedCalls                 // tools were called
	NeedList                  // the server responded to tools/list, perhaps invalidly
	NeedTree                  // the clean run's processes were inspected
	NeedSignal                // the probing run took place, on a system with SIGTERM
	NeedPins                  // tool definitions are pinned (Options.Pinned); only for AskAll

	// The last three apply only to HTTP servers. Other servers do not get these checks.
	NeedHTTP        // raw requests were sent
	NeedHTTPSession // a raw initialize request succeeded
	NeedHTTPModern  // the server supports a revision without a handshake
)

// Check looks for one kind of problem. A family's table has its ID, Need and Ask or AskAll; its page has the rest.
type Check struct {
	ID   string `json:"id"` // stable, public, kebab-case
	Need Need   `json:"-"`
	// Ask examines one server's evidence; no findings is a pass. Exactly one of Ask and AskAll is set.
	Ask func(*evidence.Evidence) []Finding `json:"-"`
	// AskAll examines all servers and the config together.
	AskAll func(*evidence.Fleet) []Finding `json:"-"`

	Page
}

// Finding is one problem, note or fact.
type Finding struct {
	ID       string          `json:"id" mask:"-"`
	Severity Severity        `json:"severity"`
	Server   string          `json:"server,omitempty" mask:"-"`
	Title    string          `json:"title"`
	Where    *evidence.Where `json:"where,omitempty"`
	// Evidence is a quote of raw bytes, which each output escapes, or a sentence.
	Evidence string `json:"evidence,omitempty"`
	// Notes are more facts, one sentence each: "and 41 more lines".
	Notes []string `json:"notes,omitempty"`
	// Places lists all places if there are several. Where, Evidence and Notes are those of the first.
	Places  []Place          `json:"places,omitempty"`
	Culprit *culprit.Culprit `json:"culprit,omitempty"`
	Breaks  []string         `json:"breaks,omitempty" mask:"-"`
	Fix     []string         `json:"fix,omitempty"`
	// Variables has the names of missing variables: all names of any one group are required.
	Variables [][]string `json:"variables,omitempty"`
	Source    string     `json:"source,omitempty" mask:"-"`
	Manner    Manner     `json:"-"`
}

// Manner is how a finding is reported. If the user sets its severity, it is Plain.
type Manner int

// The manners.
const (
	Plain Manner = iota
	// Fact is a measurement that healthy servers have too. It is shown in the report's header and never fails.
	Fact
	// Quiet is a note that most servers get and few people act on. The text report shows it only with -v.
	Quiet
	// Length is about the length of tool definitions. A server's findings about length are joined.
	Length
	// LengthFact is a Fact, or the first of the server's Length findings if it has any.
	LengthFact
)

// Place is one of several places of a finding.
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
	Broke   Outcome = "error" // the check crashed
)

// CheckResult is the outcome of one check for one server, or for all together.
type CheckResult struct {
	ID      string  `json:"id" mask:"-"`
	Server  string  `json:"server,omitempty" mask:"-"`
	Outcome Outcome `json:"result"`
	Because string  `json:"because,omitempty"` // why it was skipped or crashed
}

// AllPlaces returns the places of a finding; there is at least one.
func (f Finding) AllPlaces() []Place {
	if len(f.Places) > 0 {
		return f.Places
	}
	return []Place{{Where: f.Where, Evidence: f.Evidence, Notes: f.Notes}}
}

// WorkAround is the prefix of a fix that is a config entry with toolx proxy.
const WorkAround = "work-around: "
