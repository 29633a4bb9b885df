package cmd

import (
	"context"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/person"
	"toolx/pkg/fault"
)

// TestRequestOptions maps command lines of the verbs that ask servers for other things
// than tools to what they are asked to do.
func TestRequestOptions(t *testing.T) {
	text := replyOptions{output: "text"}
	command := func(o replyOptions, words ...string) replyOptions {
		o.server = words
		return o
	}
	for _, test := range []struct {
		args []string
		want any
	}{
		{[]string{"read", "x:y"}, resourceOptions{text, "x:y"}},
		{[]string{"read", "x:y", "--json", "--save", "d", "--", "node", "x.js"}, resourceOptions{
			replyOptions{output: "json", save: "d", server: []string{"node", "x.js"}}, "x:y",
		}},
		{[]string{"get", "p", "a=1", "--arg", "b=2", "--args", "{}"}, promptOptions{text, "p", []string{"b=2", "a=1"}, "{}"}},
		{[]string{"complete", "p", "a=x=y", "b="}, completeOptions{
			replyOptions: text, ref: "p", argument: "a", value: "x=y", known: map[string]string{"b": ""},
		}},
		{[]string{"complete", "f:///{p}", "p", "--", "s"}, completeOptions{replyOptions: command(text, "s"), ref: "f:///{p}", argument: "p"}},
		{[]string{"ping", "a", "b", "--json"}, pingOptions{names: []string{"a", "b"}, json: true}},
		{[]string{"raw", "s", "m", "{}"}, rawOptions{replyOptions{output: "raw"}, "s", "m", "{}"}},
		{[]string{"raw", "m", "--", "s"}, rawOptions{command(replyOptions{output: "raw"}, "s"), "server", "m", ""}},
		{[]string{"raw", "m", "-", "--url", "https://h/mcp"}, rawOptions{replyOptions{output: "raw"}, "server", "m", "-"}},
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
			replyOptions{output: "text", answers: person.AnswerFlags{Elicit: "accept", Sampling: "ask", Roots: []string{"a", "b"}, NoBrowser: true}},
			"x:y",
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
	app := newApp(streams)
	root := newRootCommand(app)
	root.ResetCommands()
	root.AddCommand(
		newResourceReadCommand(app,
			func(_ context.Context, _ *App, o resourceOptions) error { options = o; return nil }),
		newResourceSubscribeCommand(app,
			func(_ context.Context, _ *App, o watchOptions) error { options = o; return nil }),
		newPromptGetCommand(app, func(_ context.Context, _ *App, o promptOptions) error { options = o; return nil }),
		newCompleteCommand(app, func(_ context.Context, _ *App, o completeOptions) error { options = o; return nil }),
		newPingCommand(app, func(_ context.Context, _ *App, o pingOptions) error { options = o; return nil }),
		newRawCommand(app, func(_ context.Context, _ *App, o rawOptions) error { options = o; return nil }),
		newWatchCommand(app, func(_ context.Context, _ *App, o watchOptions) error { options = o; return nil }),
		listOf(app, func(_ context.Context, _ *App, o listingOptions, _ listing) error { options = o; return nil }),
	)
	root.SetArgs(args)
	err = root.Execute()
	return options, err
}

func listOf(app *App, run func(context.Context, *App, listingOptions, listing) error) *cobra.Command {
	return newListingCommand(app, promptCatalog(), "List", run)
}
