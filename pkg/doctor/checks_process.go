package doctor

// processChecks are about the server's process: how it starts and ends, what it
// writes on stderr, what it costs.
func processChecks() []Check {
	return []Check{
		{ID: "exit-before-handshake", Need: NeedProcess, Ask: askExitBeforeHandshake},
		{ID: "crash-signal", Need: NeedProcess, Ask: askCrashSignal},
		{ID: "exit-during-request", Need: NeedProcess, Ask: askExitDuringRequest},
		{ID: "truncated-message", Need: NeedProcess, Ask: askTruncatedMessage},
		{ID: "handshake-timeout", Need: NeedProcess, Ask: askHandshakeTimeout},
		{ID: "slow-start", Need: NeedHandshake, Ask: askSlowStart},
		{ID: "output-buffered", Need: NeedProcess, Ask: askOutputBuffered},
		{ID: "stdout-closed", Need: NeedProcess, Ask: askStdoutClosed},
		{ID: "stdin-closed", Need: NeedProcess, Ask: askStdinClosed},
		{ID: "ignores-stdin-close", Need: NeedHandshake, Ask: askIgnoresStdinClose},
		{ID: "slow-shutdown", Need: NeedHandshake, Ask: askSlowShutdown},
		{ID: "ignores-sigterm", Need: NeedProbe, Ask: askIgnoresSigterm},
		{ID: "exit-code-on-close", Need: NeedHandshake, Ask: askExitCodeOnClose},
		{ID: "orphan-grandchild", Need: NeedSample, Ask: askOrphanGrandchild},
		{ID: "pipe-held-open", Need: NeedProcess, Ask: askPipeHeldOpen},
		{ID: "stderr-noise", Need: NeedProcess, Ask: askStderrNoise},
		{ID: "stderr-exception", Need: NeedProcess, Ask: askStderrException},
		{ID: "stderr-secret", Need: NeedProcess, Ask: askStderrSecret},
		{ID: "memory-idle", Need: NeedSample, Ask: askMemoryIdle},
		{ID: "cpu-idle", Need: NeedSample, Ask: askCPUIdle},
		{ID: "listens-on-network", Need: NeedSample, Ask: askListensOnNetwork},
	}
}
