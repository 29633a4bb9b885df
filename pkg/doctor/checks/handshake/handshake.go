// Package handshake has the checks of the handshake, of capabilities and lists, and of responses to invalid requests.
package handshake

import (
	"embed"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/wire"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of the handshake, of capabilities and lists, and of responses to invalid requests.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "era", Need: check.NeedHandshake, Ask: askEra},
		{ID: "discover-breaks-server", Need: check.NeedProbe, Ask: askDiscoverBreaksServer},
		{ID: "protocol-version-missing", Need: check.NeedProcess, Ask: askProtocolVersionMissing},
		{ID: "protocol-version-format", Need: check.NeedProcess, Ask: askProtocolVersionFormat},
		{ID: "protocol-version-unsupported", Need: check.NeedProcess, Ask: askVersionUnsupported},
		{ID: "protocol-version-echo", Need: check.NeedProbe, Ask: askVersionEcho},
		{ID: "protocol-version-old", Need: check.NeedHandshake, Ask: askVersionOld},
		{ID: "unsupported-version-error", Need: check.NeedProbe, Ask: askUnsupportedVersionError},
		{ID: "serverinfo-incomplete", Need: check.NeedProcess, Ask: askServerInfo},
		{ID: "capability-undeclared", Need: check.NeedHandshake, Ask: askCapabilityUndeclared},
		{ID: "list-refused", Need: check.NeedProcess, Ask: askListRefused},
		{ID: "capability-false", Need: check.NeedProcess, Ask: askCapabilityFalse},
		{ID: "ping-fails", Need: check.NeedHandshake, Ask: askPingFails},
		{ID: "unknown-method-code", Need: check.NeedHandshake, Ask: askUnknownMethod},
		{ID: "invalid-params-code", Need: check.NeedHandshake, Ask: askInvalidParams},
		{ID: "unknown-tool-result", Need: check.NeedHandshake, Ask: askUnknownTool},
		{ID: "notification-answered", Need: check.NeedProcess, Ask: askNotificationAnswered},
		{ID: "request-before-init", Need: check.NeedProbe, Ask: askRequestBeforeInit},
		{ID: "cursor-loop", Need: check.NeedHandshake, Ask: askCursorLoop},
		{ID: "cursor-endless", Need: check.NeedList, Ask: askCursorEndless},
		{ID: "cursor-empty", Need: check.NeedHandshake, Ask: askCursorEmpty},
		{ID: "cursor-invalid-accepted", Need: check.NeedProbe, Ask: askCursorInvalid},
		{ID: "list-unstable", Need: check.NeedTools, Ask: askListUnstable},
		{ID: "list-changed-storm", Need: check.NeedHandshake, Ask: askListChangedStorm},
		{ID: "progress-not-increasing", Need: check.NeedHandshake, Ask: askProgress},
		{ID: "cancel-ignored", Need: check.NeedCalls, Ask: askCancelIgnored},
		{ID: "log-without-optin", Need: check.NeedHandshake, Ask: askLogWithoutOptIn},
		{ID: "result-type-missing", Need: check.NeedHandshake, Ask: askResultType},
		{ID: "cache-hints", Need: check.NeedHandshake, Ask: askCacheHints},
		{ID: "wire-schema", Need: check.NeedProcess, Ask: wire.AskWireSchema},
	})
}
