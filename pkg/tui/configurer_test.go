package tui

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// someConfig is a config whose servers a test sets.
type someConfig struct {
	list []*config.Server
	err  error
}

func (c *someConfig) Entry(string) (string, int, error) {
	return "", 0, errors.New("there is no entry")
}

func (c *someConfig) Add(_ context.Context, typed string) (string, error) {
	c.list = append(c.list, &config.Server{Name: typed, Command: typed})
	return typed, c.err
}

func (c *someConfig) Reload(context.Context, string) ([]*config.Server, error) { return c.list, c.err }

func (c *someConfig) Found() []FoundServers {
	return []FoundServers{{ID: "cursor", Client: "Cursor", Names: []string{"three", "four\x1b[2J"}}}
}

func (c *someConfig) Import(_ context.Context, client string) error {
	for _, name := range c.Found()[0].Names[:1] {
		c.list = append(c.list, &config.Server{Name: name, Command: client})
	}
	return c.err
}

// TestAddServer begins without a server, adds two, and takes a config in which others are.
func TestAddServer(t *testing.T) {
	d := drive(t, nil)
	from := new(someConfig)
	d.m.options.Entries = from
	d.shows("No server is configured yet.", "a add a server")
	d.run(d.m.Init())
	d.until("the palette", func() bool { return len(d.m.palette.all) == 1 })
	d.shows("command or address", "Cursor · three, four", "2 servers")
	d.press("text:one q?", "esc")
	if len(from.list) != 0 || d.m.palette.open {
		t.Fatal("esc adds a server")
	}
	d.press("a")
	d.shows("add one q?")
	d.press("ctrl+u", "esc")
	add := func(name string) {
		t.Helper()
		d.press("a")
		d.send(tea.PasteMsg{Content: name})
		d.shows("add " + name)
		d.press("enter")
		d.until(name, func() bool { return d.m.servers.server(name) != nil })
	}
	add("one")
	d.send(feed.Msg{Events: []exec.Event{servers.Connected{Head: wire.Head{At: noon(), Server: "one"}}}})
	add("two")
	one := d.m.servers.server("one")
	d.shows("▾ one", "⠋ two", "server two")
	if one.status != statusReady {
		t.Error("a server whose entry is the same is started anew")
	}

	d.press("1", "g", "e")
	d.shows("there is no entry")
	from.list = []*config.Server{{Name: "two", Command: "other"}, {Name: "three", Command: "three"}}
	d.run(d.m.config.reload("three"))
	d.until("the config", func() bool { return d.m.servers.server("three") != nil })
	if d.m.servers.server("one") != nil || d.m.tree.groupOf("one") != nil {
		t.Error("a server that the config has no more is shown")
	}
	if two := d.m.servers.server("two"); two.config.Command != "other" || two.status != statusStarting {
		t.Errorf("a server whose entry has changed is %+v", two)
	}
	from.err = errors.New("line 3 is wrong")
	d.run(d.m.config.reload("three"))
	d.until("the error", func() bool { return d.m.note.text == "line 3 is wrong" })
	d.shows("line 3 is wrong", "three")
}

// TestFirstServer: without servers, the palette asks for one at once; those of other clients are below.
func TestFirstServer(t *testing.T) {
	d := drive(t, nil)
	from := new(someConfig)
	d.m.options.Entries = from
	d.run(d.m.Init())
	d.until("the servers of a client", func() bool { return len(d.m.palette.found) == 1 })
	from.err = errors.New("the file is locked")
	d.press("text:fresh", "enter")
	d.until("the error", func() bool { return d.m.note.text == "the file is locked" })
	d.shows("the file is locked", "add fresh")
	from.err = nil
	d.press("ctrl+u", "text:thr", "down", "enter")
	d.until("the imported server", func() bool { return d.m.servers.server("three") != nil })
	if d.m.palette.open || d.m.page.server != d.m.servers.server("three") {
		t.Error("the imported server is not shown")
	}
}
