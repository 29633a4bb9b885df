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

// helpOfTool returns the help of "toolx call". If a tool before --help is built in or in a catalogue, the help is about
// that tool. It starts no server.
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

// printHelpOf prints the help of a tool. If no catalogue has the tool, the error says how to get the help.
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
			a.Out.Say("\nas server '%s' listed it %s; toolx call --help shows the flags and the syntax of arguments",
				render.Safe(server.Name), words.Ago(time.Since(at)))
		}
	}
	return nil
}
