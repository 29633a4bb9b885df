package report

import (
	"bufio"
	"cmp"
	"strings"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/junit"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// writeJUnit writes a test suite for each server and one for the config, with a test case for each check. A finding
// below FailOn does not fail its case, but is in its output.
func writeJUnit(out *bufio.Writer, report *doctor.Report, options Options) error {
	all := junit.Report{Totals: junit.Totals{
		Name: "toolx doctor", Time: junit.Seconds(float64(report.Duration.Milliseconds()) / 1000),
	}}
	for _, server := range report.Servers {
		all.Suites = append(all.Suites, junitOf(report, server.Name, server.DurationMS, options.FailOn))
	}
	config := junitOf(report, "", 0, options.FailOn)
	addStale(&config, report.Baseline)
	if config.Tests > 0 {
		all.Suites = append(all.Suites, config)
	}
	return all.Write(out)
}

// junitOf returns the suite of one server, or with an empty name the suite of the config.
func junitOf(report *doctor.Report, server string, ms float64, failOn check.Severity) junit.Suite {
	suite := junit.Suite{}
	suite.Name, suite.Time = cmp.Or(render.Safe(server), "config"), junit.Seconds(ms/1000)
	for _, check := range report.Checks {
		if check.Server == server {
			suite.Add(junitCaseOf(report, check, suite.Name, failOn))
		}
	}
	return suite
}

func junitCaseOf(report *doctor.Report, one check.CheckResult, class string, failOn check.Severity) junit.Case {
	c := junit.Case{Class: class, Name: one.ID}
	switch one.Outcome {
	case check.Skipped:
		c.Skipped = &junit.Outcome{Message: render.Safe(one.Because)}
		return c
	case check.Broke:
		c.Error = &junit.Outcome{
			Message: render.Safe(words.FirstLine(one.Because)), Type: "crash",
			Text: render.SafeBlock(one.Because),
		}
		return c
	}
	var texts []string
	var worst *check.Finding
	for i, finding := range report.Findings {
		if finding.ID != one.ID || finding.Server != one.Server {
			continue
		}
		texts = append(texts, findingText(finding))
		if worst == nil || !worst.Severity.AtLeast(finding.Severity) {
			worst = &report.Findings[i]
		}
	}
	switch text := strings.Join(texts, "\n"); {
	case worst == nil:
	case failOn != "" && worst.Severity.AtLeast(failOn):
		c.Failure = &junit.Outcome{Message: render.Safe(worst.Title), Type: string(worst.Severity), Text: text}
	default:
		c.Out = text
	}
	return c
}

// addStale adds a failing case for each stale entry of a baseline.
func addStale(suite *junit.Suite, baseline *doctor.BaselineReport) {
	if baseline == nil {
		return
	}
	for _, known := range baseline.Stale {
		suite.Add(junit.Case{
			Class: "baseline", Name: render.Safe(known.ID),
			Failure: &junit.Outcome{Message: staleTitle, Type: "stale", Text: render.Safe(staleText(known))},
		})
	}
}

// findingText returns a finding as plain text with escaped control characters.
func findingText(f check.Finding) string {
	lines := []string{render.Safe(f.Title)}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, label+render.SafeBlock(text))
		}
	}
	for _, place := range f.AllPlaces() {
		add("where: ", whereText(place.Where))
		add("evidence: ", render.Safe(place.Evidence))
		for _, note := range place.Notes {
			add("", render.Safe(note))
		}
	}
	if f.Culprit != nil {
		add("culprit: ", f.Culprit.Name+", "+f.Culprit.Confidence)
	}
	for _, fix := range f.Fix {
		add("fix: ", fix)
	}
	add("breaks: ", strings.Join(f.Breaks, "; "))
	add("source: ", f.Source)
	return strings.Join(lines, "\n") + "\n"
}
