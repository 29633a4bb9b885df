package doctor

import (
	"cmp"
	"slices"
)

// byCause orders checks so that each comes behind those that it names in After:
// what explains a symptom is often of a later group than the symptom. Otherwise the
// order of the table stays. Checks that wait for each other keep it as well.
func byCause(checks []Check) []Check {
	index := positions(checks)
	ordered := make([]Check, 0, len(checks))
	placed := make(map[string]bool, len(checks))
	var place func(check Check)
	place = func(check Check) {
		if placed[check.ID] {
			return
		}
		placed[check.ID] = true
		for _, id := range check.After {
			if at, known := index[id]; known {
				place(checks[at])
			}
		}
		ordered = append(ordered, check)
	}
	for _, check := range checks {
		place(check)
	}
	return ordered
}

// positions are the checks' places in the table.
func positions(checks []Check) map[string]int {
	index := make(map[string]int, len(checks))
	for i, check := range checks {
		index[check.ID] = i
	}
	return index
}

// sortResults puts results into the order of the table, whose places are in index,
// server by server as they were judged.
func sortResults(results []CheckResult, index map[string]int) {
	servers := make(map[string]int)
	for _, result := range results {
		if _, known := servers[result.Server]; !known {
			servers[result.Server] = len(servers)
		}
	}
	slices.SortStableFunc(results, func(a, b CheckResult) int {
		return cmp.Or(
			cmp.Compare(servers[a.Server], servers[b.Server]),
			cmp.Compare(index[a.ID], index[b.ID]),
		)
	})
}
