package framing

import (
	"toolx/pkg/servers"
)

// What clients do about a line that is not one message. Seen with the Go SDK 1.8.0,
// mcp-go 1.2.1 and the TypeScript SDK 1.32, each against the fake server; the
// others from reports.
const (
	goEnds       = "Go SDK ends the session"
	strictEnd    = "Go SDK, Rust SDK (Codex) and mcp-tui end the session"
	claudeShows  = "Claude Desktop shows an error"
	silentDrop   = "Inspector, mcporter (TypeScript SDK) and mcp-go drop the line and say nothing"
	othersWait   = "Claude Desktop, Cursor, Inspector (TypeScript SDK) and mcp-go wait for the answer until their time is up"
	mcpGoWaits   = "mcp-go waits for the answer until its time is up"
	goReads      = "Go SDK reads the message"
	allRead      = "Go SDK, TypeScript SDK and mcp-go read the message"
	limitsOfSDKs = "TypeScript SDK ends the session over 10 MiB, Go SDK over 16 MiB"
)

// Verdicts says what clients do about a class of line: fails are those that lose
// the session, an answer, or show an error; tolerates those that go on, and whose
// users never notice. Both are sentences with the clients' names, empty where
// nothing is known.
func Verdicts(class servers.Class) (fails, tolerates []string) {
	switch class {
	case servers.ClassText:
		return []string{strictEnd, claudeShows}, []string{silentDrop}
	case servers.ClassNotObject, servers.ClassNotRPC, servers.ClassBadShape:
		return []string{goEnds, claudeShows}, []string{silentDrop}
	case servers.ClassGlued, servers.ClassSplit, servers.ClassBroken, servers.ClassBOM, servers.ClassControl:
		return []string{goEnds, othersWait}, nil
	case servers.ClassPretty, servers.ClassNoNewline, servers.ClassBatch:
		return []string{othersWait}, []string{goReads}
	case servers.ClassTooLong:
		return []string{limitsOfSDKs}, []string{"mcp-go has no limit"}
	case servers.ClassInvalidUTF8:
		return nil, []string{"Go SDK, TypeScript SDK and mcp-go read the message, its text garbled"}
	case servers.ClassCRLF:
		return []string{"Antigravity fails with \"invalid trailing data\""}, []string{allRead}
	case servers.ClassBlank:
		return nil, []string{allRead}
	}
	return rpcVerdicts(class)
}

// rpcVerdicts are the Verdicts about messages that break JSON-RPC.
func rpcVerdicts(class servers.Class) (fails, tolerates []string) {
	const typeScriptWaits = "TypeScript SDK waits for the answer until its time is up"
	switch class {
	case servers.ClassNoVersion:
		return []string{goEnds, typeScriptWaits}, []string{"mcp-go reads the message"}
	case servers.ClassIDType:
		return []string{"Go SDK and mcp-go wait for the answer until their time is up"}, []string{"TypeScript SDK reads the message"}
	case servers.ClassIDNull:
		return []string{goEnds, typeScriptWaits, mcpGoWaits}, nil
	case servers.ClassIDUnknown:
		return []string{"Go SDK, TypeScript SDK and mcp-go wait for the right answer until their time is up"}, nil
	case servers.ClassIDDuplicate, servers.ClassIDLate:
		return nil, []string{"Go SDK, TypeScript SDK and mcp-go ignore the message"}
	}
	return nil, nil
}
