package evidence

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
)

// CallsRun is the name of the runs in which tools are called.
const CallsRun = "calls"

// Call is a real call to make.
type Call struct {
	Server    string // empty: every server that is examined
	Tool      string // the plain name
	Arguments json.RawMessage
	// Own reports whether the doctor chose the call (Options.Safe).
	Own bool
}

// CallRun is one call that was made, or that could not be.
type CallRun struct {
	Tool      string
	Arguments json.RawMessage
	Result    *exec.Result
	// Sent is the call as it was made, nil where it could not be.
	Sent *exec.Prepared
	// Own reports whether the doctor chose the call.
	Own bool
	// Run is the run in which it was made.
	Run *Run
}

// UnmadeError says that a call was not made, since the server did not start again.
type UnmadeError struct{ Err error }

func (e *UnmadeError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *UnmadeError) Unwrap() error { return e.Err }

// Sessions are the runs in which the server was asked as clients ask: the clean run,
// and those in which its tools were called.
func (e *Evidence) Sessions() []*Run {
	if e.Clean == nil {
		return nil
	}
	return append([]*Run{e.Clean}, e.Calling...)
}

// NameIn is the name of what a request is about: a tool's, a prompt's, a resource's address.
func NameIn(request json.RawMessage) string {
	params := MemberAt(request, "params")
	return cmp.Or(rawjson.Unquote(MemberAt(params, "name")), rawjson.Unquote(MemberAt(params, "uri")))
}

// IsUsersCall reports whether a request is a call that the user asked for: only those have a progress token.
func IsUsersCall(x *Exchange) bool {
	return x.Method == "tools/call" && MemberAt(x.Sent, "params", "_meta", "progressToken") != nil
}

// TaskHandle returns the task in the result of a call, nil if it is an ordinary one; modern says that the task is one
// of the extension of 2026-07-28.
func TaskHandle(result json.RawMessage) (task json.RawMessage, modern bool) {
	if rawjson.GetText(result, "resultType") == "task" {
		return result, true
	}
	if task := rawjson.Get(result, "task"); IsObject(task) && rawjson.Get(result, "content") == nil {
		return task, false
	}
	return nil, false
}

// EndedByItself reports whether the server became unusable before anyone asked it to end.
func EndedByItself(f *diagnose.Failure) bool {
	ways := []diagnose.Ending{
		diagnose.EndingExited, diagnose.EndingKilled, diagnose.EndingClosedStdout, diagnose.EndingClosedStdin,
	}
	return f != nil && slices.Contains(ways, f.Ending)
}
