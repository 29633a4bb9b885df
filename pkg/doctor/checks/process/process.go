// Package process has the checks of the server's process: start, shutdown, stderr and ports.
package process

import (
	"embed"

	"toolx/pkg/doctor/check"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of the server's process.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "exit-before-handshake", Need: check.NeedProcess, Ask: askExitBeforeHandshake},
		{ID: "crash-signal", Need: check.NeedProcess, Ask: askCrashSignal},
		{ID: "exit-during-request", Need: check.NeedProcess, Ask: askExitDuringRequest},
		{ID: "truncated-message", Need: check.NeedProcess, Ask: askTruncatedMessage},
		{ID: "handshake-timeout", Need: check.NeedProcess, Ask: askHandshakeTimeout},
		{ID: "initialize-refused", Need: check.NeedProcess, Ask: askInitializeRefused},
		{ID: "slow-start", Need: check.NeedHandshake, Ask: askSlowStart},
		{ID: "output-buffered", Need: check.NeedProcess, Ask: askOutputBuffered},
		{ID: "stdout-closed", Need: check.NeedProcess, Ask: askStdoutClosed},
		{ID: "stdin-closed", Need: check.NeedProcess, Ask: askStdinClosed},
		{ID: "ignores-stdin-close", Need: check.NeedHandshake, Ask: askIgnoresStdinClose},
		{ID: "slow-shutdown", Need: check.NeedHandshake, Ask: askSlowShutdown},
		{ID: "ignores-sigterm", Need: check.NeedSignal, Ask: askIgnoresSigterm},
		{ID: "exit-code-on-close", Need: check.NeedHandshake, Ask: askExitCodeOnClose},
		{ID: "orphan-grandchild", Need: check.NeedTree, Ask: askOrphanGrandchild},
		{ID: "pipe-held-open", Need: check.NeedProcess, Ask: askPipeHeldOpen},
		{ID: "stderr-noise", Need: check.NeedProcess, Ask: askStderrNoise},
		{ID: "stderr-exception", Need: check.NeedProcess, Ask: askStderrException},
		{ID: "stderr-secret", Need: check.NeedProcess, Ask: askStderrSecret},
		{ID: "listens-on-network", Need: check.NeedTree, Ask: askListensOnNetwork},
	})
}
