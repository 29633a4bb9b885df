package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases (make build); see Version.
var version string

// Version is toolx's version: the linker's, else what the Go toolchain recorded, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func newVersionCommand(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolx version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(app.Console.Out, versionLine())
			return err
		},
	}
}

// versionLine returns what "toolx version" and "toolx --version" print.
func versionLine() string {
	return fmt.Sprintf("toolx %s %s %s/%s", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
