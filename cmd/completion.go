package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/pkg/fault"
)

func newCompletionCommand(f *factory.Factory) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a shell completion script",
		Long: `Print a script that lets a shell complete toolx's commands, flags and tools. SHELL is
bash, zsh, fish or powershell.`,
		Example: `  toolx completion bash > ~/.local/share/bash-completion/completions/toolx
  toolx completion zsh > ~/.zfunc/_toolx
  toolx completion fish > ~/.config/fish/completions/toolx.fish`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage("exactly one shell is required", "toolx completion bash")
			}
			return cli.OneOf("shell", args[0], shells...)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return WriteCompletion(cmd.Root(), args[0], f.Out.Console.Out)
		},
	}
}

// WriteCompletion writes the completion script of a shell; see cobra for what the scripts can do.
func WriteCompletion(root *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "bash":
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, true); err != nil {
			return err
		}
		_, err := io.WriteString(out, bashScript(script.String()))
		return err
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	}
	return root.GenPowerShellCompletionWithDesc(out)
}
