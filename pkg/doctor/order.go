package doctor

import (
	"cmp"
	"slices"

	"toolx/pkg/doctor/check"
)

// byCause orders checks so that each comes behind those that it names in After:
// what explains a symptom is often of a later group than the symptom. Otherwise the
// order of the table stays. Checks that wait for each other keep it as well.
func byCause(checks []check.Check) []check.Check {
	index := positions(checks)
	ordered := make([]check.Check, 0, len(checks))
	placed := make(map[string]bool, len(checks))
	var place func(one check.Check)
	place = func(one check.Check) {
		if placed[one.ID] {
			return
		}
		placed[one.ID] = true
		for _, id := range one.After {
			if at, known := index[id]; known {
				place(checks[at])
			}
		}
		ordered = append(ordered, one)
	}
	for _, check := range checks {
		place(check)
	}
	return ordered
}

// positions are the checks' places in the table.
func positions(checks []check.Check) map[string]int {
	index := make(map[string]int, len(checks))
	for i, check := range checks {
		index[check.ID] = i
	}
	return index
}

// sortResults puts results into the order of the table, whose places are in index,
// server by server as they were judged.
func sortResults(results []check.CheckResult, index map[string]int) {
	servers := make(map[string]int)
	for _, result := range results {
		if _, known := servers[result.Server]; !known {
			servers[result.Server] = len(servers)
		}
	}
	slices.SortStableFunc(results, func(a, b check.CheckResult) int {
		return cmp.Or(
			cmp.Compare(servers[a.Server], servers[b.Server]),
			cmp.Compare(index[a.ID], index[b.ID]),
		)
	})
}
