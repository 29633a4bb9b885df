package resources

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/cmd/watch"
)

// TestResourcesOptions maps command lines to options. Scripts prove what the commands do.
func TestResourcesOptions(t *testing.T) {
	text, raw := request.ReplyFlags{Output: "text"}, request.ReplyFlags{Output: "raw"}
	command := func(o request.ReplyFlags, words ...string) request.ReplyFlags {
		o.Server = words
		return o
	}
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{
			newResourceReadCommand(f, cmdtest.Take[ResourceOptions](options)),
			newPromptGetCommand(f, cmdtest.Take[PromptOptions](options)),
			NewComplete(f, cmdtest.Take[completeOptions](options)),
			NewRaw(f, cmdtest.Take[rawOptions](options)),
			newResourceSubscribeCommand(f, cmdtest.Take[watch.Options](options)),
		}
	}, []cmdtest.Row{
		{Args: []string{"read", "x:y"}, Want: ResourceOptions{ReplyFlags: text, URI: "x:y"}},
		{Args: []string{"read", "x:y", "--json", "--save", "d", "--", "node", "x.js"}, Want: ResourceOptions{
			ReplyFlags: request.ReplyFlags{Output: "json", Save: "d", Server: []string{"node", "x.js"}}, URI: "x:y",
		}},
		{Args: []string{"read", "x:y", "--elicit", "perhaps"}},
		{Args: []string{
			"read", "x:y", "--elicit", "accept", "--sampling", "ask", "--root", "a", "--root", "b", "--no-browser",
		}, Want: ResourceOptions{
			URI: "x:y", ReplyFlags: request.ReplyFlags{Output: "text", Answers: person.AnswerFlags{
				Elicit: "accept", Sampling: "ask", Roots: []string{"a", "b"}, NoBrowser: true,
			}},
		}},
		{Args: []string{"read", "x:y", "z"}},
		{Args: []string{"get", "p", "a=1", "--arg", "b=2", "--args", "{}"}, Want: PromptOptions{
			ReplyFlags: text, Prompt: "p", args: []string{"b=2", "a=1"}, Object: "{}",
		}},
		{Args: []string{"complete", "p", "a=x=y", "b="}, Want: completeOptions{
			ReplyFlags: text, ref: "p", argument: "a", value: "x=y", known: map[string]string{"b": ""},
		}},
		{Args: []string{"complete", "f:///{p}", "p", "--", "s"}, Want: completeOptions{ReplyFlags: command(text, "s"), ref: "f:///{p}", argument: "p"}},
		{Args: []string{"raw", "s", "m", "{}"}, Want: rawOptions{ReplyFlags: raw, name: "s", method: "m", params: "{}"}},
		{Args: []string{"raw", "m", "--", "s"}, Want: rawOptions{ReplyFlags: command(raw, "s"), name: "server", method: "m"}},
		{Args: []string{"raw", "m", "-", "--url", "https://h/mcp"}, Want: rawOptions{ReplyFlags: raw, name: "server", method: "m", params: "-"}},
		{Args: []string{"raw", "s", "m", "{}", "more"}},
		{Args: []string{"subscribe", "x:y", "--root", "d"}},
		{Args: []string{"subscribe", "x:y", "--json"}, Want: watch.Options{Resources: []string{"x:y"}, JSON: true, UpdatesOnly: true}},
	}...)
}
