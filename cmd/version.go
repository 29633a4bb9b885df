package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// versionOptions say how the version is printed.
type versionOptions struct {
	Out *streams.Streams

	json bool
}

func newVersionCommand(f *factory.Factory, run cli.RunFunc[versionOptions]) *cobra.Command {
	o := versionOptions{Out: f.Out}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolx version\n  toolx version --json",
		Args:    cli.NoArguments,
		RunE:    cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print version, commit, date, Go and platform as JSON")
	return cmd
}

func runVersion(_ context.Context, o versionOptions) error {
	if !o.json {
		_, err := fmt.Fprintln(o.Out.Console.Out, build.Line())
		return err
	}
	text, err := rawjson.Marshal(build.This())
	if err != nil {
		return err
	}
	return render.Document(o.Out.Console.Out, text, o.Out.OutScreen())
}
