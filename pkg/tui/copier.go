package tui

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
)

// copier puts the command, the request or the result of a call on the clipboard.
type copier struct {
	*shared
	calls *calls
	page  *page
	// ofResult reports whether keys apply to the call on the screen.
	ofResult func() bool
}

// subject returns what a copied command or request is made from: the call on the screen if the result
// pane has the focus, else the item on the page.
func (c *copier) subject() (item, json.RawMessage, error) {
	if c.ofResult() {
		return c.calls.shown.item, c.calls.shown.arguments, nil
	}
	arguments, err := c.page.arguments()
	return c.page.item, arguments, err
}

// command copies the command line that does what the screen shows.
func (c *copier) command() tea.Cmd { return c.commandOf(c.subject()) }

// commandOf copies the command line that runs an item, unless there is an error.
func (c *copier) commandOf(one item, arguments json.RawMessage, err error) tea.Cmd {
	if err != nil {
		return c.fail(err)
	}
	var flags []string
	if limit := c.calls.limits[one.key()].typed; limit != "" {
		flags = []string{"--timeout", limit}
	}
	line := commandLine(one, arguments, flags...)
	if c.options.Folder != "" {
		line = exec.PasteLine("cd", c.options.Folder) + " && " + line
	}
	what := "the command line"
	if strings.Contains(line, mask.Mask) {
		what += "; insert the secret instead of " + mask.Mask
	}
	return c.copied(line, what)
}

// commandLine returns the command that runs an item with arguments, and flags besides those of the item.
func commandLine(one item, arguments json.RawMessage, flags ...string) string {
	switch one.kind {
	case kindTool:
		return exec.CommandLine(one.Tool, arguments, flags...)
	case kindPrompt:
		return exec.PromptLine(one.Tool, arguments, flags...)
	default:
		return exec.ReadLine(&exec.Tool{
			Name:   one.Server + exec.Separator + uriOf(arguments),
			Launch: one.Launch, Address: one.Address, Flags: append(slices.Clip(one.Flags), flags...),
		})
	}
}

// request copies the JSON-RPC request that would be sent.
func (c *copier) request() tea.Cmd {
	one, arguments, err := c.subject()
	var request json.RawMessage
	if err == nil {
		request, err = c.requestOf(one, arguments)
	}
	if err != nil {
		return c.fail(err)
	}
	return c.copied(string(request), "the request")
}

// requestOf returns the JSON-RPC request that runs an item.
func (c *copier) requestOf(one item, arguments json.RawMessage) (json.RawMessage, error) {
	if one.kind == kindTool {
		return c.options.Request(exec.Call{Tool: one.Name, Target: one.Tool, Arguments: arguments})
	}
	session := c.options.Pool.Session(one.Server)
	if session == nil {
		return nil, errors.New("the server is not running; R starts it")
	}
	params := protocol.ReadParams(uriOf(arguments))
	if one.kind == kindPrompt {
		params = protocol.PromptParams(one.Plain, arguments)
	}
	return session.NextRequest(one.kind.request(), params, 0)
}

// result copies the result of the call on the screen, or why it failed.
func (c *copier) result() tea.Cmd {
	call := c.calls.shown
	switch {
	case call.result.Err != nil:
		return c.copied(call.result.Err.Error(), "the error")
	case call.item.kind == kindPrompt:
		return c.copied(promptText(call.result), "the messages")
	}
	return c.copied(call.result.String(), "the result")
}

// promptText returns what the command line prints for a prompt.
func promptText(result *exec.Result) string {
	var out strings.Builder
	messages, err := exec.ReadMessages(result.Raw)
	if err != nil || render.Messages(&out, messages, render.Screen{}) != nil {
		return result.String()
	}
	return out.String()
}
