package serve

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestServeOptions maps command lines to options. Scripts prove what the commands do.
func TestServeOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{New(f, cmdtest.Take[Options](options))}
	}, []cmdtest.Row{
		{Name: "the config that is found is served", Args: []string{"serve"}, Want: Options{}},
		{Name: "a file is served", Args: []string{"serve", "a.yaml"}, Want: Options{file: "a.yaml"}},
	}...)
}
