package cmd

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// The linker sets these for releases and for make build: the version, the commit as git names it, and when that was
// made (RFC 3339, UTC). See build.
var version, commit, date string

// build is what toolx knows of its own making, as "toolx version --json" prints it. What is unknown is empty.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // of the commit, not of the build, so that two builds are equal
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// thisBuild returns what the linker has set, else what the Go toolchain recorded; the version is "devel" at last.
func thisBuild() build {
	b := build{
		Version: version, Commit: commit, Date: date,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "(devel)" {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	if ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, setting.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, setting.Value)
			}
		}
	}
	b.Version = cmp.Or(b.Version, "devel")
	return b
}

// Version is toolx's version: the linker's, else what the Go toolchain recorded, else "devel".
func Version() string { return thisBuild().Version }

// versionOptions say how the version is printed.
type versionOptions struct {
	json bool
}

func newVersionCommand(app *App, run runFunc[versionOptions]) *cobra.Command {
	var o versionOptions
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolx version\n  toolx version --json",
		Args:    noArguments,
		RunE:    runs(app, &o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print version, commit, date, Go and platform as JSON")
	return cmd
}

func runVersion(_ context.Context, app *App, o versionOptions) error {
	if !o.json {
		_, err := fmt.Fprintln(app.Console.Out, versionLine())
		return err
	}
	text, err := rawjson.Marshal(thisBuild())
	if err != nil {
		return err
	}
	return render.Document(app.Console.Out, text, app.outScreen())
}

// versionLine returns what "toolx version" and "toolx --version" print.
func versionLine() string {
	b := thisBuild()
	return fmt.Sprintf("toolx %s %s %s/%s", b.Version, b.Go, b.OS, b.Arch)
}
