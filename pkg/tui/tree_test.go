package tui

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// TestTreeOrder: failed servers come first, then those that start; where not all rows have room, groups are closed,
// except those that the user opens.
func TestTreeOrder(t *testing.T) {
	var tools []*exec.Tool
	for _, name := range []string{"one", "four"} {
		for i := range 30 {
			tools = append(tools, serverTool(t, name, fmt.Sprintf("tool%02d", i)))
		}
	}
	d := drive(t, []string{"one", "two", "three", "four"}, tools...)
	d.send(tea.WindowSizeMsg{Width: 100, Height: 24})
	head := func(name string) wire.Head { return wire.Head{At: noon(), Server: name} }
	d.send(feed.Msg{Events: []exec.Event{
		servers.Connected{Head: head("one")},
		servers.Connected{Head: head("four")},
		servers.ConnectFailed{Head: head("three"), Err: errors.New("refused")},
	}})
	d.shows("2 ok · 1 ✗")
	var names []string
	for _, r := range d.m.tree.rows {
		names = append(names, r.group.name())
	}
	if want := []string{"three", "two", "one", "four"}; !slices.Equal(names, want) {
		t.Errorf("the rows are %q, want %q", names, want)
	}
	d.m.goToServer(d.m.servers.server("one"))
	d.press("right")
	d.m.tree.renew(10)
	if at := d.m.tree.rows; len(at) != 34 || d.m.tree.selected().group.name() != "one" {
		t.Errorf("an opened group does not stay open: %d rows", len(at))
	}
}

// TestTreeWidth: the tree is as wide as the rows that it shows.
func TestTreeWidth(t *testing.T) {
	const long = "delete_everything_in_this_folder"
	d := drive(t, []string{"one", "two"}, serverTool(t, "one", long), serverTool(t, "two", "tool"))
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.shows(long)
	width := func() int { return d.m.layout().panes[areaTree].w }
	if got := width(); got != mostTree {
		t.Errorf("with a long name the tree has %d columns, want %d", got, mostTree)
	}
	d.press("-")
	if got := width(); got != leastTree {
		t.Errorf("with closed groups the tree has %d columns, want %d", got, leastTree)
	}
}

// TestRevealServer: the palette opens the group of a server, and where only one pane is visible, ! shows the page.
func TestRevealServer(t *testing.T) {
	d := drive(t, []string{"one", "two"}, serverTool(t, "one", "alpha"), serverTool(t, "two", "beta"))
	d.press("-", "ctrl+k", "text:two", "enter")
	d.shows("beta", "server two")
	d.send(tea.WindowSizeMsg{Width: 50, Height: 16}, feed.Msg{Events: []exec.Event{
		servers.ConnectFailed{Head: wire.Head{At: noon(), Server: "one"}, Err: errors.New("refused")},
	}})
	d.press("!")
	d.shows("server one", "refused")
	d.press("esc")
	d.shows("✗ one", "beta")
}
