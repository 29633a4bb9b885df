package doctor

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/config"
	"toolx/pkg/doctor/checks/framing"
	"toolx/pkg/doctor/checks/handshake"
	"toolx/pkg/doctor/checks/http"
	"toolx/pkg/doctor/checks/launch"
	"toolx/pkg/doctor/checks/performance"
	"toolx/pkg/doctor/checks/process"
	"toolx/pkg/doctor/checks/rpc"
	"toolx/pkg/doctor/checks/security"
	"toolx/pkg/doctor/checks/tool"
)

// table is the doctor's whole table. It is made once, when it is first asked for.
var table = sync.OnceValue(func() []check.Check {
	all := slices.Concat(
		config.Checks(), launch.Checks(), process.Checks(), framing.Checks(), rpc.Checks(),
		handshake.Checks(), tool.Checks(), security.Checks(), http.Checks(), performance.Checks(),
	)
	for i := range all {
		all[i].Page = check.PageOf(all[i].ID)
	}
	return all
})

// places are the checks' places in the table, by id.
var places = sync.OnceValue(func() map[string]int { return positions(table()) })

// Checks is the whole table, in the order of judging. Ids are unique. Callers must not
// change it.
func Checks() []check.Check { return table() }

// Find returns the check of that id.
func Find(id string) (check.Check, bool) {
	at, found := places()[id]
	if !found {
		return check.Check{}, false
	}
	return table()[at], true
}

// sortFindings puts the root first: by the order of the checks, then by severity
// within one check, keeping what a check says in its order.
func sortFindings(findings []check.Finding) {
	order := places()
	slices.SortStableFunc(findings, func(a, b check.Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
			cmp.Compare(order[a.ID], order[b.ID]),
		)
	})
}

// Near returns the id of a check that a slip could have meant, empty where none is
// near. A part of an id counts as a slip too.
func Near(id string) string {
	best, least := "", max(2, len(id)/3)+1
	for _, check := range Checks() {
		distance := levenshtein.ComputeDistance(id, check.ID)
		if len(id) > 2 && strings.Contains(check.ID, id) {
			distance = min(distance, 2)
		}
		if distance < least {
			best, least = check.ID, distance
		}
	}
	return best
}
