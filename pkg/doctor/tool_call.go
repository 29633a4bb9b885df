package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// askCallFailed tells of every call that did not succeed, whoever is to blame.
func askCallFailed(e *Evidence) []Finding {
	var found []Finding
	for _, call := range e.Calls {
		if call.Result == nil || call.Result.Err == nil || exec.KindOf(call.Result.Err) == exec.KindInterrupted {
			continue
		}
		// A call in which the server ended is for exit-during-request and crash-signal to tell.
		if call.run.died() == nil || exec.KindOf(call.Result.Err) != exec.KindProtocol || errors.As(call.Result.Err, new(*unmadeError)) {
			found = append(found, call.failure(e))
		}
	}
	return capped(found)
}

// failure says why a call failed.
func (c *CallRun) failure(e *Evidence) Finding {
	err := c.Result.Err
	f := Finding{
		Where:    &Where{Run: callsRun, Method: "tools/call", Tool: excerpt(c.Tool, maxLabel)},
		Evidence: oneLine(err.Error()), Notes: c.stderrNotes(),
	}
	var refused *exec.ToolError
	switch {
	case errors.As(err, new(*unmadeError)):
		f.Title = "a call could not be made: the server did not start again"
	case exec.KindOf(err) == exec.KindTimeout:
		f.Title = "a call is not answered"
		f.Fix = []string{
			"in the server: answer every call, with an error where it cannot be carried out; report progress where it takes long",
			"--timeout gives it more time",
		}
	case exec.KindOf(err) == exec.KindNotFound:
		f.Title = "the server has no tool of the name in --call"
		f.Evidence += "; " + e.toolNames()
		f.Fix = []string{cmp.Or(e.nearest(err), "give --call the name of a tool that the server lists")}
	case exec.KindOf(err) == exec.KindInvalidArguments:
		f.Title = "the arguments in --call do not fit the tool's schema"
		f.Fix = []string{"give --call a JSON object that fits the tool's inputSchema"}
	case errors.As(err, &refused) && refused.Code != 0:
		f.Title = "a call is answered with a JSON-RPC error"
		f.Evidence = fmt.Sprintf("error %d: %s", refused.Code, f.Evidence)
	case errors.As(err, &refused):
		f.Title = "a tool says that it failed"
	}
	if hint := exec.NetworkHint(err.Error()); hint != "" && refused != nil {
		f.Fix = []string{hint}
	}
	return f
}

// stderrNotes are the last lines of stderr since the call was sent, a note each.
func (c *CallRun) stderrNotes() []string {
	sent := c.exchange()
	if sent == nil {
		return nil
	}
	var notes []string
	for _, line := range EventsOf[servers.StderrLine](c.run) {
		if !line.At.Before(sent.At) && (sent.Frame == nil || !line.At.After(sent.At.Add(sent.Took))) {
			notes = append(notes, "stderr: "+line.Text)
		}
	}
	const most = 5
	return notes[max(0, len(notes)-most):]
}

// exchange is the call's request, nil where none was sent.
func (c *CallRun) exchange() *Exchange {
	if c.sent == nil {
		return nil
	}
	for _, x := range c.run.asked("tools/call") {
		if nameIn(x.Sent) == c.sent.Tool.Plain && equalJSON(memberAt(x.Sent, "params", "arguments"), c.sent.Arguments) {
			return x
		}
	}
	return nil
}

// nearest names the tools that may be meant where there is none of the given name, as
// the server does; empty where none is near.
func (e *Evidence) nearest(err error) string {
	var unknown *exec.NotFoundError
	if !errors.As(err, &unknown) || len(unknown.Near) == 0 {
		return ""
	}
	var names []string
	for _, name := range unknown.Near {
		names = append(names, strings.TrimPrefix(name, e.Server.Name+exec.Separator))
	}
	return "did you mean " + excerpt(strings.Join(names, ", "), 2*maxExcerpt) + "?"
}

// toolNames says which tools the server has.
func (e *Evidence) toolNames() string {
	tools := e.survey().tools
	if len(tools) == 0 {
		return "the server has no tools"
	}
	return "the server has " + listed(len(tools), func(i int) string { return tools[i].label() })
}

// oneLine is a text from a server as evidence has it.
func oneLine(text string) string {
	return excerpt(strings.Join(strings.Fields(text), " "), 2*maxExcerpt)
}
