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
	"toolx/pkg/doctor/checks/process"
	"toolx/pkg/doctor/checks/rpc"
	"toolx/pkg/doctor/checks/security"
	"toolx/pkg/doctor/checks/tool"
)

// table returns all checks.
var table = sync.OnceValue(func() []check.Check {
	return slices.Concat(
		config.Checks(), launch.Checks(), process.Checks(), framing.Checks(), rpc.Checks(),
		handshake.Checks(), tool.Checks(), security.Checks(), http.Checks(),
	)
})

// places returns the indexes of checks in the table, by id.
var places = sync.OnceValue(func() map[string]int {
	index := make(map[string]int)
	for i, check := range table() {
		index[check.ID] = i
	}
	return index
})

// Checks returns all checks in order. Callers must not change them.
func Checks() []check.Check { return table() }

// sortReport sorts findings by severity, then in the order of the table, which has root causes first. It sorts results
// by server, then in the order of the table.
func sortReport(report *Report) {
	order := places()
	servers := make(map[string]int)
	for _, result := range report.Checks {
		if _, known := servers[result.Server]; !known {
			servers[result.Server] = len(servers)
		}
	}
	slices.SortStableFunc(report.Findings, func(a, b check.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(order[a.ID], order[b.ID]))
	})
	slices.SortStableFunc(report.Checks, func(a, b check.CheckResult) int {
		return cmp.Or(cmp.Compare(servers[a.Server], servers[b.Server]), cmp.Compare(order[a.ID], order[b.ID]))
	})
}

// Find returns the check with an id.
func Find(id string) (check.Check, bool) {
	at, found := places()[id]
	if !found {
		return check.Check{}, false
	}
	return table()[at], true
}

// Near returns the check id that is most similar to a mistyped or partial one, or nothing.
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
