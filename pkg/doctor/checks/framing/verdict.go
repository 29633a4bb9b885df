package framing

import "toolx/pkg/servers/wire"

// Verdict is what clients do with a class of lines: those in Fails lose the session or a response, or show an error;
// those in Tolerates continue silently.
type Verdict struct{ Fails, Tolerates []string }

// VerdictOf returns what clients do with a class, as tested with Go SDK 1.8.0, mcp-go 1.2.1 and TypeScript SDK 1.32
// against the fake server. Other clients are from reports.
func VerdictOf(class wire.Class) Verdict {
	const (
		goEnds      = "Go SDK ends the session"
		strictEnd   = "Go SDK, Rust SDK (Codex) and mcp-tui end the session"
		claudeShows = "Claude Desktop shows an error"
		silentDrop  = "Inspector, mcporter (TypeScript SDK) and mcp-go silently drop the line"
		othersWait  = "Claude Desktop, Cursor, Inspector (TypeScript SDK) and mcp-go wait for the answer until it " +
			"times out"
		mcpGoWaits  = "mcp-go waits for the answer until it times out"
		goReads     = "Go SDK reads the message"
		allRead     = "Go SDK, TypeScript SDK and mcp-go read the message"
		limits      = "TypeScript SDK ends the session over 10 MiB, Go SDK over 16 MiB"
		tsWaits     = "TypeScript SDK waits for the answer until it times out"
		twoWait     = "Go SDK and mcp-go wait for the answer until it times out"
		allWait     = "Go SDK, TypeScript SDK and mcp-go wait for the right answer until it times out"
		allIgnore   = "Go SDK, TypeScript SDK and mcp-go ignore the message"
		garbled     = "Go SDK, TypeScript SDK and mcp-go read the message, its text garbled"
		antigravity = "Antigravity fails with \"invalid trailing data\""
	)
	type list = []string
	notMessage := Verdict{list{goEnds, claudeShows}, list{silentDrop}}
	lost := Verdict{list{goEnds, othersWait}, nil}
	joined := Verdict{list{othersWait}, list{goReads}}
	ignored := Verdict{nil, list{allIgnore}}
	return map[wire.Class]Verdict{
		wire.ClassText:              {list{strictEnd, claudeShows}, list{silentDrop}},
		wire.ClassNotObject:         notMessage,
		wire.ClassNotRPC:            notMessage,
		wire.ClassBadShape:          notMessage,
		wire.ClassGlued:             lost,
		wire.ClassSplit:             lost,
		wire.ClassBroken:            lost,
		wire.ClassBOM:               lost,
		wire.ClassControl:           lost,
		wire.ClassPretty:            joined,
		wire.ClassNoNewline:         joined,
		wire.ClassBatch:             joined,
		wire.ClassTooLong:           {list{limits}, list{"mcp-go has no limit"}},
		wire.ClassInvalidUTF8:       {nil, list{garbled}},
		wire.ClassCRLF:              {list{antigravity}, list{allRead}},
		wire.ClassBlank:             {nil, list{allRead}},
		wire.ClassNoVersion:         {list{goEnds, tsWaits}, list{"mcp-go reads the message"}},
		wire.ClassIDType:            {list{twoWait}, list{"TypeScript SDK reads the message"}},
		wire.ClassIDNull:            {list{goEnds, tsWaits, mcpGoWaits}, nil},
		wire.ClassNotificationReply: {list{"TypeScript SDK reports an error"}, list{"mcp-go ignores it"}},
		wire.ClassIDUnknown:         {list{allWait}, nil},
		wire.ClassIDDuplicate:       ignored,
		wire.ClassIDLate:            ignored,
	}[class]
}
