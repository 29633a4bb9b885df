package doctor

func configChecks() []Check { return nil }
