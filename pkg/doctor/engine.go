package doctor

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/wire"
)

// Selection selects checks and overrides their severities.
type Selection struct {
	Only, Skip []string // globs of ids; an empty Only means all
	// Severities override the severities of findings, by id.
	Severities map[string]check.Severity
}

// Wants reports whether a check is selected.
func (s Selection) Wants(id string) bool {
	return (len(s.Only) == 0 || matchesAny(s.Only, id)) && !matchesAny(s.Skip, id)
}

func matchesAny(globs []string, id string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := path.Match(glob, id)
		return ok
	})
}

// Report is the doctor's result. Its JSON form is stable; Schema counts incompatible changes.
type Report struct {
	Schema   int                 `json:"schema"`
	Status   string              `json:"status" mask:"-"` // one of the Status constants
	Servers  []ServerReport      `json:"servers"`
	Findings []check.Finding     `json:"findings"`
	Checks   []check.CheckResult `json:"checks"`
	Duration time.Duration       `json:"-"`
	// Baseline is the effect of a baseline; nil without one.
	Baseline *BaselineReport `json:"baseline,omitempty"`
	// Error is why nothing could be examined, Hint what to do about it.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// ServerReport summarizes one server.
type ServerReport struct {
	Name       string  `json:"name" mask:"-"`
	Status     string  `json:"status" mask:"-"` // ready, failed, unfinished
	DurationMS float64 `json:"duration_ms"`
	Protocol   string  `json:"protocol,omitempty"`
	Tools      int     `json:"tools"`
	// Because is why the server is not ready.
	Because string `json:"because,omitempty"`
	// Hint is the config's hint for a server that is not ready.
	Hint string `json:"hint,omitempty"`
	// Command is the configured command with variables unexpanded; Where is the place of the entry, "file:line:column".
	Command []string `json:"command,omitempty"`
	// URL is the configured address of an HTTP server, without a password.
	URL   string `json:"url,omitempty"`
	Where string `json:"where,omitempty" mask:"-"`
	// Node is the version of Node that runs it; empty for other servers.
	Node string `json:"node,omitempty"`
	// StartMS is the time from start to the response to initialize; zero if that timed out.
	StartMS float64 `json:"start_ms,omitempty"`
	// Info is the server's serverInfo.
	Info *ServerInfo `json:"info,omitempty"`
	// Facts are measurements: the protocol's era, tokens. Gathered sets them.
	Facts []Fact `json:"facts,omitempty"`
	// Called are the calls that the doctor chose (Options.Safe), each as "TOOL {json}"; nil without that option, empty
	// if no tool qualifies.
	Called []string `json:"called,omitzero"`
	// NotCalled is why no tool was called, for example CallsNotAsked; empty if one was.
	NotCalled string `json:"not_called,omitempty"`
}

// Fact is a measurement; ID is the check that made it.
type Fact struct {
	ID       string   `json:"id" mask:"-"`
	Title    string   `json:"title"`
	Evidence string   `json:"evidence"`
	Notes    []string `json:"notes,omitempty"`
}

// CallsNotAsked is the value of NotCalled if no calls were requested.
const CallsNotAsked = "no calls were requested (--call)"

// ServerInfo is a server's own name and version.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// The statuses of a Report.
const (
	StatusHealthy     = "healthy"
	StatusProblems    = "problems"    // there are warnings or errors, or the baseline is stale
	StatusUnreachable = "unreachable" // no server could be started
	StatusAuth        = "auth"        // no server could be started, and one requires authentication
	StatusTimeout     = "timeout"     // the doctor's time limit was reached
	StatusInterrupted = "interrupted" // the user interrupted it
	StatusUsage       = "usage"       // the command line or config is invalid: nothing was examined
)

// Judge runs every selected check on the evidence.
func Judge(fleet *evidence.Fleet, selection Selection) *Report {
	return judgeBy(byCause(Checks()), fleet, selection)
}

// judgeBy runs checks in the given order.
func judgeBy(checks []check.Check, fleet *evidence.Fleet, selection Selection) *Report {
	report := &Report{
		Schema: 1, Status: StatusHealthy,
		Findings: []check.Finding{}, Checks: []check.CheckResult{}, Servers: []ServerReport{},
	}
	for _, e := range fleet.Servers {
		report.Servers = append(report.Servers, summary(e))
		judge := &judge{report: report, selection: selection, server: e.Server.Name, found: make(map[string]bool)}
		judge.mute = e.Clean != nil && len(wire.Messages(e)) == 0
		e.Finds = finder(e)
		for _, one := range checks {
			if one.Ask != nil && (one.Need < check.NeedHTTP || e.OverHTTP()) {
				judge.judge(one, missing(e, one), func() []check.Finding { return one.Ask(e) })
			}
		}
	}
	all := &judge{report: report, selection: selection, found: make(map[string]bool)}
	for _, one := range checks {
		if one.AskAll == nil {
			continue
		}
		missing := ""
		if one.Need == check.NeedPins && fleet.Pinned == nil {
			missing = "no tool definitions are pinned (--baseline)"
		}
		all.judge(one, missing, func() []check.Finding { return one.AskAll(fleet) })
	}
	sortReport(report)
	report.Status = statusOf(report, fleet)
	return report
}

// finder returns a function that reports whether a check has findings. It runs a check at most once, and only if
// another one depends on it.
func finder(e *evidence.Evidence) func(id string) bool {
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

// judge runs checks on one server and remembers which had findings.
type judge struct {
	report    *Report
	selection Selection
	server    string
	found     map[string]bool
	mute      bool // the server sent no message
}

// judge runs one check, unless its evidence is missing or an earlier finding explains its findings.
func (j *judge) judge(one check.Check, missing string, ask func() []check.Finding) {
	if !j.selection.Wants(one.ID) {
		return
	}
	// Without messages, a check of messages cannot pass.
	ofMessages := one.Need == check.NeedProcess && (one.Group == check.GroupRPC || one.Group == check.GroupHandshake)
	result := check.CheckResult{ID: one.ID, Server: j.server, Outcome: check.Passed}
	explained := slices.IndexFunc(one.After, func(id string) bool { return j.found[id] })
	switch {
	case explained >= 0:
		result.Outcome, result.Because = check.Skipped, one.After[explained]
	case missing != "":
		result.Outcome, result.Because = check.Skipped, missing
	default:
		findings, err := recovered(ask)
		if err != nil {
			result.Outcome, result.Because = check.Broke, err.Error()
			break
		}
		result.Outcome = j.keep(one, findings)
		if result.Outcome == check.Passed && j.mute && ofMessages {
			result.Outcome, result.Because = check.Skipped, "the server sent no message"
		}
	}
	j.report.Checks = append(j.report.Checks, result)
}

// keep fills in findings from their check's page and adds them to the report.
func (j *judge) keep(one check.Check, findings []check.Finding) check.Outcome {
	worst := -1
	for _, f := range findings {
		f.ID, f.Source = one.ID, one.Source
		f.Severity = cmp.Or(j.selection.Severities[one.ID], f.Severity, one.Severity)
		f.Server = cmp.Or(f.Server, j.server)
		f.Title = cmp.Or(f.Title, one.Title)
		if j.selection.Severities[one.ID] != "" {
			f.Manner = check.Plain
		}
		if f.Fix == nil {
			f.Fix = slices.Clone(one.Fix) // callers may change it
		}
		if f.Breaks == nil {
			f.Breaks = slices.Clone(one.Breaks)
		}
		j.report.Findings = append(j.report.Findings, f)
		j.found[one.ID] = true
		worst = max(worst, f.Severity.Rank())
	}
	return []check.Outcome{check.Passed, check.Noted, check.Warned, check.Failed}[worst+1]
}

// recovered calls ask and turns a panic into an error, so that other checks still run.
func recovered(ask func() []check.Finding) (findings []check.Finding, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("check crashed: %v\n%s", cause, debug.Stack())
		}
	}()
	return ask(), nil
}

// missing returns what evidence a check lacks, or nothing.
func missing(e *evidence.Evidence, one check.Check) string { return missingOn(runtime.GOOS, e, one) }

// missingOn is missing for a given operating system.
func missingOn(goos string, e *evidence.Evidence, one check.Check) string {
	need := one.Need
	_, listed := e.Tools()
	switch {
	case e.Cut && need != check.NeedEntry:
		return "the examination was cut short"
	case e.Recorded && need == check.NeedEntry:
		return "a recording does not have the server's files"
	case need != check.NeedEntry && e.OverHTTP() && ofProcesses(one):
		return "the server uses HTTP and is not started by toolx"
	case need >= check.NeedHTTP:
		return missingHTTP(e, need)
	case need == check.NeedProbe && e.OverHTTP():
		return "HTTP servers have no probing run"
	case need >= check.NeedProcess && need != check.NeedProbe && need != check.NeedSignal && e.Clean == nil:
		return "the server was not started"
	case need == check.NeedHandshake && !e.Handshaken(), need == check.NeedTools && !e.Handshaken():
		return "the handshake did not complete"
	case need == check.NeedTools && !listed, need == check.NeedList && !listed:
		return "tools/list was not answered"
	case need == check.NeedProbe && e.Probe == nil:
		return "the probing run was not made"
	case need == check.NeedTree && (e.Clean == nil || e.Clean.Tree == nil):
		return noTree(e)
	case need == check.NeedSignal && goos == "windows":
		return "Windows has no SIGTERM"
	case need == check.NeedSignal && e.Probe == nil:
		return "the probing run was not made"
	case need == check.NeedCalls:
		return notCalled(e)
	}
	return ""
}

// notCalled returns why no tool was called; empty if one was.
func notCalled(e *evidence.Evidence) string {
	switch {
	case len(e.Calls) > 0:
		return ""
	case !e.CallsAsked:
		return CallsNotAsked
	case e.LaunchErr != nil:
		return "the server was not started"
	case !e.Handshaken():
		return "the server did not list its tools"
	}
	return "no read-only tool can be called without invented arguments"
}

// ofProcesses reports whether a check is about a process that toolx starts or its output.
func ofProcesses(one check.Check) bool {
	groups := []check.Group{check.GroupLaunch, check.GroupProcess, check.GroupFraming}
	return slices.Contains(groups, one.Group)
}

// byCause moves each check behind those in its After, because the cause of a symptom is often in a later group.
// Otherwise, and in cycles, it keeps the order.
func byCause(checks []check.Check) []check.Check {
	ordered := make([]check.Check, 0, len(checks))
	placed := make(map[string]bool, len(checks))
	var place func(one check.Check)
	place = func(one check.Check) {
		if placed[one.ID] {
			return
		}
		placed[one.ID] = true
		for _, id := range one.After {
			if at := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == id }); at >= 0 {
				place(checks[at])
			}
		}
		ordered = append(ordered, one)
	}
	for _, check := range checks {
		place(check)
	}
	return ordered
}

// noTree returns why the clean run's processes were not inspected.
func noTree(e *evidence.Evidence) string {
	switch {
	case !e.Handshaken():
		return "the handshake did not complete"
	case runtime.GOOS != "linux":
		return "processes can be inspected only on Linux"
	}
	return "the process exited before it was inspected"
}
