package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// The elements of JUnit XML that CI systems read.
type (
	junitTotals struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitTotals
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		junitTotals
		Cases []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string         `xml:"classname,attr"`
		Name    string         `xml:"name,attr"`
		Time    string         `xml:"time,attr"`
		Failure *junitOutcome  `xml:"failure"`
		Error   *junitOutcome  `xml:"error"`
		Skipped *junitOutcome  `xml:"skipped"`
		Out     *junitTextNode `xml:"system-out"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	junitTextNode struct {
		Text string `xml:",chardata"`
	}
)

// writeJUnit writes a test suite for each server and one for the config, with a test case for each check. A finding
// below FailOn does not fail its case, but is in its output.
func writeJUnit(out *bufio.Writer, report *doctor.Report, options Options) error {
	all := junitSuites{junitTotals: junitTotals{
		Name: "toolx doctor",
		Time: junitSeconds(float64(report.Duration.Milliseconds())),
	}}
	for _, server := range report.Servers {
		all.Suites = append(all.Suites, junitOf(report, server.Name, server.DurationMS, options.FailOn))
	}
	config := junitOf(report, "", 0, options.FailOn)
	config.addStale(report.Baseline)
	if config.Tests > 0 {
		all.Suites = append(all.Suites, config)
	}
	for _, suite := range all.Suites {
		all.Tests, all.Failures = all.Tests+suite.Tests, all.Failures+suite.Failures
		all.Errors, all.Skipped = all.Errors+suite.Errors, all.Skipped+suite.Skipped
	}
	out.WriteString(xml.Header) //nolint:errcheck // Flush returns the error
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := out.WriteString("\n")
	return err
}

// junitOf returns the suite of one server, or with an empty name the suite of the config.
func junitOf(report *doctor.Report, server string, ms float64, failOn check.Severity) junitSuite {
	suite := junitSuite{junitTotals: junitTotals{Name: cmp.Or(render.Safe(server), "config"), Time: junitSeconds(ms)}}
	for _, check := range report.Checks {
		if check.Server == server {
			suite.add(junitCaseOf(report, check, suite.Name, failOn))
		}
	}
	return suite
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitCaseOf(report *doctor.Report, one check.CheckResult, class string, failOn check.Severity) junitCase {
	c := junitCase{Class: class, Name: one.ID, Time: junitSeconds(0)}
	switch one.Outcome {
	case check.Skipped:
		c.Skipped = &junitOutcome{Message: render.Safe(one.Because)}
		return c
	case check.Broke:
		c.Error = &junitOutcome{
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
		c.Failure = &junitOutcome{Message: render.Safe(worst.Title), Type: string(worst.Severity), Text: text}
	default:
		c.Out = &junitTextNode{text}
	}
	return c
}

// addStale adds a failing case for each stale entry of a baseline.
func (s *junitSuite) addStale(baseline *doctor.BaselineReport) {
	if baseline == nil {
		return
	}
	for _, known := range baseline.Stale {
		s.add(junitCase{
			Class: "baseline", Name: render.Safe(known.ID), Time: junitSeconds(0),
			Failure: &junitOutcome{Message: staleTitle, Type: "stale", Text: render.Safe(staleText(known))},
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

func junitSeconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
