package recording

import (
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Causes finds out why servers of a recording ended, as its events pass. The zero value is ready.
type Causes struct {
	output map[wire.Head]*lastOutput // of servers
}

// lastOutput is what a server wrote last, and how it was started.
type lastOutput struct {
	started        wire.ProcessStarted
	stdout, stderr []string
}

// The bounds of what is kept: servers, the lines of each kind of a server, and bytes of a line.
const (
	maxServers  = 100
	maxLast     = 200
	maxLastLine = 4 << 10
)

// Take takes an event. If a server ended that was not asked to, it returns the cause, nil if that is unknown.
func (c *Causes) Take(event wire.Event) *cause.Cause {
	switch e := event.(type) {
	case wire.PollutedLine:
		keep(&c.last(e.Source()).stdout, string(e.Text))
	case wire.StderrLine:
		keep(&c.last(e.Source()).stderr, e.Text)
	case wire.ProcessStarted:
		*c.last(e.Source()) = lastOutput{started: e}
	case wire.ProcessExited:
		if e.Asked {
			return nil
		}
		written := c.last(e.Source())
		return cause.Diagnose(cause.Output{
			Stderr: written.stderr, Stdout: written.stdout, Ended: e.How, Done: e.How == "exit status 0",
			Args: written.started.Command, Folder: written.started.Cwd,
		})
	}
	return nil
}

// last returns what a server wrote last.
func (c *Causes) last(source wire.Head) *lastOutput {
	if c.output == nil {
		c.output = make(map[wire.Head]*lastOutput)
	}
	output := c.output[source]
	if output == nil {
		output = new(lastOutput)
		if len(c.output) < maxServers {
			c.output[source] = output
		}
	}
	return output
}

func keep(lines *[]string, line string) {
	if *lines = append(*lines, strings.Clone(words.Head(line, maxLastLine))); len(*lines) > maxLast {
		*lines = slices.Delete(*lines, 0, maxLast/2)
	}
}
