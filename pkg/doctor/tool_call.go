package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/exec"
)

func callFailed() Check {
	return Check{
		ID: "call-failed", Severity: Warning, Group: GroupTools, Need: NeedCalls,
		Title: "a call that was asked for failed",
		Ask:   askCallFailed,
		Page: Page{
			Why: "A call of --call came to nothing: the tool says that it failed, the server refused it, no answer came, or " +
				"there was nothing to send, since the server has no such tool or the arguments do not fit its schema.",
			Bad:    `--call 'get_weather {"city":"Berln"}' is answered with {"content": [{"type": "text", "text": "no such city"}], "isError": true}`,
			Good:   `--call 'get_weather {"city":"Berlin"}' is answered with {"content": [{"type": "text", "text": "21 °C"}]}`,
			Fix:    []string{"read what the server says, and correct the call or the tool"},
			Source: "MCP 2025-11-25, server/tools: Error Handling",
		},
	}
}

// askCallFailed tells of every call that did not succeed, whoever is to blame.
func askCallFailed(e *Evidence) []Finding {
	var found []Finding
	for _, call := range e.Calls {
		// A call in which the server ended is for exit-during-request and crash-signal to tell.
		if call.Result != nil && call.Result.Err != nil && (e.Clean.died() == nil || exec.KindOf(call.Result.Err) != exec.KindProtocol) {
			found = append(found, call.failure(e))
		}
	}
	return capped(found)
}

// failure says why a call failed. A call that could not be sent is an error: nothing
// of what the user wanted to know was looked at.
func (c *CallRun) failure(e *Evidence) Finding {
	err := c.Result.Err
	f := Finding{Where: &Where{Run: "clean", Method: "tools/call", Tool: excerpt(c.Tool, maxLabel)}, Evidence: oneLine(err.Error())}
	var refused *exec.ToolError
	switch {
	case exec.KindOf(err) == exec.KindNotFound:
		f.Severity, f.Title = Error, "the server has no tool of the name in --call"
		f.Evidence += "; " + e.toolNames()
		f.Fix = []string{cmp.Or(e.nearest(err), "give --call the name of a tool that the server lists")}
	case exec.KindOf(err) == exec.KindInvalidArguments:
		f.Severity, f.Title = Error, "the arguments in --call do not fit the tool's schema"
		f.Fix = []string{"give --call a JSON object that fits the tool's inputSchema"}
	case errors.As(err, &refused) && refused.Code != 0:
		f.Title = "a call is answered with a JSON-RPC error"
		f.Evidence = fmt.Sprintf("error %d: %s", refused.Code, f.Evidence)
	case errors.As(err, &refused):
		f.Title = "a tool says that it failed"
	}
	return f
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
