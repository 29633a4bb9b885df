package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// versionOptions say how the version is printed.
type versionOptions struct {
	json bool
}

func newVersionCommand(app *App, run RunFunc[versionOptions]) *cobra.Command {
	var o versionOptions
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolx version\n  toolx version --json",
		Args:    cli.NoArguments,
		RunE:    runs(app, &o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print version, commit, date, Go and platform as JSON")
	return cmd
}

func runVersion(_ context.Context, app *App, o versionOptions) error {
	if !o.json {
		_, err := fmt.Fprintln(app.out.Console.Out, build.Line())
		return err
	}
	text, err := rawjson.Marshal(build.This())
	if err != nil {
		return err
	}
	return render.Document(app.out.Console.Out, text, app.out.OutScreen())
}
