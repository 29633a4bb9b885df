package call

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// helpOfTool returns the help of "toolx call": that of the tool which is named before --help, where it is toolx's own
// or in a catalogue, else that of the verb, which is general. It starts nothing.
func helpOfTool(tools *toolset.Opener) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, given []string) {
		general := cmd.Parent().HelpFunc()
		args, command := cmd.Flags().Args(), []string(nil)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 && dash < len(args) {
			args, command = args[:dash], args[dash:]
		}
		if len(args) == 0 {
			general(cmd, given)
			return
		}
		tools.Consent.Named = cli.ClientsIn(cmd, args)
		if err := printHelpOf(cmd.Context(), tools, args[0], command); err != nil {
			general(cmd, given)
			tools.Out.Say("\n%s", render.Safe(err.Error()))
		}
	}
}

// printHelpOf prints the help of a tool. The error says how to get it where no catalogue has the tool.
func printHelpOf(ctx context.Context, a *toolset.Opener, name string, command []string) error {
	_ = a.BeginQuietly()
	launch := exec.LaunchWords(a.Flags.ConnectionFlags(), a.Flags.URL, command)
	known, err := a.Offline(command)
	if err != nil && known == nil {
		return err
	}
	tool := known.Tool(name)
	if tool == nil {
		return fmt.Errorf("no catalogue has the tool '%s', or several have it; %s asks the servers", name,
			exec.PasteLine(append([]string{"toolx", "show", name}, launch...)...))
	}
	facts := toolset.ToolFacts(ctx, tool, known.Config.Defaults.Timeout)
	if err := render.Tool(a.Out.Console.Out, tool, facts, a.Out.OutScreen()); err != nil {
		return nil // stdout is gone
	}
	for _, server := range known.Servers() {
		if at, ok := known.Listed(server); ok && server.Name == tool.Server {
			a.Out.Say("\nas server '%s' listed it %s; toolx call --help shows the flags, and how arguments are written",
				render.Safe(server.Name), words.Ago(time.Since(at)))
		}
	}
	return nil
}
