// Package junit writes reports as JUnit XML, which CI systems show as tests.
package junit

import (
	"encoding/xml"
	"io"
	"strconv"
)

type (
	// Report is a document.
	Report struct {
		XMLName xml.Name `xml:"testsuites"`
		Totals
		Suites []Suite `xml:"testsuite"`
	}
	// Totals are the attributes of a suite, and of all suites.
	Totals struct {
		Name     string  `xml:"name,attr"`
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     Seconds `xml:"time,attr"`
	}
	// Suite is a suite of cases.
	Suite struct {
		Totals
		Cases []Case `xml:"testcase"`
	}
	// Case is a test. It passed if it has no failure and no error, and was not skipped.
	Case struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    Seconds  `xml:"time,attr"`
		Failure *Outcome `xml:"failure"`
		Error   *Outcome `xml:"error"`
		Skipped *Outcome `xml:"skipped"`
		Out     string   `xml:"system-out,omitempty"`
	}
	// Outcome says why a case did not pass.
	Outcome struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	// Seconds are written with three decimals.
	Seconds float64
)

// Add adds a case to the suite and its totals.
func (s *Suite) Add(c Case) {
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

// Write writes the report, after it has added up the totals of its suites. Characters that XML does not allow become
// U+FFFD.
func (r *Report) Write(out io.Writer) error {
	for _, suite := range r.Suites {
		r.Tests, r.Failures = r.Tests+suite.Tests, r.Failures+suite.Failures
		r.Errors, r.Skipped = r.Errors+suite.Errors, r.Skipped+suite.Skipped
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// MarshalXMLAttr implements xml.MarshalerAttr.
func (s Seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: strconv.FormatFloat(float64(s), 'f', 3, 64)}, nil
}
