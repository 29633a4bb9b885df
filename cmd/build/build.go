// Package build says which version of toolx this is.
package build

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// The linker sets these for releases and for make build: the version, the commit as git names it, and when that was
// made (RFC 3339, UTC). See build.
var version, commit, date string

// Info is what toolx knows of its own making, as "toolx version --json" prints it. What is unknown is empty.
type Info struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // of the commit, not of the build, so that two builds are equal
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// This returns what the linker has set, else what the Go toolchain recorded; the version is "devel" at last.
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

// Version is toolx's version: the linker's, else what the Go toolchain recorded, else "devel".
func Version() string { return This().Version }

// Line returns what "toolx version" and "toolx --version" print.
func Line() string {
	b := This()
	return fmt.Sprintf("toolx %s %s %s/%s", b.Version, b.Go, b.OS, b.Arch)
}
