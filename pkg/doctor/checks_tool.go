package doctor

func toolChecks() []Check { return nil }
