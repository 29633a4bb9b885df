package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

// RunFunc runs a verb with its options. Each constructor of a verb takes one, so that a test can look at the options.
type RunFunc[O any] func(context.Context, *App, O) error

// runs returns what cobra runs for a verb: the checks of its options, then run with the options.
func runs[O any](app *App, o *O, run RunFunc[O], checks ...func() error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
		return run(cmd.Context(), app, *o)
	}
}
