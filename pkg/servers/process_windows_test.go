package servers

import "toolx/pkg/servers/diagnose"

// groupAlive is false: closing the Job Object has ended what was in it.
func groupAlive(int) bool { return false }

// How the fake server's deaths by a signal are told: there are none, and it exits with a code.
const (
	crashedEnding = diagnose.EndingExited
	crashedText   = "exit status 139"
	killedText    = "exit status 139"
)
