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
	Server    string // empty: every examined server
	Tool      string // the plain name
	Arguments json.RawMessage
	// Own is set if the doctor chose the call (Options.Safe).
	Own bool
}

// CallRun is one call, made or not.
type CallRun struct {
	Tool      string
	Arguments json.RawMessage
	Result    *exec.Result
	// Sent is the call as it was sent; nil if it was not.
	Sent *exec.Prepared
	// Own is as in Call.
	Own bool
	// Run is the run of the call.
	Run *Run
}

// NotCalledError reports that a call was not made because the server did not restart.
type NotCalledError struct{ Err error }

func (e *NotCalledError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NotCalledError) Unwrap() error { return e.Err }

// Sessions returns the runs with a regular session: the clean run, and those in which tools were called.
func (e *Evidence) Sessions() []*Run {
	if e.Clean == nil {
		return nil
	}
	return append([]*Run{e.Clean}, e.Calling...)
}

// NameIn returns the name or URI in a request's params.
func NameIn(request json.RawMessage) string {
	params := MemberAt(request, "params")
	return cmp.Or(rawjson.Unquote(MemberAt(params, "name")), rawjson.Unquote(MemberAt(params, "uri")))
}

// IsUsersCall reports whether a request calls a tool for --call or, in a recording, for the client: the doctor's own
// calls are of NoSuchTool, or have no name.
func IsUsersCall(x *Exchange) bool {
	name := MemberAt(x.Sent, "params", "name")
	return x.Method == "tools/call" && name != nil && rawjson.Unquote(name) != NoSuchTool
}

// TaskHandle returns the task in the result of a call, or nil; modern reports whether it is a task of the extension of
// 2026-07-28.
func TaskHandle(result json.RawMessage) (task json.RawMessage, modern bool) {
	if rawjson.GetText(result, "resultType") == "task" {
		return result, true
	}
	if task := rawjson.Get(result, "task"); IsObject(task) && rawjson.Get(result, "content") == nil {
		return task, false
	}
	return nil, false
}

// EndedByItself reports whether the server became unusable before it was asked to exit.
func EndedByItself(f *diagnose.Failure) bool {
	ways := []diagnose.Ending{
		diagnose.EndingExited, diagnose.EndingKilled, diagnose.EndingClosedStdout, diagnose.EndingClosedStdin,
	}
	return f != nil && slices.Contains(ways, f.Ending)
}
