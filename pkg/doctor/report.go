package doctor

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
)

// summary sums up what is known of one server.
func summary(e *evidence.Evidence) ServerReport {
	tools, _ := e.Tools()
	s := ServerReport{
		Name: e.Server.Name, Status: "failed", Because: whyFailed(e),
		DurationMS: float64(e.Duration.Milliseconds()), Tools: len(tools), Node: e.Node, Info: infoOf(e), Called: calledByItself(e), NotCalled: notCalled(e),
	}
	if e.Server.Command != "" {
		s.Command = append([]string{e.Server.Command}, e.Server.Args...)
	}
	s.URL = evidence.PlainURL(e.Server.URL)
	if e.Server.Origin.File != "" {
		s.Where = e.Server.Origin.String()
	}
	switch {
	case e.Cut:
		s.Status, s.Because = "unfinished", "the examination was cut short"
	case e.Handshaken():
		s.Status, s.Because = "ready", ""
	}
	if s.Status == "failed" {
		s.Hint = e.Server.Hint
	}
	if e.Handshaken() {
		s.Protocol = e.Clean.Protocol
	}
	return s
}

// whyFailed says why a server has no session.
func whyFailed(e *evidence.Evidence) string {
	switch {
	case e.LaunchErr != nil:
		return e.LaunchErr.Error()
	case e.Clean != nil && e.Clean.Failure != nil:
		return e.Clean.Failure.Error()
	}
	return ""
}

// infoOf is the serverInfo of the handshake, nil where there is none.
func infoOf(e *evidence.Evidence) *ServerInfo {
	exchange := e.Clean.Exchange("initialize", 0)
	if exchange == nil {
		return nil
	}
	var result struct {
		Info *ServerInfo `json:"serverInfo"`
	}
	// A serverInfo of a wrong type is a finding, and no info.
	if json.Unmarshal(exchange.Result, &result) != nil {
		return nil
	}
	return result.Info
}

// statusOf is what the whole comes to.
func statusOf(report *Report, fleet *evidence.Fleet) string {
	ready := slices.ContainsFunc(report.Servers, func(s ServerReport) bool { return s.Status == "ready" })
	switch {
	case len(report.Servers) > 0 && !ready && slices.ContainsFunc(fleet.Servers, refusedForAuth):
		return StatusAuth
	case len(report.Servers) > 0 && !ready:
		return StatusUnreachable
	case slices.ContainsFunc(report.Findings, func(f check.Finding) bool { return f.Severity.AtLeast(check.Warning) }):
		return StatusProblems
	}
	return StatusHealthy
}

// authWords are how servers say, in answer to initialize, that they do not know the
// user. MCP has no code for it on stdio.
var authWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(unauthori[sz]ed|unauthenticated|not (authori[sz]ed|authenticated|logged in)|authentication (is )?(required|needed|failed))\b`)
})

// refusedForAuth reports whether the handshake was refused in words of authentication.
func refusedForAuth(e *evidence.Evidence) bool {
	switch {
	case e.Clean == nil || e.Clean.Failure == nil:
		return false
	case e.Clean.Failure.Kind() == fault.KindAuth: // as HTTP says it
		return true
	case e.Clean.Failure.Ending != servers.EndingRefused:
		return false
	}
	var refusal *exec.ToolError
	return errors.As(e.Clean.Failure.Reason, &refusal) && authWords().MatchString(refusal.Message)
}

// Fails reports whether the report has a finding at or above a severity, or a baseline
// that is stale. An empty severity stands for none at all.
func (r *Report) Fails(atLeast check.Severity) bool {
	if atLeast == "" {
		return false
	}
	return r.Baseline != nil && len(r.Baseline.Stale) > 0 ||
		slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Severity.AtLeast(atLeast) })
}

// Mask hides secrets with the given function in every text of the report, whoever wrote
// it: a report is made to be passed on. Fields with the tag mask:"-" hold words of toolx's
// own, or names that the user gave.
func (r *Report) Mask(hide func(string) string) {
	reflect.ValueOf(r).Elem().Set(maskedValue(reflect.ValueOf(*r), hide))
}

// maskedValue is a copy of a value with its texts masked. It shares nothing with the value:
// the fixes of a finding, for one, are those of the table of checks.
func maskedValue(value reflect.Value, hide func(string) string) reflect.Value {
	copied := reflect.New(value.Type()).Elem()
	copied.Set(value)
	switch {
	case value.Type() == reflect.TypeFor[string]():
		copied.SetString(hide(value.String()))
	case value.Kind() == reflect.Pointer && !value.IsNil():
		copied.Set(reflect.New(value.Type().Elem()))
		copied.Elem().Set(maskedValue(value.Elem(), hide))
	case value.Kind() == reflect.Slice && !value.IsNil():
		copied.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
		for i := range value.Len() {
			copied.Index(i).Set(maskedValue(value.Index(i), hide))
		}
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).Tag.Get("mask") != "-" {
				copied.Field(i).Set(maskedValue(value.Field(i), hide))
			}
		}
	}
	return copied
}

// Uncut puts the whole line in the place of evidence that was cut, where the
// finding names a line of stdout that was kept, or is the answer to a raw request (4 KiB
// of each are).
func (r *Report) Uncut(fleet *evidence.Fleet) {
	for i := range r.Findings {
		finding := &r.Findings[i]
		if finding.Where == nil || finding.Where.Line == 0 && finding.Where.Run != "raw" {
			continue
		}
		at := slices.IndexFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Server.Name == finding.Server })
		if at < 0 {
			continue
		}
		if whole, found := wholeLine(fleet.Servers[at], finding.Where, finding.Evidence); found {
			finding.Evidence = whole
		}
	}
}

// wholeLine finds the text on a line of stdout that evidence is the beginning of.
func wholeLine(e *evidence.Evidence, where *evidence.Where, evidence string) (string, bool) {
	beginning := strings.TrimSuffix(evidence, "…")
	if where.Run == "raw" {
		return wholeAnswer(e.HTTP, beginning)
	}
	for _, run := range e.Runs() {
		if where.Run != "" && where.Run != run.Name {
			continue
		}
		for _, event := range run.Events {
			number, text := stdoutLine(event)
			if number == where.Line && len(text) > len(evidence) && strings.HasPrefix(text, beginning) {
				return text, true
			}
		}
	}
	return "", false
}

// wholeAnswer finds the answer over HTTP that evidence is the beginning of.
func wholeAnswer(h *evidence.HTTPEvidence, beginning string) (string, bool) {
	const whole = 4 << 10
	for _, name := range slices.Sorted(maps.Keys(h.Replies)) {
		if words := h.Replies[name].Words(whole); len(words) > len(beginning) && strings.HasPrefix(words, beginning) {
			return words, true
		}
	}
	return "", false
}

// stdoutLine is the number and the text of a line of stdout.
func stdoutLine(event exec.Event) (number int, text string) {
	switch e := event.(type) {
	case servers.PollutedLine:
		return e.Line, string(e.Text)
	case servers.OddFrame:
		return e.Line, string(e.Bytes)
	case servers.FrameReceived:
		return e.Line, string(e.Bytes)
	}
	return 0, ""
}
