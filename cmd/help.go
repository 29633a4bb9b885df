package cmd

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/factory"
	"toolx/docs"
)

// newHelpCommand returns "toolx help", which shows the help of a verb or a page about something else.
func newHelpCommand(f *factory.Factory) *cobra.Command {
	asJSON := false
	help := &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about any command, or a page: " + strings.Join(docs.Topics(), ", "),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if page := docs.Page(args[0]); page != "" && !asJSON {
					_, err := io.WriteString(f.Out.Console.Out, page)
					return err
				}
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == cmd.Root() && len(args) > 0 || len(rest) > 0 && found.HasSubCommands() {
				return f.Corrector.UnknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			if asJSON {
				return printHelpJSON(f.Out, found)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := docs.Topics()
			for _, verb := range cmd.Root().Commands() {
				if verb.IsAvailableCommand() {
					names = append(names, verb.Name())
				}
			}
			names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) })
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	help.Flags().BoolVar(&asJSON, "json", false, "print verbs, flags, exit codes and kinds of failure as data")
	return help
}
