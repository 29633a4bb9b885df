package doctor

// processChecks are about the server's process: how it starts and ends, what it
// writes on stderr, what it costs.
func processChecks() []Check {
	return []Check{
		exitBeforeHandshake(), crashSignal(), exitDuringRequest(), truncatedMessage(),
		handshakeTimeout(), slowStart(), outputBuffered(), stdoutClosed(), stdinClosed(),
		ignoresStdinClose(), slowShutdown(), ignoresSigterm(), exitCodeOnClose(),
		orphanGrandchild(), pipeHeldOpen(),
		stderrNoise(), stderrException(), stderrSecret(),
		memoryIdle(), cpuIdle(), listensOnNetwork(),
	}
}
