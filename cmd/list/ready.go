package list

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// readyList prints the tools of each server on a terminal as soon as the server is ready, so that a slow server
// does not delay the others (MCP-5).
type readyList struct {
	box     *toolset.Set
	options Options
	filter  toolset.Filter

	ready         chan string
	stop, stopped chan struct{}
	unsubscribe   func()
	end           func() // stops printing; it may be called again

	printed []string // servers; of the goroutine until it has stopped
	err     error
}

// printReady starts printing; end must be called.
func printReady(b *toolset.Set, o Options, filter toolset.Filter) *readyList {
	l := &readyList{
		box: b, options: o, filter: filter, ready: make(chan string, len(b.Pool.Names())),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	l.unsubscribe = b.Opener.Bus.Subscribe(func(event exec.Event) {
		connected, ok := event.(servers.Connected)
		if !ok || !b.Out.Console.OutTTY || o.json || o.compact {
			return
		}
		select {
		case l.ready <- connected.Server:
		default: // it has restarted
		}
	})
	l.end = sync.OnceFunc(func() {
		l.unsubscribe()
		close(l.stop)
		<-l.stopped
	})
	go l.run()
	return l
}

func (l *readyList) run() {
	defer close(l.stopped)
	for {
		select {
		case server := <-l.ready:
			l.print(server)
		case <-l.stop:
			for len(l.ready) > 0 {
				l.print(<-l.ready)
			}
			return
		}
	}
}

// print prints the tools of a server; a server without tools may list some a moment later.
func (l *readyList) print(server string) {
	groups := groupsOf(l.box, []servers.Opened{{Server: server}}, nil, l.options, l.filter)
	groups = slices.DeleteFunc(groups, func(group render.Group) bool {
		return group.BuiltIn || len(group.Tools) == 0 || slices.Contains(l.printed, group.Server)
	})
	if l.err != nil || !slices.ContainsFunc(groups, func(group render.Group) bool { return group.Server == server }) {
		return
	}
	release := l.box.Out.Live.Hold()
	defer release()
	l.err = l.write(groups)
}

// write prints groups below the earlier ones.
func (l *readyList) write(groups []render.Group) error {
	out := l.box.Out.Console.Out
	if len(l.printed) > 0 && len(groups) > 0 {
		fmt.Fprintln(out)
	}
	for _, group := range groups {
		_, _ = toolset.WorkingTools(l.box.Out, group.Tools) // reports broken tools
		l.printed = append(l.printed, group.Server)
	}
	return render.List(out, groups, l.box.Out.OutScreen())
}

// finish prints what has not been printed, in the order of the config.
func (l *readyList) finish(groups []render.Group) error {
	out, screen := l.box.Out.Console.Out, l.box.Out.OutScreen()
	if l.options.json || l.options.compact {
		for _, group := range groups {
			_, _ = toolset.WorkingTools(l.box.Out, group.Tools)
		}
		if l.options.json {
			return render.ListJSON(out, groups, screen)
		}
		return render.Compact(out, groups)
	}
	return errors.Join(l.err, l.write(slices.DeleteFunc(groups, func(group render.Group) bool {
		// failed servers are on stderr already; the built-in tools have no server, like those of the config
		return group.Err != nil && group.Listed.IsZero() || !group.BuiltIn && slices.Contains(l.printed, group.Server)
	})))
}
