package doctor

func launchChecks() []Check { return nil }
