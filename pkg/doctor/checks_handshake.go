package doctor

// handshakeChecks are about the agreement between client and server, and about
// what every server answers to what it should not be asked.
func handshakeChecks() []Check {
	return []Check{
		{ID: "era", Need: NeedHandshake, Ask: askEra},
		{ID: "discover-breaks-server", Need: NeedProbe, Ask: askDiscoverBreaksServer},
		{ID: "initialize-refused", Need: NeedProcess, Ask: askInitializeRefused},
		{ID: "protocol-version-missing", Need: NeedProcess, Ask: askProtocolVersionMissing},
		{ID: "protocol-version-format", Need: NeedProcess, Ask: askProtocolVersionFormat},
		{ID: "protocol-version-unsupported", Need: NeedProcess, Ask: askVersionUnsupported},
		{ID: "protocol-version-echo", Need: NeedProbe, Ask: askVersionEcho},
		{ID: "protocol-version-old", Need: NeedHandshake, Ask: askVersionOld},
		{ID: "unsupported-version-error", Need: NeedProbe, Ask: askUnsupportedVersionError},
		{ID: "serverinfo-incomplete", Need: NeedProcess, Ask: askServerInfo},
		{ID: "capability-undeclared", Need: NeedHandshake, Ask: askCapabilityUndeclared},
		{ID: "capability-false", Need: NeedProcess, Ask: askCapabilityFalse},
		{ID: "ping-fails", Need: NeedHandshake, Ask: askPingFails},
		{ID: "unknown-method-code", Need: NeedHandshake, Ask: askUnknownMethod},
		{ID: "invalid-params-code", Need: NeedHandshake, Ask: askInvalidParams},
		{ID: "unknown-tool-result", Need: NeedHandshake, Ask: askUnknownTool},
		{ID: "notification-answered", Need: NeedProbe, Ask: askNotificationAnswered},
		{ID: "request-before-init", Need: NeedProbe, Ask: askRequestBeforeInit},
		{ID: "cursor-loop", Need: NeedHandshake, Ask: askCursorLoop},
		{ID: "cursor-endless", Need: NeedHandshake, Ask: askCursorEndless},
		{ID: "cursor-empty", Need: NeedHandshake, Ask: askCursorEmpty},
		{ID: "cursor-invalid-accepted", Need: NeedProbe, Ask: askCursorInvalid},
		{ID: "list-unstable", Need: NeedTools, Ask: askListUnstable},
		{ID: "list-changed-storm", Need: NeedHandshake, Ask: askListChangedStorm},
		{ID: "progress-not-increasing", Need: NeedHandshake, Ask: askProgress},
		{ID: "cancel-ignored", Need: NeedCalls, Ask: askCancelIgnored},
		{ID: "log-without-optin", Need: NeedHandshake, Ask: askLogWithoutOptIn},
		{ID: "result-type-missing", Need: NeedHandshake, Ask: askResultType},
		{ID: "cache-hints", Need: NeedHandshake, Ask: askCacheHints},
		{ID: "wire-schema", Need: NeedProcess, Ask: askWireSchema},
	}
}
