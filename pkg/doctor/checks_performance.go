package doctor

// performanceChecks report what was measured. None of them makes a server wrong,
// apart from one that cannot do two things at once.
func performanceChecks() []Check {
	return []Check{perfStart(), perfList(), perfPing(), perfCall(), perfConcurrency(), perfLeak()}
}
