package framing

import "toolx/pkg/servers"

// Verdict is what clients do about a class of line: those of Fails lose the session or an answer, or show an error;
// those of Tolerates go on without their users' notice.
type Verdict struct{ Fails, Tolerates []string }

// VerdictOf returns what clients do about a class, seen with Go SDK 1.8.0, mcp-go 1.2.1 and TypeScript SDK 1.32
// against the fake server; the other clients are from reports.
func VerdictOf(class servers.Class) Verdict {
	const (
		goEnds      = "Go SDK ends the session"
		strictEnd   = "Go SDK, Rust SDK (Codex) and mcp-tui end the session"
		claudeShows = "Claude Desktop shows an error"
		silentDrop  = "Inspector, mcporter (TypeScript SDK) and mcp-go drop the line without a word"
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
	return map[servers.Class]Verdict{
		servers.ClassText:              {list{strictEnd, claudeShows}, list{silentDrop}},
		servers.ClassNotObject:         notMessage,
		servers.ClassNotRPC:            notMessage,
		servers.ClassBadShape:          notMessage,
		servers.ClassGlued:             lost,
		servers.ClassSplit:             lost,
		servers.ClassBroken:            lost,
		servers.ClassBOM:               lost,
		servers.ClassControl:           lost,
		servers.ClassPretty:            joined,
		servers.ClassNoNewline:         joined,
		servers.ClassBatch:             joined,
		servers.ClassTooLong:           {list{limits}, list{"mcp-go has no limit"}},
		servers.ClassInvalidUTF8:       {nil, list{garbled}},
		servers.ClassCRLF:              {list{antigravity}, list{allRead}},
		servers.ClassBlank:             {nil, list{allRead}},
		servers.ClassNoVersion:         {list{goEnds, tsWaits}, list{"mcp-go reads the message"}},
		servers.ClassIDType:            {list{twoWait}, list{"TypeScript SDK reads the message"}},
		servers.ClassIDNull:            {list{goEnds, tsWaits, mcpGoWaits}, nil},
		servers.ClassNotificationReply: {list{"TypeScript SDK reports an error"}, list{"mcp-go ignores it"}},
		servers.ClassIDUnknown:         {list{allWait}, nil},
		servers.ClassIDDuplicate:       ignored,
		servers.ClassIDLate:            ignored,
	}[class]
}
