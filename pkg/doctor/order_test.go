package doctor

import (
	"slices"
	"testing"

	"toolx/pkg/doctor/check"
)

func TestCausesAreJudgedBeforeTheirConsequences(t *testing.T) {
	for _, one := range []struct {
		name   string
		checks []check.Check
		want   []string
	}{
		{"the table's order stays", []check.Check{{ID: "a"}, {ID: "b"}, {ID: "c"}}, []string{"a", "b", "c"}},
		{"a later cause comes first", []check.Check{{ID: "a", Page: check.Page{After: []string{"c"}}}, {ID: "b"}, {ID: "c"}}, []string{"c", "a", "b"}},
		{"causes of causes", []check.Check{{ID: "a", Page: check.Page{After: []string{"b"}}}, {ID: "b", Page: check.Page{After: []string{"c"}}}, {ID: "c"}}, []string{"c", "b", "a"}},
		{"an unknown cause is none", []check.Check{{ID: "a", Page: check.Page{After: []string{"x"}}}, {ID: "b"}}, []string{"a", "b"}},
		{"a circle ends", []check.Check{{ID: "a", Page: check.Page{After: []string{"b"}}}, {ID: "b", Page: check.Page{After: []string{"a"}}}}, []string{"b", "a"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			var got []string
			for _, check := range byCause(one.checks) {
				got = append(got, check.ID)
			}
			if !slices.Equal(got, one.want) {
				t.Errorf("judged in the order %v, want %v", got, one.want)
			}
		})
	}
}

func TestNoCheckWaitsForItself(t *testing.T) {
	place := make(map[string]int)
	for i, check := range byCause(Checks()) {
		place[check.ID] = i
	}
	for _, check := range Checks() {
		for _, id := range check.After {
			if at, known := place[id]; known && at > place[check.ID] {
				t.Errorf("%s and %s each wait for the other", check.ID, id)
			}
		}
	}
}

func TestResultsKeepTheTablesOrder(t *testing.T) {
	a, b, c := Checks()[0].ID, Checks()[1].ID, Checks()[2].ID
	report := &Report{Checks: []check.CheckResult{
		{ID: b, Server: "x"}, {ID: a, Server: "x"}, {ID: b, Server: "w"}, {ID: a, Server: "w"}, {ID: c},
	}}
	sortReport(report)
	want := []check.CheckResult{
		{ID: a, Server: "x"}, {ID: b, Server: "x"}, {ID: a, Server: "w"}, {ID: b, Server: "w"}, {ID: c},
	}
	if !slices.Equal(report.Checks, want) {
		t.Errorf("results are in the order %v, want %v", report.Checks, want)
	}
}
