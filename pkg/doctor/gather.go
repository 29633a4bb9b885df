package doctor

import (
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
)

// Gathered is the report with findings of one kind made into one: those of the same
// check about the same server that say the same, and differ in their place, their
// evidence and their notes.
func (r *Report) Gathered() *Report {
	gathered := *r
	gathered.Findings = []check.Finding{}
	index := make(map[kindOfFinding]int)
	for _, finding := range r.Findings {
		kind := kind(finding)
		at, known := index[kind]
		if !known {
			index[kind] = len(gathered.Findings)
			gathered.Findings = append(gathered.Findings, finding)
			continue
		}
		first := &gathered.Findings[at]
		first.Places = append(first.AllPlaces(), finding.AllPlaces()...)
	}
	return &gathered
}

// kindOfFinding is what findings of one kind have in common.
type kindOfFinding struct {
	id, server, title, fix, breaks string
	severity                       check.Severity
	culprit                        culprit.Culprit
}

func kind(f check.Finding) kindOfFinding {
	kind := kindOfFinding{
		id: f.ID, server: f.Server, title: f.Title, severity: f.Severity,
		fix: strings.Join(f.Fix, "\n"), breaks: strings.Join(f.Breaks, "\n"),
	}
	if f.Culprit != nil {
		kind.culprit = *f.Culprit
	}
	return kind
}
