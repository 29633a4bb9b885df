package list

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestListingOptions maps command lines to options. Scripts prove what the commands do.
func TestListingOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{NewListing(f, Listing{Verb: []string{"things", "list"}}, "", func(
			_ context.Context, o listingOptions, _ Listing,
		) error {
			*options = cmdtest.Bare(o)
			return nil
		})}
	}, []cmdtest.Row{
		{Args: []string{"list", "a*", "--strict"}, Want: listingOptions{patterns: []string{"a*"}, strict: true}},
		{Args: []string{"list", "["}},
	}...)
}
