// Package performance has the checks that measure.
package performance

import (
	"toolx/pkg/doctor/check"
)

// Checks report what was measured. None of them makes a server wrong, apart from one that cannot do two things at once.
func Checks() []check.Check {
	return []check.Check{
		{ID: "perf-start", Need: check.NeedHandshake, Ask: askPerfStart},
		{ID: "perf-list", Need: check.NeedSpeed, Ask: askPerfList},
		{ID: "perf-ping", Need: check.NeedSpeed, Ask: askPerfPing},
		{ID: "perf-call", Need: check.NeedCalls, Ask: askPerfCall},
		{ID: "perf-concurrency", Need: check.NeedProbe, Ask: askConcurrency},
		{ID: "perf-leak", Need: check.NeedSpeed, Ask: askPerfLeak},
	}
}
