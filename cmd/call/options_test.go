package call

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/cmd/toolset"
	tuicmd "toolx/cmd/tui"
)

// TestCallOptions maps command lines to options. Scripts prove what the commands do.
func TestCallOptions(t *testing.T) {
	plain := Options{Tool: "t", ReplyFlags: request.ReplyFlags{Output: "text"}, batch: batchOptions{parallel: 1}}
	with := func(change func(*Options)) Options {
		o := plain
		change(&o)
		return o
	}
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		take := func(_ context.Context, o Options) error {
			o.screen = tuicmd.Options{}
			*options = cmdtest.Bare(o)
			return nil
		}
		return []*cobra.Command{New(f, take)}
	}, []cmdtest.Row{
		{Name: "a tool", Args: []string{"call", "t"}, Want: plain},
		{
			Name: "single arguments, in both forms",
			Args: []string{"call", "t", "--arg", "a=1", "b=2", "-a", "c:=[3]"},
			Want: with(func(o *Options) { o.Args = []string{"a=1", "c:=[3]", "b=2"} }),
		},
		{
			Name: "an argument with a comma is one",
			Args: []string{"call", "t", "--arg", "a=1,b=2"},
			Want: with(func(o *Options) { o.Args = []string{"a=1,b=2"} }),
		},
		{Name: "the whole object", Args: []string{"call", "t", "--args", "-"}, Want: with(func(o *Options) { o.Object = "-" })},
		{Name: "a format", Args: []string{"call", "t", "-o", "raw"}, Want: with(func(o *Options) { o.Output = "raw" })},
		{Name: "--json is a format", Args: []string{"call", "t", "--json"}, Want: with(func(o *Options) { o.Output = "json" })},
		{
			Name: "what becomes of the result",
			Args: []string{"call", "t", "--jq", ".a", "--save", "d", "--max-output", "1KiB"},
			Want: with(func(o *Options) { o.Jq, o.Save, o.MaxOutput = ".a", "d", "1KiB" }),
		},
		{
			Name: "what is sent",
			Args: []string{"call", "t", "--dry-run", "--strict", "--keep-names"},
			Want: with(func(o *Options) { o.DryRun, o.strict, o.keepNames = true, true, true }),
		},
		{
			Name: "a server's command, its flags untouched",
			Args: []string{"call", "t", "a=1", "--", "npx", "-y", "x", "--json"},
			Want: with(func(o *Options) { o.Args, o.Server = []string{"a=1"}, []string{"npx", "-y", "x", "--json"} }),
		},
		{
			Name: "a model's calls, on standard input",
			Args: []string{"call", "--from-tool-call", "--sequential", "--", "node", "x.js"},
			Want: with(func(o *Options) {
				o.Tool, o.Server, o.model = "", []string{"node", "x.js"}, modelOptions{from: "-", sequential: true}
			}),
		},
		{
			Name: "a model's calls, in a file",
			Args: []string{"call", "--from-tool-call", "m.json", "--result-format", "Anthropic"},
			Want: with(func(o *Options) { o.Tool, o.model = "", modelOptions{from: "m.json", format: "anthropic"} }),
		},
		{
			Name: "guards",
			Args: []string{
				"call", "t", "--allow", "a*", "--allow", "b", "--deny", "c", "--read-only", "--confirm", "always", "-y",
			},
			Want: with(func(o *Options) {
				o.Guards = toolset.Guards{
					Allow: []string{"a*", "b"}, Deny: []string{"c"}, ReadOnly: true, Confirm: "always", Yes: true,
				}
			}),
		},
	}...)
}
