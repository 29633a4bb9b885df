package doctor

import (
	"slices"

	"toolx/pkg/doctor/check"
)

// byCause orders checks so that each follows those in its After: what explains a symptom is often of a later group than
// the symptom. Otherwise, and among checks that wait for each other, the order of the table stays.
func byCause(checks []check.Check) []check.Check {
	ordered := make([]check.Check, 0, len(checks))
	placed := make(map[string]bool, len(checks))
	var place func(one check.Check)
	place = func(one check.Check) {
		if placed[one.ID] {
			return
		}
		placed[one.ID] = true
		for _, id := range one.After {
			if at := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == id }); at >= 0 {
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
