package evidence

import (
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// Where is the place of a finding. Unknown fields are empty.
type Where struct {
	Run     string  `json:"run,omitempty" mask:"-"`   // "clean", "probing", or "raw"
	Line    int     `json:"line,omitempty"`           // of stdout, from 1
	Byte    *int64  `json:"byte,omitempty"`           // in that line, from 0
	Phase   string  `json:"phase,omitempty" mask:"-"` // see wire.Phase
	MS      float64 `json:"ms,omitempty"`             // since the process was started
	Method  string  `json:"method,omitempty"`         // of the request
	Tool    string  `json:"tool,omitempty"`           // the plain name
	Pointer string  `json:"pointer,omitempty"`        // JSON pointer into the result of Method, or into Tool
	File    string  `json:"file,omitempty" mask:"-"`  // of the config: "file:line:column"
	Key     string  `json:"key,omitempty" mask:"-"`   // in the config: "servers.zwave.env.TOKEN"
}

// Place returns the place of a value of the server's entry in the config.
func (e *Evidence) Place(steps ...any) *Where {
	key, origin := e.Server.Place(steps...)
	where := &Where{Key: key}
	if origin.File != "" {
		where.File = origin.String()
	}
	return where
}

// Place returns the place of a request's response.
func (x *Exchange) Place(r *Run) *Where {
	return &Where{Run: r.Name, Line: x.Line, Method: x.Method, MS: r.Since(x.At.Add(x.Took))}
}

// At returns a place in the run by time only.
func (r *Run) At(at time.Time) *Where { return &Where{Run: r.Name, MS: r.Since(at)} }

// Phased returns a place in a phase of the run, at a time since the start of its process.
func (r *Run) Phased(phase wire.Phase, lived time.Duration) *Where {
	return &Where{Run: r.Name, Phase: string(phase), MS: exec.Milliseconds(lived)}
}

// OnLine returns the place of a line of the run's stdout.
func (r *Run) OnLine(line wire.PollutedLine) *Where {
	return &Where{Run: r.Name, Phase: string(line.Phase), MS: r.Since(line.At), Line: line.Line}
}
