// Package cli has the common flags, and functions that read arguments.
package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// WithCommand reads the arguments of a verb that takes a server's command line after "--": the words after it go to
// command, those before it to take.
func WithCommand(command *[]string, take func(args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash < 0:
		case dash == len(args):
			return fault.Usage("the command after -- is missing",
				cmd.CommandPath()+" … -- npx -y @modelcontextprotocol/server-everything")
		default:
			args, *command = args[:dash], args[dash:]
		}
		return take(args)
	}
}

// NameOrCommand is WithCommand for a verb whose first argument, or --server, is the name of a server.
func NameOrCommand(command *[]string, take func(args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return WithCommand(command, func(args []string) error { return take(WithServers(cmd, args)) })(cmd, args)
	}
}

// WithServers returns the arguments of a verb that takes names of servers; those of --server come first.
func WithServers(cmd *cobra.Command, args []string) []string {
	named, _ := cmd.Flags().GetStringArray("server")
	return append(named, args...)
}

// NamesOrCommand reads the arguments of a verb that takes names of servers, or one server's command line.
func NamesOrCommand(names, command *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return WithCommand(command, func(args []string) error {
			*names = WithServers(cmd, args)
			switch {
			case len(args) > 0 && len(*names) > len(args):
				return fault.Usage("name servers as arguments or with --server, not both",
					exec.PasteLine(append(strings.Fields(cmd.CommandPath()), Distinct(*names)...)...))
			case len(args) > 0 && len(*command) > 0:
				return fault.Usage("name servers, or give a command after --, not both",
					cmd.CommandPath()+" -- COMMAND…")
			}
			return nil
		})(cmd, args)
	}
}

// AtMostOne reads the argument of a verb that takes at most one into value.
func AtMostOne(value *string, fix string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fault.Usage("unexpected argument "+strconv.Quote(args[1]), fix)
		}
		if len(args) == 1 {
			*value = args[0]
		}
		return nil
	}
}

// NeedsSubcommand returns a usage error for a verb without a subcommand or with an unknown one.
func NeedsSubcommand(fix string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fault.Usage(cmd.Name()+" needs a subcommand", fix)
		}
		return fault.Usage("unknown subcommand "+strconv.Quote(args[0]), fix)
	}
}

// NoArguments refuses any argument.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usage("unexpected argument "+strconv.Quote(args[0]), cmd.CommandPath()+" takes none")
	}
	return nil
}
