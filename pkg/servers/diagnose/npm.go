package diagnose

import (
	"maps"
	"path"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// inPackage returns the cause of a program that was not found, if the launcher's npm package should contain it; else c.
func inPackage(c *cause.Cause, launcher cmdline.Launcher, launch *config.Resolved) *cause.Cause {
	found, _ := launcher.Installed(launch.Cwd, launch.Env)
	for name, file := range found.Programs {
		name = path.Base(name) // npm leaves a scope out
		if c.What == name+" is not installed" && cmdline.RealPath(file, found.Folder) == "" {
			return &cause.Cause{
				Kind: cause.Package, What: "the package is broken: its program is missing: " + file, Line: c.Line,
				Fixes: []string{
					"use another version of the package: this one was published without that file",
					"report it to the package's author",
				},
			}
		}
	}
	return c
}

// withOtherProgram adds a fix to the cause of a program that may not be a server: its npm package may have another one.
func withOtherProgram(c *cause.Cause, launch *config.Resolved) *cause.Cause {
	other := otherProgram(launch)
	if other == "" {
		return c
	}
	completed := *c
	fix := []string{"its package has another program that may be the server: " + other}
	if strings.Contains(cmdline.BaseName(launch.Command), "mcp") {
		completed.Fixes = slices.Concat(c.Fixes, fix)
	} else {
		completed.Fixes = slices.Concat(fix, c.Fixes)
	}
	return &completed
}

// otherProgram returns the program of the server's package that is an MCP server by its name; empty if there is none,
// or if it is the one that was started.
func otherProgram(launch *config.Resolved) string {
	script := cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env)
	if script == "" {
		return ""
	}
	found, _ := cmdline.PackageAbove(script)
	for _, name := range slices.Sorted(maps.Keys(found.Programs)) {
		file := cmdline.RealPath(found.Programs[name], found.Folder)
		name = path.Base(name) // npm leaves a scope out
		runs := name == cmdline.BaseName(launch.Command) || slices.Contains(launch.Args, name) || file == script
		if !runs && strings.Contains(name, "mcp") && !helper().MatchString(name) {
			return "npx -y --package=" + found.Name + " " + name
		}
	}
	return ""
}

// helper matches names of programs that accompany a server: they set it up, or inspect it.
var helper = expression(`(?:^|[-_.])(?:doctor|(?:un)?install(?:er)?|setup|init|config(?:ure)?|cli|client|login|` +
	`auth|inspect(?:or)?|build|update|upgrade|migrate|test|debug|hooks?)(?:$|[-_.])`)
