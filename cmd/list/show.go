package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/extension"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// showOptions say which tool to show and how.
type showOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	tool    string
	json    bool
	server  []string // a command line after --
	answers person.AnswerFlags
}

// NewShow returns the command show; run runs it.
func NewShow(f *factory.Factory, run cli.RunFunc[showOptions]) *cobra.Command {
	o := showOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "show TOOL|SERVER [-- COMMAND…]",
		Short: "Show a tool and an example call",
		Long: `Show a tool's description, its parameters with types, defaults and options, what it
returns, and an example call made from its schema. A server's name shows each of its
tools. --json prints the definition exactly as the server sent it.

Exit codes: 0 success, 2 wrong usage or unknown tool, 4 the server could not be
reached.`,
		Example: `  toolx show math_eval
  toolx show zwave__control_zwave_device
  toolx show echo --json -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			if len(args) == 0 {
				args = f.Flags.Servers
			}
			if len(args) != 1 {
				return fault.Usage("exactly one tool name is required", "toolx show TOOL; toolx list shows the tools")
			}
			o.tool = args[0]
			return nil
		}),
		RunE:              cli.Run(&o, run, o.answers.Check),
		ValidArgsFunction: complete.Tool(f.Tools),
	}
	o.answers.Declare(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the definition as JSON, as the server sent it")
	return cmd
}

// RunShow opens the tool's server and prints the tool's description.
func RunShow(ctx context.Context, o showOptions) error {
	o.answers.Listing = true
	box, err := o.Tools.Open(toolset.Options{Server: o.server, Answers: &o.answers})
	if err != nil {
		return err
	}
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: o.tool})
	defer done()
	filter, err := box.Filter([]string{o.tool})
	if err != nil {
		return err
	}
	if len(filter.Servers) > 0 {
		return showServers(bounded, box, filter, o)
	}
	box.AllowLogin(o.tool)
	stop := o.Tools.ShowProgress(o.tool)
	tool, err := box.Pool.Find(bounded, o.tool)
	stop()
	var denied *exec.DeniedError
	if errors.As(err, &denied) {
		o.Out.Report(err)
		tool, err = denied.Tool, nil
	}
	if err := cmp.Or(toolset.GaveUp(bounded, o.tool, ""), err); err != nil {
		return err
	}
	return showTool(bounded, box, tool, o)
}

// showServers prints the description of each tool of the servers, or only of the tool with the server's name, if there
// is one.
func showServers(ctx context.Context, b *toolset.Set, filter toolset.Filter, o showOptions) error {
	tools, err := b.OpenTools(ctx, filter, "show")
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(tools, func(tool *exec.Tool) bool { return tool.Plain == o.tool }); at >= 0 {
		tools = tools[at : at+1]
	}
	if len(tools) == 0 {
		return toolset.NoMatch("tool", filter.Servers, "the server lists none")
	}
	for i, tool := range tools {
		if i > 0 && !o.json {
			fmt.Fprintln(b.Out.Console.Out)
		}
		if err := showTool(ctx, b, tool, o); err != nil {
			return err
		}
	}
	return nil
}

// showTool prints the description of a tool.
func showTool(ctx context.Context, b *toolset.Set, tool *exec.Tool, o showOptions) error {
	_, err := tool.Schema(ctx)
	if ended := toolset.Ended(ctx, tool.Name, toolset.SlowSchema); ended != nil {
		return ended
	}
	if err != nil {
		b.Out.Log.Warn("the input schema is broken, so arguments are not checked: " + err.Error())
	}
	_, _ = toolset.WorkingTools(b.Out, []*exec.Tool{tool})
	if o.json {
		return render.ToolJSON(b.Out.Console.Out, tool, b.Out.OutScreen())
	}
	facts := toolset.ToolFacts(ctx, tool, b.Executor.Defaults.Timeout)
	if ended := toolset.Ended(ctx, tool.Name, toolset.SlowSchema); ended != nil {
		return ended
	}
	facts.App = appFacts(ctx, b, tool)
	return render.Tool(b.Out.Console.Out, tool, facts, b.Out.OutScreen())
}

// appFacts describes a tool's app, one fact per line; nil for a tool without an app.
func appFacts(ctx context.Context, b *toolset.Set, tool *exec.Tool) []string {
	app := extension.ReadApp(tool.Definition)
	if app == nil {
		return nil
	}
	facts := []string{"visible to " + strings.Join(app.Visibility, ", ")}
	if app.URI == "" {
		return facts
	}
	page, err := exec.Within(ctx, b.Executor, app.URI, func(ctx context.Context) (*extension.Page, error) {
		session, err := b.Pool.Open(ctx, tool.Server)
		if err != nil {
			return nil, err
		}
		result, err := session.ReadResource(ctx, app.URI, nil)
		if err != nil {
			return nil, err
		}
		resources, _ := session.Resources(ctx) // may have the metadata of the page
		return extension.ReadPage(app.URI, result, rawjson.Build("resources", rawjson.Array(resources)))
	})
	if err != nil {
		return append(facts, app.URI+" cannot be read: "+err.Error())
	}
	facts = append(facts, fmt.Sprintf("%s  %s, %s", app.URI, page.MIMEType, exec.Bytes(int64(page.Size))))
	for _, name := range slices.Sorted(maps.Keys(page.CSP)) {
		facts = append(facts, name+" "+strings.Join(page.CSP[name], ", "))
	}
	if len(page.Permissions) > 0 {
		facts = append(facts, "permissions "+strings.Join(slices.Sorted(maps.Keys(page.Permissions)), ", "))
	}
	return facts
}
