package watch

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestWatchOptions maps command lines to options. Scripts prove what the commands do.
func TestWatchOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{
			New(f, cmdtest.Take[Options](options)), NewPing(f, cmdtest.Take[pingOptions](options)),
		}
	}, []cmdtest.Row{
		{Args: []string{"watch", "a", "--level", "debug", "--resource", "x:y", "--count", "2"}, Want: Options{
			names: []string{"a"}, level: "debug", Resources: []string{"x:y"}, count: 2,
		}},
		{Args: []string{"ping", "a", "b", "--json"}, Want: pingOptions{names: []string{"a", "b"}, json: true}},
		{Args: []string{"ping", "a", "--", "s"}},
	}...)
}
