package doctor

import (
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"time"
)

// Selection says which checks are judged, and how much they matter.
type Selection struct {
	Only, Skip []string // globs over ids; Only empty means all
	// Severities override the table's, by id.
	Severities map[string]Severity
}

// Wants says whether a check is selected.
func (s Selection) Wants(id string) bool {
	return (len(s.Only) == 0 || matchesAny(s.Only, id)) && !matchesAny(s.Skip, id)
}

func matchesAny(globs []string, id string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := path.Match(glob, id)
		return ok
	})
}

// Report is what the doctor says. Its JSON form is stable; Schema counts its
// incompatible changes.
type Report struct {
	Schema   int            `json:"schema"`
	Status   string         `json:"status" mask:"-"` // one of the Status constants
	Servers  []ServerReport `json:"servers"`
	Findings []Finding      `json:"findings"`
	Checks   []CheckResult  `json:"checks"`
	Duration time.Duration  `json:"-"`
	// Baseline says what a baseline took away, nil where none was given.
	Baseline *BaselineReport `json:"baseline,omitempty"`
	// Error is why nothing could be examined at all, Hint what to do about it.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// ServerReport sums up one server.
type ServerReport struct {
	Name       string  `json:"name" mask:"-"`
	Status     string  `json:"status" mask:"-"` // ready, failed, unfinished
	DurationMS float64 `json:"duration_ms"`
	Protocol   string  `json:"protocol,omitempty"`
	Tools      int     `json:"tools"`
	// Because says why the server is not ready.
	Because string `json:"because,omitempty"`
	// Hint is what the config says to do about a server that is not ready.
	Hint string `json:"hint,omitempty"`
	// Command is what the config starts, its variables not expanded; Where in the
	// config the entry begins, "file:line:column".
	Command []string `json:"command,omitempty"`
	// URL is the address of a server that is reached by HTTP, as the config has it,
	// without a password.
	URL   string `json:"url,omitempty"`
	Where string `json:"where,omitempty" mask:"-"`
	// Node is the version of the Node that runs it, empty for other servers.
	Node string `json:"node,omitempty"`
	// Info is what the server says of itself.
	Info *ServerInfo `json:"info,omitempty"`
	// Called are the calls that the doctor made by itself (Options.Safe), each as "TOOL
	// {json}"; nil where it was not asked to, empty where no tool can be called so.
	Called []string `json:"called,omitzero"`
	// NotCalled says why no tool was called, by CallsNotAsked or in other words; empty where
	// one was.
	NotCalled string `json:"not_called,omitempty"`
}

// CallsNotAsked is why no tool was called where nobody asked for it.
const CallsNotAsked = "no calls were asked for (--call)"

// ServerInfo is a server's own name and version.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// The statuses of a Report.
const (
	StatusHealthy     = "healthy"
	StatusProblems    = "problems"    // a warning or an error was found, or the baseline is stale
	StatusUnreachable = "unreachable" // no server could be started
	StatusAuth        = "auth"        // no server could be, since one wants authentication
	StatusTimeout     = "timeout"     // the doctor's own time was up
	StatusInterrupted = "interrupted" // the user gave up
	StatusUsage       = "usage"       // command line or config are wrong: nothing was examined
)

// Judge asks every selected check about the evidence.
func Judge(fleet *Fleet, selection Selection) *Report {
	report := &Report{Schema: 1, Status: StatusHealthy, Findings: []Finding{}, Checks: []CheckResult{}, Servers: []ServerReport{}}
	checks := byCause(Checks())
	for _, evidence := range fleet.Servers {
		report.Servers = append(report.Servers, summary(evidence))
		judge := &judge{report: report, selection: selection, server: evidence.Server.Name, found: make(map[string]bool)}
		judge.mute = evidence.Clean != nil && len(evidence.messages()) == 0
		evidence.finds = finder(evidence)
		for _, check := range checks {
			if check.Ask != nil && (check.Need < NeedHTTP || evidence.overHTTP()) {
				judge.judge(check, missing(evidence, check), func() []Finding { return check.Ask(evidence) })
			}
		}
	}
	all := &judge{report: report, selection: selection, found: make(map[string]bool)}
	for _, check := range checks {
		if check.AskAll != nil {
			all.judge(check, missingOfAll(fleet, check.Need), func() []Finding { return check.AskAll(fleet) })
		}
	}
	sortFindings(report.Findings)
	sortResults(report.Checks, places())
	report.Status = statusOf(report, fleet)
	return report
}

// finder asks checks for others that leave to them what they find, each once and only
// where it matters.
func finder(e *Evidence) func(id string) bool {
	asked := make(map[string]bool)
	return func(id string) bool {
		found, known := asked[id]
		if !known {
			check, exists := Find(id)
			found = exists && missing(e, check) == "" && len(check.Ask(e)) > 0
			asked[id] = found
		}
		return found
	}
}

// judge asks checks about one server and keeps what has been found so far.
type judge struct {
	report    *Report
	selection Selection
	server    string
	found     map[string]bool
	mute      bool // the server sent no message
}

// judge asks one check, unless something stands against it.
func (j *judge) judge(check Check, missing string, ask func() []Finding) {
	if !j.selection.Wants(check.ID) {
		return
	}
	result := CheckResult{ID: check.ID, Server: j.server, Outcome: Passed}
	switch cause := j.cause(check); {
	case cause != "":
		result.Outcome, result.Because = Skipped, cause
	case missing != "":
		result.Outcome, result.Because = Skipped, missing
	default:
		findings, err := guarded(ask)
		if err != nil {
			result.Outcome, result.Because = Broke, err.Error()
			break
		}
		result.Outcome = j.take(check, findings)
		if result.Outcome == Passed && j.mute && ofMessages(check) {
			result.Outcome, result.Because = Skipped, "the server sent no message"
		}
	}
	j.report.Checks = append(j.report.Checks, result)
}

// cause is the earlier finding that explains what the check would see.
func (j *judge) cause(check Check) string {
	for _, id := range check.After {
		if j.found[id] {
			return id
		}
	}
	return ""
}

// take completes findings from the table and keeps them.
func (j *judge) take(check Check, findings []Finding) Outcome {
	outcome := Passed
	for _, finding := range findings {
		finding.ID = check.ID
		if finding.Severity == "" {
			finding.Severity = check.Severity
		}
		if severity, ok := j.selection.Severities[check.ID]; ok {
			finding.Severity = severity
		}
		if finding.Server == "" {
			finding.Server = j.server
		}
		if finding.Title == "" {
			finding.Title = check.Title
		}
		if finding.Fix == nil {
			finding.Fix = slices.Clone(check.Fix) // the table's own stays as it is
		}
		if finding.Breaks == nil {
			finding.Breaks = slices.Clone(check.Breaks)
		}
		finding.Source = check.Source
		j.report.Findings = append(j.report.Findings, finding)
		j.found[check.ID] = true
		if next := outcomeOf(finding.Severity); worse(next, outcome) {
			outcome = next
		}
	}
	return outcome
}

func worse(a, b Outcome) bool {
	order := []Outcome{Passed, Noted, Warned, Failed}
	return slices.Index(order, a) > slices.Index(order, b)
}

// guarded asks, and turns a panic into an error: a check that crashes is a result
// of its own and takes no other down.
func guarded(ask func() []Finding) (findings []Finding, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the check crashed: %v\n%s", cause, debug.Stack())
		}
	}()
	return ask(), nil
}

// missing says what of a check's need is not there, empty where all is.
func missing(e *Evidence, check Check) string {
	need := check.Need
	_, listed := e.Tools()
	switch {
	case e.Cut && need != NeedEntry:
		return "the examination was cut short"
	case need != NeedEntry && e.overHTTP() && ofProcesses(check):
		return "the server is reached by HTTP, and is no program that toolx starts"
	case need >= NeedHTTP:
		return missingHTTP(e, need)
	case need == NeedProbe && e.overHTTP():
		return "servers that are reached by HTTP have no probing run"
	case need >= NeedProcess && need != NeedProbe && e.Clean == nil:
		return "the server was not started"
	case need == NeedHandshake && !e.Handshaken(), need == NeedTools && !e.Handshaken():
		return "there was no handshake"
	case need == NeedTools && !listed, need == NeedList && !listed:
		return "tools/list was not answered"
	case need == NeedProbe && e.Probe == nil:
		return "the probing run was not made"
	case need == NeedSample && (e.Clean == nil || e.Clean.Idle == nil):
		return noSample(e)
	case need == NeedSpeed && (e.Clean == nil || e.Clean.Speed == nil):
		return noSpeed(e)
	case need == NeedCalls:
		return e.notCalled()
	}
	return ""
}

// notCalled says why no tool was called; empty where one was.
func (e *Evidence) notCalled() string {
	switch {
	case len(e.Calls) > 0:
		return ""
	case !e.CallsAsked:
		return CallsNotAsked
	case e.LaunchErr != nil:
		return "the server was not started"
	case !e.Handshaken():
		return "the server did not get as far as listing its tools"
	}
	return "no tool says that it is read-only and can be called without invented arguments"
}

// ofMessages says whether a check that needs no handshake is about messages all the same:
// where there are none, that it found nothing says nothing.
func ofMessages(check Check) bool {
	return check.Need == NeedProcess && (check.Group == GroupRPC || check.Group == GroupHandshake)
}

// ofProcesses says whether a check is about a program that toolx starts, and about its
// stdout and stderr.
func ofProcesses(check Check) bool {
	switch check.Group {
	case GroupLaunch, GroupProcess, GroupFraming:
		return true
	}
	return check.Need == NeedSample
}

// missingOfAll says what a check of all servers lacks, empty where nothing.
func missingOfAll(fleet *Fleet, need Need) string {
	if need == NeedPins && fleet.Pinned == nil {
		return "no tool definitions are pinned (--baseline)"
	}
	return ""
}
