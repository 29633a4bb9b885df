package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// summary returns the report about one server.
func summary(e *evidence.Evidence) ServerReport {
	tools, _ := e.Tools()
	s := ServerReport{
		Name: e.Server.Name, Status: "failed", DurationMS: float64(e.Duration.Milliseconds()), Tools: len(tools),
		Node: e.Node, Called: chosenCalls(e), URL: evidence.PlainURL(e.Server.URL),
	}
	if !e.Recorded { // what a recording has, others called
		s.NotCalled = notCalled(e)
	}
	if e.Server.Command != "" {
		s.Command = append([]string{e.Server.Command}, e.Server.Args...)
	}
	if e.Server.Origin.File != "" {
		s.Where = e.Server.Origin.String()
	}
	if x := e.Initialized(); x != nil {
		// An invalid serverInfo is a finding.
		if json.Unmarshal(evidence.MemberAt(x.Result, "serverInfo"), &s.Info) != nil {
			s.Info = nil
		}
	}
	if e.Handshaken() {
		s.Protocol = e.Clean.Protocol
		took, _ := evidence.StartTime(e)
		s.StartMS = exec.Milliseconds(took)
	}
	switch {
	case e.Cut:
		s.Status, s.Because = "unfinished", cmp.Or(downloading(e), "the examination was cut short")
	case e.Handshaken():
		s.Status = "ready"
	case e.LaunchErr != nil:
		s.Because, s.Hint = e.LaunchErr.Error(), e.Server.Hint
	case e.Clean != nil && e.Clean.Failure != nil:
		s.Because, s.Hint = e.Clean.Failure.Error(), e.Server.Hint
	default:
		s.Hint = e.Server.Hint
	}
	return s
}

// downloading returns a message if a package manager was still downloading the server at the time limit, and otherwise
// nothing.
func downloading(e *evidence.Evidence) string {
	waits := evidence.EventsOf[protocol.StartOverdue](e.Clean)
	if len(waits) == 0 || e.Handshaken() {
		return ""
	}
	last := waits[len(waits)-1]
	if last.Launcher == "" {
		return ""
	}
	return fmt.Sprintf("%s was still downloading the server after %s; start it once in a terminal, or give it more "+
		"time (--max-time)", last.Launcher, evidence.Rounded(last.Took))
}

// statusOf returns the status of the whole report.
func statusOf(report *Report, fleet *evidence.Fleet) string {
	ready := slices.ContainsFunc(report.Servers, func(s ServerReport) bool { return s.Status == "ready" })
	switch {
	case len(report.Servers) > 0 && !ready && slices.ContainsFunc(fleet.Servers, refusedForAuth):
		return StatusAuth
	case len(report.Servers) > 0 && !ready:
		return StatusUnreachable
	case report.Fails(check.Warning):
		return StatusProblems
	}
	return StatusHealthy
}

// authWords matches errors from initialize about missing authentication.
var authWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(unauthori[sz]ed|unauthenticated|not (authori[sz]ed|authenticated|logged in)|` +
		`authentication (is )?(required|needed|failed))\b`)
})

// refusedForAuth reports whether the server requires authentication. On stdio, MCP has no error code for that.
func refusedForAuth(e *evidence.Evidence) bool {
	switch {
	case e.Clean == nil || e.Clean.Failure == nil:
		return false
	case e.Clean.Failure.Kind() == fault.KindAuth: // the HTTP status says so
		return true
	case e.Clean.Failure.Ending != diagnose.EndingRefused:
		return false
	}
	var refusal *exec.ToolError
	return errors.As(e.Clean.Failure.Reason, &refusal) && authWords().MatchString(refusal.Message)
}

// Fails reports whether the report has a finding at or above a severity, or a stale baseline. With an empty severity,
// nothing fails.
func (r *Report) Fails(atLeast check.Severity) bool {
	if atLeast == "" {
		return false
	}
	return r.Baseline != nil && len(r.Baseline.Stale) > 0 ||
		slices.ContainsFunc(r.Findings, func(f check.Finding) bool {
			return f.Severity.AtLeast(atLeast) && f.Manner != check.Fact && f.Manner != check.LengthFact
		})
}

// Mask hides secrets in all text of the report, because reports are shared. Fields tagged mask:"-" have toolx's own
// text, or names from the user.
func (r *Report) Mask(hide func(string) string) {
	reflect.ValueOf(r).Elem().Set(maskedValue(reflect.ValueOf(*r), hide))
}

// maskedValue returns a deep copy of a value with its text masked. Findings share slices with the table of checks,
// which must not change.
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

// ExpandEvidence replaces shortened evidence with the whole line of stdout, or the response to a raw request, as far as
// they were kept (4 KiB).
func (r *Report) ExpandEvidence(fleet *evidence.Fleet) {
	for i := range r.Findings {
		f := &r.Findings[i]
		at := slices.IndexFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Server.Name == f.Server })
		if at < 0 || f.Where == nil || f.Where.Line == 0 && f.Where.Run != "raw" {
			continue
		}
		f.Evidence = wholeLine(fleet.Servers[at], f.Where, f.Evidence)
	}
}

// wholeLine returns the line of stdout or HTTP response that begins with evidence, or evidence itself.
func wholeLine(e *evidence.Evidence, where *evidence.Where, evidence string) string {
	beginning := strings.TrimSuffix(evidence, "…")
	if where.Run == "raw" {
		for _, name := range slices.Sorted(maps.Keys(e.HTTP.Replies)) {
			if words := e.HTTP.Replies[name].Words(4 << 10); len(words) > len(beginning) &&
				strings.HasPrefix(words, beginning) {
				return words
			}
		}
		return evidence
	}
	for _, run := range e.Runs() {
		if where.Run != "" && where.Run != run.Name {
			continue
		}
		for _, event := range run.Events {
			number, text := 0, []byte(nil)
			switch e := event.(type) {
			case wire.PollutedLine:
				number, text = e.Line, e.Text
			case wire.OddFrame:
				number, text = e.Line, e.Bytes
			case wire.FrameReceived:
				number, text = e.Line, e.Bytes
			}
			if number == where.Line && len(text) > len(evidence) && bytes.HasPrefix(text, []byte(beginning)) {
				return string(text)
			}
		}
	}
	return evidence
}
