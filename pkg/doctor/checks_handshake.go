package doctor

// handshakeChecks are about the agreement between client and server, and about
// what every server answers to what it should not be asked.
func handshakeChecks() []Check {
	return []Check{
		era(), discoverBreaksServer(), initializeRefused(),
		protocolVersionMissing(), protocolVersionFormat(), protocolVersionUnsupported(), protocolVersionEcho(),
		protocolVersionOld(), unsupportedVersionError(), serverInfoIncomplete(),
		capabilityUndeclared(), capabilityFalse(),
		pingFails(), unknownMethodCode(), invalidParamsCode(), unknownToolResult(), notificationAnswered(), requestBeforeInit(),
		cursorLoop(), cursorEndless(), cursorEmpty(), cursorInvalidAccepted(), listUnstable(), listChangedStorm(),
		progressNotIncreasing(), cancelIgnored(), logWithoutOptIn(), resultTypeMissing(), cacheHints(), wireSchema(),
	}
}
