// Package help shows help: all commands in groups, one command, the common flags, a page, or everything as JSON.
package help

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/docs"
)

// Group is a group of commands in the help of toolx itself.
type Group struct {
	Title    string
	Commands []string
}

// mainFlags are the common flags that the help of toolx itself shows.
func mainFlags() []string { return []string{"config", "server", "url", "output", "verbose"} }

// maxWidth is how many columns the descriptions of flags take.
const maxWidth = 100

// flagsTopic is the topic that shows the common flags.
const flagsTopic = "flags"

// New returns the command help, which shows the help of a command or a page on a topic.
func New(f *factory.Factory) *cobra.Command {
	asJSON := false
	topics := append(docs.Topics(), flagsTopic)
	help := &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Show help for a command or topic (" + strings.Join(topics, ", ") + ")",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && !asJSON {
				page := docs.Page(args[0])
				if page != "" {
					page = shown(f.Out, page)
				}
				if args[0] == flagsTopic {
					page = flagsPage(cmd.Root())
				}
				if page != "" {
					_, err := io.WriteString(f.Out.Console.Out, page)
					return err
				}
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == cmd.Root() && len(args) > 0 || len(rest) > 0 && found.HasSubCommands() {
				return f.Corrector.UnknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			if asJSON {
				return printJSON(f.Out, found)
			}
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := slices.Clone(topics)
			for _, command := range cmd.Root().Commands() {
				if command.IsAvailableCommand() {
					names = append(names, command.Name())
				}
			}
			names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) })
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	help.Flags().BoolVar(&asJSON, "json", false, "print commands, flags, exit codes and kinds of failure as JSON")
	return help
}

// shown returns a page as it is printed: on a terminal without the marks of Markdown.
func shown(o *streams.Streams, page string) string {
	if !o.OutScreen().TTY {
		return page
	}
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	var text strings.Builder
	code := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			code = !code
			continue
		case code:
			line = "  " + line
		case strings.HasPrefix(line, "#"):
			line = strings.ToUpper(strings.TrimLeft(line, "# "))
		case strings.Trim(line, "|-: \n") == "" && strings.HasPrefix(line, "|"):
			continue // the line below the head of a table
		default:
			line = strings.ReplaceAll(link.ReplaceAllString(line, "$1"), "`", "")
		}
		text.WriteString(line)
	}
	return text.String()
}

// Show returns cobra's help function, which writes the help of a command to its output. The help of the root shows the
// commands in groups.
func Show(groups []Group) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		text := ofCommand(cmd)
		if !cmd.HasParent() {
			text = ofRoot(cmd, groups)
		}
		_, _ = io.WriteString(cmd.OutOrStdout(), text) // a closed pipe is not an error
	}
}

// ofRoot returns the help of toolx itself.
func ofRoot(root *cobra.Command, groups []Group) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nUsage:\n  toolx COMMAND [flags] [-- COMMAND…]\n\n", root.Short)
	for _, group := range groups {
		text.WriteString(group.Title + ":\n")
		for _, name := range group.Commands {
			if command, _, err := root.Find([]string{name}); err == nil && !command.Hidden {
				fmt.Fprintf(&text, "  %-11s %s\n", name, command.Short)
			}
		}
	}
	text.WriteString("\nPut a server's command after --:" +
		" toolx list -- npx -y @modelcontextprotocol/server-everything\n\n")
	few := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range mainFlags() {
		few.AddFlag(root.PersistentFlags().Lookup(name))
	}
	few.SortFlags = false
	text.WriteString("Common flags (toolx help flags shows all):\n" + few.FlagUsages())
	return text.String()
}

// ofCommand returns the help of one command: its own flags, examples and exit codes.
func ofCommand(cmd *cobra.Command) string {
	long, _, _ := strings.Cut(cmd.Long, "Exit codes: ")
	if long = strings.TrimSpace(long); long == "" {
		long = cmd.Short + "."
	}
	parts := []string{long, "Usage:\n  " + strings.TrimSuffix(cmd.UseLine(), " [flags]")}
	if cmd.HasAvailableSubCommands() {
		var below strings.Builder
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&below, "\n  %-*s %s", cmd.NamePadding(), sub.Name(), sub.Short)
			}
		}
		parts = append(parts, "Commands:"+below.String())
	}
	if flags := ownFlags(cmd); flags.HasAvailableFlags() {
		parts = append(parts, "Flags:\n"+strings.TrimRight(flags.FlagUsagesWrapped(maxWidth), "\n"))
	}
	if cmd.Example != "" {
		parts = append(parts, "Examples:\n"+cmd.Example)
	}
	if codes := exitCodesIn(cmd.Long); len(codes) > 0 {
		parts = append(parts, "Exit codes:"+listed(codes))
	}
	return strings.Join(append(parts, "Common flags: toolx help flags"), "\n\n") + "\n"
}

// listed returns exit codes with their meanings in ascending order, one per line.
func listed(codes map[string]string) string {
	ascending := func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }
	var lines strings.Builder
	for _, code := range slices.SortedFunc(maps.Keys(codes), ascending) {
		meaning := strings.ReplaceAll(cli.WrapHelp(codes[code]), "\n", "\n       ")
		fmt.Fprintf(&lines, "\n  %-4s %s", code, meaning)
	}
	return lines.String()
}

// ownFlags returns the flags of a command alone, without --help.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" {
			own.AddFlag(flag)
		}
	})
	return own
}

// flagsPage returns the flags of every command.
func flagsPage(root *cobra.Command) string {
	return "Common flags:\n" + root.PersistentFlags().FlagUsagesWrapped(maxWidth)
}
