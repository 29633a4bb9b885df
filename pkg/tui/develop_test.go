package tui

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// savedFiles are sources whose changes a test tells.
type savedFiles struct {
	saved  chan string
	closed chan struct{}
}

func (f *savedFiles) Wait(ctx context.Context) ([]string, error) {
	select {
	case path := <-f.saved:
		if path == "" {
			return nil, errors.New("the disk has gone")
		}
		return []string{path}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *savedFiles) Close() error { close(f.closed); return nil }

// restarted is a pool whose server, once it was stopped, is opened by a function, which can be changed.
type restarted struct {
	openPool
	stopped atomic.Bool
	open    atomic.Value // func() error
}

func (p *restarted) Stop(context.Context, string) { p.stopped.Store(true) }

func (p *restarted) Open(context.Context, string) (*protocol.Session, error) {
	if open, ok := p.open.Load().(func() error); ok && p.stopped.CompareAndSwap(true, false) {
		return nil, open()
	}
	return nil, nil // it runs: whoever asks wants its session
}

// TestDevelop saves a file of a server again and again: the server is restarted, what changed in its tools is shown,
// the doctor looks, and the last call is repeated where that is wanted.
func TestDevelop(t *testing.T) {
	var calls, examined atomic.Int32
	tool := func(definition string) *exec.Tool {
		does := func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
			calls.Add(1)
			return says("it")(ctx, r)
		}
		made := newTool(t, definition, does)
		made.Server, made.Name = "zwave", "zwave__"+made.Plain
		return made
	}
	get := tool(`{"name":"get","description":"Gets it.","inputSchema":{"type":"object"}}`)
	wipe := tool(`{"name":"wipe","annotations":{"destructiveHint":true},"inputSchema":{"type":"object"}}`)
	d := drive(t, []string{"zwave"}, get, wipe)
	files := &savedFiles{make(chan string), make(chan struct{})}
	d.m.options.Sources = func(string) (Sources, error) { return files, nil }
	d.m.options.Examine = func(context.Context, string) (*doctor.Report, error) {
		examined.Add(1)
		return &doctor.Report{}, nil
	}
	connected := feed.Msg{Events: []exec.Event{servers.Connected{Head: wire.Head{At: noon(), Server: "zwave"}}}}
	zwave := d.m.servers.list[0]
	pool := new(restarted)
	d.m.options.Pool = pool
	d.send(tea.WindowSizeMsg{Width: 120, Height: 30}, connected)
	// save saves a file, after which the server has these tools, or does not start; it returns after the restart.
	save := func(fails error, tools ...*exec.Tool) {
		t.Helper()
		opened := false
		pool.open.Store(func() error {
			if fails == nil {
				d.m.options.Executor.Registry.ReplaceServer("zwave", tools...)
			}
			return fails
		})
		then := d.m.servers.changedTools
		d.m.servers.changedTools = func() { then(); opened = true }
		files.saved <- "/src/server.js"
		d.until("the restart", func() bool { return opened })
		d.m.servers.changedTools = then
		if fails == nil {
			d.send(connected)
		}
		d.until("the end of what follows", func() bool {
			return !zwave.diagnosis.running() && len(d.m.calls.running()) == 0
		})
	}

	d.press("w")
	d.shows("server zwave restarts on save; w again also repeats the last call")
	d.shows("development   restarts on save", "w also repeat the last call")
	changed := tool(`{"name":"get","description":"Gets it quickly.",
"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)
	save(nil, changed, tool(`{"name":"put","inputSchema":{"type":"object"}}`))
	d.shows("changes at 12:00:00", "~ get", "cosmetic    /description: Gets [-it.-]{+it quickly.+}",
		"compatible  /inputSchema/properties/n: the parameter n is new", "+ put", "- wipe")
	if examined.Load() != 1 || calls.Load() != 0 {
		t.Errorf("%d examinations and %d calls, want 1 and none", examined.Load(), calls.Load())
	}
	save(errors.New("syntax error"))
	d.shows("syntax error")
	save(nil, get, wipe) // compared with the last tools that there were
	d.shows("- put", "+ wipe", "development   restarts on save")

	d.press("/", "text:get", "ctrl+r")
	d.until("the result", func() bool { return len(d.m.calls.list) == 1 && len(d.m.calls.running()) == 0 })
	d.press("1", "g", "w")
	d.shows("server zwave restarts on save and repeats the last call", "restarts on save, repeats the last call")
	save(nil, get, wipe)
	if calls.Load() != 2 {
		t.Errorf("%d calls, want the first and its repetition", calls.Load())
	}
	d.press("/", "text:wipe", "ctrl+r", "y")
	d.until("the result", func() bool { return len(d.m.calls.list) == 3 && len(d.m.calls.running()) == 0 })
	d.press("1", "g")
	save(nil, get, wipe)
	d.shows("zwave__wipe is not repeated")

	d.press("w")
	<-files.closed
	d.shows("server zwave no longer restarts on save", "w restart on save")
	files.closed = make(chan struct{})
	d.press("w")
	files.saved <- ""
	d.until("the end of the watch", func() bool { return zwave.development == nil })
	d.shows("the disk has gone")
}

// On a tool, in the tree or on its page, and on a prompt, w is for the server; u says why there is nothing to subscribe
// to.
func TestServerKeysOnATool(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		keys         []string
	}{
		{"a tool in the tree", "select a resource of the server", []string{"/", "text:echo", "down", "esc"}},
		{"its page", "select a resource of the server", []string{"/", "text:echo", "enter", "esc"}},
		{"a prompt's page", "select a resource of the server", []string{"/", "text:greet", "enter", "esc"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := driveFake(t, "features")
			d.m.options.Sources = func(string) (Sources, error) {
				return &savedFiles{make(chan string), make(chan struct{})}, nil
			}
			d.press(test.keys...)
			if d.m.page.item.none() {
				d.press("down")
			}
			d.press("u")
			d.shows("subscribe to updates: " + test.reason)
			d.press("w")
			if d.m.servers.list[0].development == nil {
				t.Errorf("w does not watch the server's files:\n%s", d.frame())
			}
		})
	}
}
