package tui

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
	"toolx/cmd/person"
)

// TestTuiOptions maps command lines to options. Scripts prove what the commands do.
func TestTuiOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{New(f, cmdtest.Take[Options](options))}
	}, []cmdtest.Row{
		{
			Name: "the terminal interface, with answers for servers",
			Args: []string{"tui", "a", "--elicit", "accept", "--sampling", "ask", "--root", "d", "--no-browser"},
			Want: Options{names: []string{"a"}, Answers: person.AnswerFlags{
				Elicit: "accept", Sampling: "ask", Roots: []string{"d"}, NoBrowser: true,
			}},
		},
	}...)
}
