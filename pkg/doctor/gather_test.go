package doctor_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// wordy is a tool whose description has so many words.
func wordy(name string, count int) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, strings.Repeat("word ",
		count))
}

// lengthsOf are the findings about length that a report shows.
func lengthsOf(selection doctor.Selection, definitions ...string) []check.Finding {
	fleet := &evidence.Fleet{Servers: []*evidence.Evidence{doctortest.Listing("2025-11-25", definitions...)}}
	var found []check.Finding
	for _, f := range doctor.Judge(fleet, selection).Gathered().Findings {
		if slices.Contains([]string{"tokens-total", "tokens-tool", "tool-description-long"}, f.ID) {
			found = append(found, f)
		}
	}
	return found
}

// TestLengthsAreOneFinding shows that a server hears once that its tools are long, and as a warning only from 20,000
// tokens on; and that each id can still be skipped, chosen, and given a severity.
func TestLengthsAreOneFinding(t *testing.T) {
	long, longer := wordy("long", 500), wordy("longer", 2000)
	for name, c := range map[string]struct {
		selection   doctor.Selection
		definitions []string
		want        string
	}{
		"short": {definitions: []string{wordy("short", 3)}},
		"one description": {
			definitions: []string{long, wordy("short", 3)},
			want:        "info tokens-total: tool definitions are long [tool description is very long: long]",
		},
		"descriptions and a tool": {
			definitions: []string{long, longer},
			want: "info tokens-total: tool definitions are long [tool description is very long: long, longer; " +
				"tool definition uses too many tokens: longer]",
		},
		"many tokens": {
			definitions: []string{wordy("a", 9000)},
			want: "info tokens-total: tool definitions use too many tokens [tool description is very long: a; " +
				"tool definition uses too many tokens: a]",
		},
		"too many tokens": {
			definitions: []string{wordy("a", 17000)},
			want: "warning tokens-total: tool definitions use too many tokens [tool description is very long: a; " +
				"tool definition uses too many tokens: a]",
		},
		"tools skipped": {
			selection:   doctor.Selection{Skip: []string{"tokens-tool"}},
			definitions: []string{longer},
			want:        "info tokens-total: tool definitions are long [tool description is very long: longer]",
		},
		"total skipped": {
			selection:   doctor.Selection{Skip: []string{"tokens-total"}},
			definitions: []string{longer},
			want: "info tool-description-long: tool description is very long [tool definition uses too many " +
				"tokens: longer]",
		},
		"one chosen": {
			selection:   doctor.Selection{Only: []string{"tokens-tool"}},
			definitions: []string{longer},
			want:        "info tokens-tool: tool definition uses too many tokens []",
		},
		"severity set": {
			selection:   doctor.Selection{Severities: map[string]check.Severity{"tokens-tool": check.Error}},
			definitions: []string{longer},
			want: "error tokens-tool: tool definition uses too many tokens []\n" +
				"info tokens-total: tool definitions are long [tool description is very long: longer]",
		},
	} {
		var got []string
		for _, f := range lengthsOf(c.selection, c.definitions...) {
			got = append(got, fmt.Sprintf("%s %s: %s [%s]", f.Severity, f.ID, f.Title, strings.Join(f.Notes, "; ")))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), c.want)
		}
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = wordy(fmt.Sprintf("t%02d", i), 500)
	}
	if found := lengthsOf(doctor.Selection{}, many...); len(found) != 1 ||
		!strings.Contains(found[0].Notes[0], "t09, and 20 more: t10 /description, ") {
		t.Errorf("%+v", found)
	}
}

// TestOldBaselinesStillFit shows that a baseline which names an id of lengths or of a fact neither fails nor is stale.
func TestOldBaselinesStillFit(t *testing.T) {
	report := doctor.Judge(&evidence.Fleet{Servers: []*evidence.Evidence{doctortest.Listing("2025-11-25", wordy("long",
		2000))}},
		doctor.Selection{})
	known := &doctor.Baseline{Findings: []doctor.Known{
		{ID: "tokens-tool", Tool: "long", Reason: "x"},
		{ID: "tool-description-long", Tool: "long", Reason: "x"},
		{ID: "tokens-total", Reason: "x"},
		{ID: "era", Reason: "x"},
	}}
	known.Apply(report)
	if len(report.Baseline.Stale) != 0 || len(report.Baseline.Known) != len(known.Findings)-1 {
		t.Errorf("stale %+v, known %+v", report.Baseline.Stale, report.Baseline.Known)
	}
	if got := report.Gathered().Servers[0].Facts; len(got) == 0 || got[0].ID != "era" {
		t.Errorf("facts %+v", got)
	}
	for _, f := range report.Gathered().Findings {
		if f.Manner == check.Length || f.Manner == check.LengthFact {
			t.Errorf("left: %+v", f)
		}
	}
}

// TestFacts shows that measurements belong to the server, and fail nothing, unless the user gives them a severity.
func TestFacts(t *testing.T) {
	t.Parallel()
	fleet := doctortest.Examine(t, doctortest.Options(), "good")
	shown := func(selection doctor.Selection) (facts, findings []string, report *doctor.Report) {
		report = doctor.Judge(fleet, selection)
		gathered := report.Gathered()
		for _, fact := range gathered.Servers[0].Facts {
			facts = append(facts, fact.ID)
		}
		for _, f := range gathered.Findings {
			findings = append(findings, f.ID)
		}
		return facts, findings, report
	}
	all := []string{"era", "tokens-total"}
	only := doctor.Selection{Only: all}
	facts, findings, report := shown(only)
	if !slices.Equal(facts, all) || findings != nil || report.Fails(check.Info) {
		t.Errorf("facts %q, findings %q", facts, findings)
	}
	encoded, err := json.Marshal(report.Gathered().Servers[0])
	if err != nil || !strings.Contains(string(encoded), `"facts":[{"id":"era","title":"uses the legacy protocol"`) {
		t.Errorf("%v: %s", err, encoded)
	}
	only.Severities = map[string]check.Severity{"era": check.Warning}
	facts, findings, report = shown(only)
	if len(facts) != len(all)-1 || !slices.Equal(findings, []string{"era"}) || !report.Fails(check.Warning) {
		t.Errorf("with a severity: facts %q, findings %q", facts, findings)
	}
}
