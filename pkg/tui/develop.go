package tui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// Sources are the files that a server is made from; *reload.Watcher implements it.
type Sources interface {
	// Wait returns the paths of the files that have changed, once nothing has changed for a while.
	Wait(ctx context.Context) ([]string, error)
	Close() error
}

// development is a server whose files are watched: it is restarted when one is saved.
type development struct {
	end     context.CancelFunc
	repeats bool         // the last call is made again after each restart
	tools   []*exec.Tool // before the restart
	changes []string     // of the tools by the last restart that changed any
	changed time.Time    // when that was
}

// developers watches the files of servers that are being developed.
type developers struct {
	*shared
	servers *supervisor
	calls   *calls
}

// key returns the key that watches a server's files; pressed again it also repeats the last call, and then stops
// watching. s may be nil.
func (ds *developers) key(s *server) pane.Binding {
	binding := pane.Binding{Keys: []string{"w"}, Help: "restart on save", Do: func() tea.Cmd {
		return ds.turn(s)
	}}
	switch {
	case ds.options.Sources == nil:
		binding.Off = "files are not watched here"
	case s == nil:
		binding.Off = "no server is selected"
	case s.held != nil:
		binding.Off = "it is shared with other commands"
	case s.development == nil:
	case !s.development.repeats:
		binding.Help = "also repeat the last call"
	default:
		binding.Help = "stop restarting"
	}
	return binding
}

// turn does what the key says.
func (ds *developers) turn(s *server) tea.Cmd {
	name := titleOf(s.name)
	switch d := s.development; {
	case d == nil:
		ds.notify(name+" restarts on save; w again also repeats the last call", false)
		return ds.begin(s)
	case !d.repeats:
		d.repeats = true
		ds.notify(name+" restarts on save and repeats the last call", false)
	default:
		d.end()
		s.development = nil
		ds.notify(name+" no longer restarts on save", false)
	}
	return nil
}

// begin watches the files of a server.
func (ds *developers) begin(s *server) tea.Cmd {
	sources, err := ds.options.Sources(s.name)
	if err != nil {
		return ds.fail(err)
	}
	ctx, cancel := context.WithCancel(ds.ctx)
	s.development = &development{end: cancel}
	context.AfterFunc(ctx, func() { _ = sources.Close() })
	return ds.wait(ctx, s, sources)
}

// wait returns the command that waits for changes and then restarts the server, again and again until ctx ends.
func (ds *developers) wait(ctx context.Context, s *server, sources Sources) tea.Cmd {
	type change struct {
		paths []string
		err   error
	}
	wait := func() change {
		paths, err := sources.Wait(ctx)
		return change{paths, err}
	}
	return after(wait, func(c change) tea.Cmd {
		switch {
		case ctx.Err() != nil:
			return nil
		case c.err != nil:
			s.development.end()
			s.development = nil
			return ds.fail(c.err)
		}
		ds.notify(strings.Join(words.Texts(c.paths, filepath.Base), ", ")+" changed", false)
		if tools := ds.toolsOf(s); len(tools) > 0 { // else the last start has failed
			s.development.tools = tools
		}
		return ds.servers.restartThen(s, func(err error) tea.Cmd {
			if ctx.Err() != nil {
				return nil
			}
			return tea.Batch(ds.restarted(s, err), ds.wait(ctx, s, sources))
		})
	})
}

// toolsOf returns the tools of a server.
func (ds *developers) toolsOf(s *server) []*exec.Tool {
	var tools []*exec.Tool
	for _, tool := range ds.options.Executor.Registry.All() {
		if tool.Server == s.name {
			tools = append(tools, tool)
		}
	}
	return tools
}

// restarted notes what has changed, runs the doctor, and repeats the last call if the user wants that. A server that
// did not start is examined because it failed.
func (ds *developers) restarted(s *server, err error) tea.Cmd {
	if err != nil {
		return nil
	}
	d := s.development
	if changes := render.ToolChanges(d.tools, ds.toolsOf(s)); len(changes) > 0 {
		d.changes, d.changed = changes, ds.now()
		detailed := func(line string) bool { return strings.HasPrefix(line, " ") }
		ds.notify("restarted: "+strings.Join(slices.DeleteFunc(slices.Clone(changes), detailed), ", "), false)
	}
	var commands []tea.Cmd
	if ds.options.Examine != nil && !s.diagnosis.running() {
		commands = append(commands, ds.servers.examine(s))
	}
	if last := ds.last(s); d.repeats && last != nil {
		commands = append(commands, ds.repeat(last))
	}
	return tea.Batch(commands...)
}

// last returns the last call of a server's tool, nil where there is none.
func (ds *developers) last(s *server) *call {
	ofServer := ds.calls.filter(func(c *call) bool { return c.item.Server == s.name })
	if len(ofServer) == 0 {
		return nil
	}
	return ofServer[len(ofServer)-1]
}

// repeat makes a call again, unless it needs confirmation.
func (ds *developers) repeat(last *call) tea.Cmd {
	if confirmed(last.item) != "" {
		ds.notify(render.Safe(last.name)+" is not repeated, because it needs confirmation", true)
		return nil
	}
	return ds.calls.start(last.item, last.arguments, last.filled)
}
