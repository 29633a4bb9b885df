package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
)

// showOptions say which tool is shown and how.
type showOptions struct {
	tool    string
	json    bool
	server  []string // a command line after --
	answers person.AnswerFlags
}

func newShowCommand(app *App, run RunFunc[showOptions]) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show TOOL|SERVER [-- COMMAND…]",
		Short: "Show one tool: description, parameters, schema, and a command that works",
		Long: `Show what a tool does, its parameters with types, defaults and options, what it
returns, and an example command made from its schema. The name of a server shows each of
its tools. --json prints the definition exactly as the server sent it.

Exit codes: 0 success, 2 wrong usage or unknown tool, 4 the server was not reached.`,
		Example: `  toolx show math_eval
  toolx show zwave__control_zwave_device
  toolx show echo --json -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			if len(args) == 0 {
				args = app.flags.Servers
			}
			if len(args) != 1 {
				return fault.Usage("name one tool", "toolx show TOOL; toolx list shows the tools")
			}
			o.tool = args[0]
			return nil
		}),
		RunE:              runs(app, &o, run, o.answers.Check),
		ValidArgsFunction: completeTool(app.tools),
	}
	o.answers.Declare(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the definition as JSON, as the server sent it")
	return cmd
}

// runShow opens what the tool needs and prints what is known of it.
func runShow(ctx context.Context, app *App, o showOptions) error {
	o.answers.Listing = true
	box, err := app.tools.toolbox(toolboxOptions{server: o.server, answers: &o.answers})
	if err != nil {
		return err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: o.tool})
	defer done()
	filter, err := box.filter([]string{o.tool})
	if err != nil {
		return err
	}
	if len(filter.servers) > 0 {
		return showServers(bounded, box, filter, o)
	}
	box.letLogin(o.tool)
	stop := app.out.ShowProgress(app.bus, o.tool)
	tool, err := box.pool.Find(bounded, o.tool)
	stop()
	var denied *exec.DeniedError
	if errors.As(err, &denied) {
		app.out.Report(err)
		tool, err = denied.Tool, nil
	}
	if err := cmp.Or(gaveUp(bounded, o.tool, ""), err); err != nil {
		return err
	}
	return showTool(bounded, box, tool, o)
}

// showServers prints what is known of each tool of the servers; of the tool that has the server's name alone, if there
// is one.
func showServers(ctx context.Context, b *toolbox, filter toolFilter, o showOptions) error {
	tools, err := b.openTools(ctx, filter, "show")
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(tools, func(tool *exec.Tool) bool { return tool.Plain == o.tool }); at >= 0 {
		tools = tools[at : at+1]
	}
	if len(tools) == 0 {
		return noMatch("tool", filter.servers, "the server lists none")
	}
	for i, tool := range tools {
		if i > 0 && !o.json {
			fmt.Fprintln(b.out.Console.Out)
		}
		if err := showTool(ctx, b, tool, o); err != nil {
			return err
		}
	}
	return nil
}

// showTool prints what is known of a tool.
func showTool(ctx context.Context, b *toolbox, tool *exec.Tool, o showOptions) error {
	_, err := tool.Schema(ctx)
	if ended := ended(ctx, tool.Name, slowSchema); ended != nil {
		return ended
	}
	if err != nil {
		b.out.Log.Warn("the input schema is broken, arguments are not checked: " + err.Error())
	}
	_, _ = workingTools(b.out, []*exec.Tool{tool})
	if o.json {
		return render.ToolJSON(b.out.Console.Out, tool, b.out.OutScreen())
	}
	facts := toolFacts(ctx, tool, b.executor.Defaults.Timeout)
	if ended := ended(ctx, tool.Name, slowSchema); ended != nil {
		return ended
	}
	return render.Tool(b.out.Console.Out, tool, facts, b.out.OutScreen())
}
