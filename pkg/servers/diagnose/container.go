package diagnose

import (
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// inContainer returns the cause of a failed start as the command line of a container completes it: it may leave the
// server's stdin closed, and does not pass on variables by itself. c is what the output shows, nil for nothing; it is
// returned as it is for any other server.
func inContainer(c *cause.Cause, launch *config.Resolved) *cause.Cause {
	run, ok := cmdline.ParseDocker(cmdline.Unwrapped(launch.Command, launch.Args))
	switch {
	case !ok:
	case !run.Interactive && (c == nil || c.Kind == cause.Idle):
		return &cause.Cause{
			Kind: cause.Argument, What: run.Program + " " + run.Verb + " has no -i: the server's stdin is closed",
			Fixes: []string{"add to args of this server, after " + run.Verb + ": -i"},
		}
	case c != nil && c.Kind == cause.Variable:
		lost := slices.Concat(c.Variables...)
		lost = slices.DeleteFunc(lost, run.Passes)
		if len(lost) > 0 {
			completed := *c
			completed.Fixes = append([]string{
				"pass into the container what env has, in args of this server, after " + run.Verb + ": -e " +
					strings.Join(lost, " -e "),
			}, c.Fixes...)
			return &completed
		}
	}
	return c
}
