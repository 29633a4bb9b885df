package conformance_test

// serverReasons say why toolx serve does not pass some checks: it serves the tools of
// a config, and these answer without asking anything back.
func serverReasons() []reason {
	const (
		noAsking   = "config tools send no requests to clients"
		noNotices  = "config tools send no progress or log messages"
		noResource = "a config has no resources"
		noPrompts  = "a config has no prompts"
		noTasks    = "no tool here runs as a task"
	)
	return []reason{
		{"completion-complete", "", "a config has no prompts or resource templates"},
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
		{"server-stateless", "*-capability*", "no config tool needs a client capability"},
		{"server-stateless", "sep-2575-http-server-no-independent-requests-on-stream", noAsking},
		{"server-stateless", "sep-2575-server-no-log-without-loglevel", noNotices},
	}
}

// clientReasons say what toolx does not do as a client: nothing that the suite asks for.
func clientReasons() []reason { return nil }
