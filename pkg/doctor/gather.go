package doctor

import (
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
)

// Gathered returns the report for output. It joins findings that differ only in place, evidence and notes, joins
// findings about the length of a server's tools, and moves facts to the servers.
func (r *Report) Gathered() *Report {
	type kind struct {
		id, server, title, fix, breaks string
		severity                       check.Severity
		culprit                        culprit.Culprit
	}
	gathered := *r
	gathered.Findings, gathered.Servers = []check.Finding{}, slices.Clone(r.Servers)
	index := make(map[kind]int)
	for _, f := range gathered.withoutFacts(r.Findings) {
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
	gathered.joinLengths()
	return &gathered
}

// withoutFacts moves facts from findings to the report's servers. A LengthFact remains if the server has Length
// findings.
func (r *Report) withoutFacts(findings []check.Finding) []check.Finding {
	long := make(map[string]bool) // by server
	for _, f := range findings {
		long[f.Server] = long[f.Server] || f.Manner == check.Length
	}
	var left []check.Finding
	for _, f := range findings {
		isFact := f.Manner == check.Fact || f.Manner == check.LengthFact && !long[f.Server]
		at := slices.IndexFunc(r.Servers, func(s ServerReport) bool { return s.Name == f.Server })
		if !isFact || at < 0 {
			left = append(left, f)
			continue
		}
		fact := Fact{ID: f.ID, Title: f.Title, Evidence: f.Evidence, Notes: f.Notes}
		r.Servers[at].Facts = append(slices.Clone(r.Servers[at].Facts), fact)
	}
	return left
}

// joinLengths joins the findings about the length of a server's tools.
func (r *Report) joinLengths() {
	left := []check.Finding{}
	lengths, places := make(map[string][]check.Finding), make(map[string]int) // by server
	for _, f := range r.Findings {
		if f.Manner != check.Length && f.Manner != check.LengthFact {
			left = append(left, f)
			continue
		}
		if _, known := places[f.Server]; !known {
			places[f.Server] = len(left)
			left = append(left, f)
		}
		lengths[f.Server] = append(lengths[f.Server], f)
	}
	for server, at := range places {
		left[at] = joined(lengths[server])
	}
	r.Findings = left
}

// joined returns the finding about all tools, or the first if there is none, with the others as notes.
func joined(list []check.Finding) check.Finding {
	at := max(0, slices.IndexFunc(list, func(f check.Finding) bool { return f.ID == "tokens-total" }))
	lead := list[at]
	if lead.Manner == check.LengthFact {
		lead.Title = "tool definitions are long"
	}
	for i, f := range list {
		if i == at {
			continue
		}
		var tools []string
		for _, place := range f.AllPlaces() {
			if strings.HasPrefix(place.Evidence, "and ") { // from check.Capped
				tools = append(tools, place.Evidence)
				continue
			}
			tools = append(tools, evidence.Label(place.Where.Tool))
		}
		lead.Notes = append(slices.Clone(lead.Notes), f.Title+": "+strings.Join(tools, ", "))
		if !lead.Severity.AtLeast(f.Severity) {
			lead.Severity = f.Severity
		}
	}
	return lead
}
