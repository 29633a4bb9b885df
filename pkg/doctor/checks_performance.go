package doctor

// performanceChecks report what was measured. None of them makes a server wrong,
// apart from one that cannot do two things at once.
func performanceChecks() []Check {
	return []Check{
		{ID: "perf-start", Need: NeedHandshake, Ask: askPerfStart},
		{ID: "perf-list", Need: NeedSpeed, Ask: askPerfList},
		{ID: "perf-ping", Need: NeedSpeed, Ask: askPerfPing},
		{ID: "perf-call", Need: NeedCalls, Ask: askPerfCall},
		{ID: "perf-concurrency", Need: NeedProbe, Ask: askConcurrency},
		{ID: "perf-leak", Need: NeedSpeed, Ask: askPerfLeak},
	}
}
