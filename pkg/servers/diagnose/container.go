package diagnose

import (
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
)

// inContainer returns the cause of a failed start as the command line of its container completes it: the container may
// leave the server's stdin closed, and passes on no variables unless it is told to. c is what the output shows, nil for
// nothing.
func inContainer(c *cause.Cause, run cmdline.DockerRun) *cause.Cause {
	switch {
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
				"pass variables from env into the container, in args of this server, after " + run.Verb + ": -e " +
					strings.Join(lost, " -e "),
			}, c.Fixes...)
			return &completed
		}
	}
	return c
}
