// Package build identifies this version of toolx.
package build

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// The linker sets these for releases and for make build: the version, the commit's hash, and its time (RFC 3339, UTC).
var version, commit, date string

// Info describes this build, as "toolx version --json" prints it. Unknown fields are empty.
type Info struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // of the commit, not of the build, so that builds are reproducible
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// This returns the values that the linker set, else those that the Go toolchain recorded. Without either, the version
// is "devel".
func This() Info {
	b := Info{
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

// Version returns toolx's version: from the linker, else from the Go toolchain, else "devel".
func Version() string { return This().Version }

// Line returns what "toolx version" and "toolx --version" print.
func Line() string {
	b := This()
	return fmt.Sprintf("toolx %s %s %s/%s", b.Version, b.Go, b.OS, b.Arch)
}
