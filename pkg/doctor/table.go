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

// table returns all checks, made when they are first needed.
var table = sync.OnceValue(func() []check.Check {
	return slices.Concat(
		config.Checks(), launch.Checks(), process.Checks(), framing.Checks(), rpc.Checks(),
		handshake.Checks(), tool.Checks(), security.Checks(), http.Checks(),
	)
})

// places returns the checks' places in the table, by id.
var places = sync.OnceValue(func() map[string]int {
	index := make(map[string]int)
	for i, check := range table() {
		index[check.ID] = i
	}
	return index
})

// Checks returns the whole table, in the order of judging. Callers must not change it.
func Checks() []check.Check { return table() }

// sortReport puts the root cause first: findings by severity, then in the order of the table; results in the order of
// the table, server by server as they were judged.
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

// Find returns the check of that id.
func Find(id string) (check.Check, bool) {
	at, found := places()[id]
	if !found {
		return check.Check{}, false
	}
	return table()[at], true
}

// Near returns the id of a check that a typo could have meant, or nothing. A part of an id counts as a typo too.
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
