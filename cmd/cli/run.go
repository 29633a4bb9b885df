package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// RunFunc runs a command with its options. Each constructor of a command takes one, so that a test can look at the
// options.
type RunFunc[O any] func(context.Context, O) error

// Run returns the function that cobra calls for a command: it checks the options and calls run with them.
func Run[O any](o *O, run RunFunc[O], checks ...func() error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
		return run(cmd.Context(), *o)
	}
}
