package cmd

import (
	"context"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/pkg/fault"
)

// TestRequestOptions maps command lines of the verbs that ask servers for other things
// than tools to what they are asked to do.
func TestRequestOptions(t *testing.T) {
	text, raw := request.ReplyFlags{Output: "text"}, request.ReplyFlags{Output: "raw"}
	command := func(o request.ReplyFlags, words ...string) request.ReplyFlags {
		o.Server = words
		return o
	}
	for _, test := range []struct {
		args []string
		want any
	}{
		{[]string{"read", "x:y"}, resourceOptions{ReplyFlags: text, uri: "x:y"}},
		{[]string{"read", "x:y", "--json", "--save", "d", "--", "node", "x.js"}, resourceOptions{
			ReplyFlags: request.ReplyFlags{Output: "json", Save: "d", Server: []string{"node", "x.js"}}, uri: "x:y",
		}},
		{[]string{"get", "p", "a=1", "--arg", "b=2", "--args", "{}"}, promptOptions{
			ReplyFlags: text, prompt: "p", args: []string{"b=2", "a=1"}, object: "{}",
		}},
		{[]string{"complete", "p", "a=x=y", "b="}, completeOptions{
			ReplyFlags: text, ref: "p", argument: "a", value: "x=y", known: map[string]string{"b": ""},
		}},
		{[]string{"complete", "f:///{p}", "p", "--", "s"}, completeOptions{ReplyFlags: command(text, "s"), ref: "f:///{p}", argument: "p"}},
		{[]string{"ping", "a", "b", "--json"}, pingOptions{names: []string{"a", "b"}, json: true}},
		{[]string{"raw", "s", "m", "{}"}, rawOptions{ReplyFlags: raw, name: "s", method: "m", params: "{}"}},
		{[]string{"raw", "m", "--", "s"}, rawOptions{ReplyFlags: command(raw, "s"), name: "server", method: "m"}},
		{[]string{"raw", "m", "-", "--url", "https://h/mcp"}, rawOptions{ReplyFlags: raw, name: "server", method: "m", params: "-"}},
		{[]string{"watch", "a", "--level", "debug", "--resource", "x:y", "--count", "2"}, watchOptions{
			names: []string{"a"}, level: "debug", resources: []string{"x:y"}, count: 2,
		}},
		{[]string{"subscribe", "x:y", "--root", "d"}, nil},
		{[]string{"subscribe", "x:y", "--json"}, watchOptions{resources: []string{"x:y"}, json: true, updatesOnly: true}},
		{[]string{"list", "a*", "--strict"}, listingOptions{patterns: []string{"a*"}, strict: true}},
		{[]string{"list", "["}, nil},
		{[]string{"read", "x:y", "--elicit", "perhaps"}, nil},
		{[]string{
			"read", "x:y", "--elicit", "accept", "--sampling", "ask", "--root", "a", "--root", "b", "--no-browser",
		}, resourceOptions{
			uri: "x:y", ReplyFlags: request.ReplyFlags{Output: "text", Answers: person.AnswerFlags{
				Elicit: "accept", Sampling: "ask", Roots: []string{"a", "b"}, NoBrowser: true,
			}},
		}},
		{[]string{"read", "x:y", "z"}, nil},
		{[]string{"ping", "a", "--", "s"}, nil},
		{[]string{"raw", "s", "m", "{}", "more"}, nil},
	} {
		got, err := parseRequest(test.args...)
		if test.want == nil {
			if fault.KindOf(err) != fault.KindUsage {
				t.Errorf("%v gives %+v and %v, want a usage error", test.args, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v is %+v, %v; want %+v", test.args, got, err, test.want)
		}
	}
}

// parseRequest gives the options that a command line asks a verb for.
func parseRequest(args ...string) (options any, err error) {
	streams, _, _ := buffered("")
	f := factory.New(streams)
	root := newRootCommand(f)
	root.ResetCommands()
	root.AddCommand(
		newResourceReadCommand(f,
			take[resourceOptions](&options)),
		newResourceSubscribeCommand(f,
			take[watchOptions](&options)),
		newPromptGetCommand(f, take[promptOptions](&options)),
		newCompleteCommand(f, take[completeOptions](&options)),
		newPingCommand(f, take[pingOptions](&options)),
		newRawCommand(f, take[rawOptions](&options)),
		newWatchCommand(f, take[watchOptions](&options)),
		listOf(f, func(_ context.Context, o listingOptions, _ listing) error {
			options = bare(o)
			return nil
		}),
	)
	root.SetArgs(args)
	err = root.Execute()
	return options, err
}

func listOf(f *factory.Factory, run func(context.Context, listingOptions, listing) error) *cobra.Command {
	return newListingCommand(f, promptCatalog(), "List", run)
}
