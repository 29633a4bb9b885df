package doctor

func performanceChecks() []Check { return nil }
