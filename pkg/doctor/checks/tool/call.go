package tool

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/wire"
)

// askCallFailed reports every failed call.
func askCallFailed(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, call := range e.Calls {
		if call.Result == nil || call.Result.Err == nil || fault.KindOf(call.Result.Err) == fault.KindInterrupted {
			continue
		}
		// If the server ended during a call, exit-during-request and crash-signal report it.
		err := call.Result.Err
		unmade := errors.As(err, new(*evidence.NotCalledError))
		var refused *exec.ToolError
		if call.Own && errors.As(err, &refused) && refused.Code == mcp.MISSING_REQUIRED_CLIENT_CAPABILITY {
			continue // it runs only as a task, which the doctor does not start
		}
		if unmade || call.Run.Died() == nil || fault.KindOf(err) != fault.KindProtocol {
			found = append(found, failure(call, e))
		}
	}
	return check.Capped(found)
}

// failure returns the finding about a failed call.
func failure(c *evidence.CallRun, e *evidence.Evidence) check.Finding {
	err := c.Result.Err
	f := check.Finding{
		Where:    &evidence.Where{Run: evidence.CallsRun, Method: "tools/call", Tool: evidence.Label(c.Tool)},
		Evidence: evidence.OneLine(err.Error()), Notes: stderrNotes(c),
	}
	var refused *exec.ToolError
	switch {
	case errors.As(err, new(*evidence.NotCalledError)):
		f.Title = "call was not made: server did not restart"
	case fault.KindOf(err) == fault.KindTimeout:
		f.Title = "tool call got no response"
		f.Fix = []string{
			"in the server: respond to every call, with an error if it fails; report the progress of slow calls",
			"pass --timeout to allow more time",
		}
	case fault.KindOf(err) == fault.KindNotFound:
		f.Title = "server has no tool with the name in --call"
		f.Evidence += "; the server has no tools"
		if tools := listing.Read(e).Tools; len(tools) > 0 {
			names := evidence.ListedFunc(tools, (*listing.Definition).Label)
			f.Evidence = strings.TrimSuffix(f.Evidence, "no tools") + names
		}
		f.Fix = []string{notFoundFix(e, err)}
	case fault.KindOf(err) == fault.KindInvalidArguments:
		f.Title = "arguments in --call do not match the tool's schema"
		f.Fix = []string{"pass --call a JSON object that matches the tool's inputSchema"}
	case errors.As(err, &refused) && refused.Code != 0:
		f.Title = "tool call failed with a JSON-RPC error"
		f.Evidence = fmt.Sprintf("error %d: %s", refused.Code, f.Evidence)
	case errors.As(err, &refused):
		f.Title = "tool reported a failure"
	}
	if hint := cause.NetworkHint(err.Error()); hint != "" && refused != nil {
		f.Fix = []string{hint}
	}
	return f
}

// notFoundFix suggests similar tools.
func notFoundFix(e *evidence.Evidence, err error) string {
	var unknown *exec.NotFoundError
	if !errors.As(err, &unknown) || len(unknown.Near) == 0 {
		return "use the name of a listed tool in --call"
	}
	var names []string
	for _, name := range unknown.Near {
		names = append(names, strings.TrimPrefix(name, e.Server.Name+exec.Separator))
	}
	return "did you mean " + evidence.OneLine(strings.Join(names, ", ")) + "?"
}

// stderrNotes returns the last lines of stderr during a call, one note per line.
func stderrNotes(c *evidence.CallRun) []string {
	sent := Exchange(c)
	if sent == nil {
		return nil
	}
	var notes []string
	for _, line := range evidence.EventsOf[wire.StderrLine](c.Run) {
		if !line.At.Before(sent.At) && (sent.Frame == nil || !line.At.After(sent.At.Add(sent.Took))) {
			notes = append(notes, "stderr: "+line.Text)
		}
	}
	const most = 5
	return notes[max(0, len(notes)-most):]
}

// Exchange returns a call's request, or nil if it was not sent.
func Exchange(c *evidence.CallRun) *evidence.Exchange {
	if c.Sent == nil {
		return nil
	}
	for _, x := range c.Run.Asked("tools/call") {
		arguments := evidence.MemberAt(x.Sent, "params", "arguments")
		if evidence.NameIn(x.Sent) == c.Sent.Tool.Plain && equalJSON(arguments, c.Sent.Arguments) {
			return x
		}
	}
	return nil
}
