package proxy

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestProxyOptions maps command lines to options. Scripts prove what the commands do.
func TestProxyOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{New(f, cmdtest.Take[Options](options))}
	}, []cmdtest.Row{
		{Name: "a configured server behind a proxy", Args: []string{"proxy", "zwave", "--log", "f"}, Want: Options{server: "zwave", log: "f"}},
		{
			Name: "a command behind a proxy, its flags untouched",
			Args: []string{"proxy", "--max-message", "1GiB", "--", "npx", "-y", "x", "--log"},
			Want: Options{command: []string{"npx", "-y", "x", "--log"}, maxMessage: "1GiB"},
		},
	}...)
}
