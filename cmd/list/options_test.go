package list

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestListOptions maps command lines to options. Scripts prove what the commands do.
func TestListOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{
			New(f, cmdtest.Take[Options](options)), NewShow(f, cmdtest.Take[showOptions](options)),
		}
	}, []cmdtest.Row{
		{Name: "everything is listed", Args: []string{"list"}, Want: Options{patterns: []string{}}},
		{
			Name: "patterns",
			Args: []string{"list", "zwave__*", "light", "--json", "--strict"},
			Want: Options{patterns: []string{"zwave__*", "light"}, json: true, strict: true},
		},
		{
			Name: "a server that is listed",
			Args: []string{"list", "--", "node", "x.js"},
			Want: Options{patterns: []string{}, server: []string{"node", "x.js"}},
		},
		{Name: "a tool is shown", Args: []string{"show", "t"}, Want: showOptions{tool: "t"}},
		{
			Name: "a server's tool is shown",
			Args: []string{"show", "t", "--json", "--", "node", "x.js"},
			Want: showOptions{tool: "t", json: true, server: []string{"node", "x.js"}},
		},
	}...)
}
