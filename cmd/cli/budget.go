package cli

import (
	"github.com/spf13/pflag"

	"toolx/pkg/contract"
)

// BudgetVar declares the flags that limit what tools cost a model.
func BudgetVar(flags *pflag.FlagSet, b *contract.Budget) {
	flags.IntVar(&b.Tokens, "max-tokens", 0, "fail if the tools of all servers have more than `N` tokens")
	flags.IntVar(&b.ServerTokens, "max-server-tokens", 0, "fail if the tools of a server have more than `N` tokens")
	flags.IntVar(&b.ToolTokens, "max-tool-tokens", 0, "fail if a tool has more than `N` tokens")
	flags.IntVar(&b.Tools, "max-tools", 0, "fail if all servers together have more than `N` tools")
}
