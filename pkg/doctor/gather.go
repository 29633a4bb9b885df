package doctor

import (
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
)

// Gathered returns the report with findings of one kind made into one: those of the same check about the same server
// that only differ in their place, evidence and notes.
func (r *Report) Gathered() *Report {
	type kind struct {
		id, server, title, fix, breaks string
		severity                       check.Severity
		culprit                        culprit.Culprit
	}
	gathered := *r
	gathered.Findings = []check.Finding{}
	index := make(map[kind]int)
	for _, f := range r.Findings {
		k := kind{
			id: f.ID, server: f.Server, title: f.Title, severity: f.Severity,
			fix: strings.Join(f.Fix, "\n"), breaks: strings.Join(f.Breaks, "\n"),
		}
		if f.Culprit != nil {
			k.culprit = *f.Culprit
		}
		if at, known := index[k]; known {
			first := &gathered.Findings[at]
			first.Places = append(first.AllPlaces(), f.AllPlaces()...)
			continue
		}
		index[k] = len(gathered.Findings)
		gathered.Findings = append(gathered.Findings, f)
	}
	return &gathered
}
