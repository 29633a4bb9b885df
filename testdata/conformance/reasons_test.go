package conformance_test

// serverReasons say why toolx serve does not pass some checks: it serves the tools of
// a config, and these answer without asking anything back.
func serverReasons() []reason {
	const (
		noAsking   = "the tools of a config ask the user and the client nothing"
		noNotices  = "the tools of a config report no progress and log nothing to the client"
		noResource = "a config has tools, no resources"
		noPrompts  = "a config has tools, no prompts"
		noTasks    = "no tool of this run is one that runs as a task"
	)
	return []reason{
		{"completion-complete", "", "there is nothing to complete: a config has neither prompts nor resource templates"},
		{"logging-set-level", "", noNotices},
		{"tools-call-with-*", "", noNotices},
		{"tools-call-sampling", "", noAsking},
		{"tools-call-elicitation", "", noAsking},
		{"elicitation-*", "", noAsking},
		{"input-required-result-*", "", noAsking},
		{"resources-*", "", noResource},
		{"sep-2164-resource-not-found", "", noResource},
		{"prompts-*", "", noPrompts},
		{"tasks-*", "", noTasks},
		{"caching", "sep-2549-prompts-*", noPrompts},
		{"caching", "sep-2549-resources-*", noResource},
		{"server-stateless", "*-capability*", "no tool of a config needs a capability of the client"},
		{"server-stateless", "sep-2575-http-server-no-independent-requests-on-stream", noAsking},
		{"server-stateless", "sep-2575-server-no-log-without-loglevel", noNotices},
	}
}

// clientReasons say what toolx does not do as a client: nothing that the suite asks for.
func clientReasons() []reason { return nil }
