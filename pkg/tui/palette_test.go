package tui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
	"toolx/pkg/tui/pane"
)

// listed returns what the palette lists.
func (d *driver) listed() string {
	var list []string
	for _, e := range d.m.palette.found {
		name := strings.TrimSpace(e.of + " " + e.name)
		switch {
		case e.again != nil:
			name = "again " + name
		case e.verb == "do it":
			name = ansi.Strip(e.sign) + " " + name
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// TestPalette: names come before servers, servers before letters, letters before descriptions.
func TestPalette(t *testing.T) {
	own := newTool(t, `{"name":"echo","description":"Says a **scrap**."}`, says(""))
	its := func(name string) *exec.Tool { return serverTool(t, "everything", name) }
	d := drive(t, []string{"everything", "mail"}, its("echo"), its("subscribe"), its("get-screen"), own,
		lamp(t, says("")))
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		servers.ConnectFailed{Head: wire.Head{At: noon(), Server: "mail"}, Err: errors.New("API_KEY is not set")},
	}})
	for _, test := range []struct{ pattern, want string }{
		{"echo", "everything echo, config echo, R restart everything"},
		{"scr", "everything get-screen, everything subscribe, config echo, R restart everything"},
		{"mail", "mail, R restart mail"},
		{"ev echo", "everything echo, R restart everything"},
		{"gtscrn", "everything get-screen, R restart everything"},
		{"switches", "config lamp"},
		{"restart the", "R restart the server"},
		{"shines", ""},
	} {
		d.press("ctrl+k", "text:"+test.pattern)
		if list := d.listed(); list != test.want {
			t.Errorf("%s: %s, want %s", test.pattern, list, test.want)
		}
		d.press("esc")
	}
	d.press("/", "text:scrap")
	if !strings.Contains(d.frame(), "Says a scrap.") {
		t.Errorf("the description is shown as Markdown is written:\n%s", d.frame())
	}
	d.press("esc", "/", "text:lamp", "enter")
	if d.m.focus != areaPage || d.m.page.item.Plain != "lamp" || d.m.palette.open {
		t.Errorf("enter does not lead into the form:\n%s", d.frame())
	}
	d.m.theme.Change(pane.NewTheme(true, true, false))
	d.press("ctrl+k", "text:cho", "down")
	box, _, _ := d.m.palette.render(100, 30)
	if mark := d.m.theme.Paint(pane.Found, "cho"); !strings.Contains(box, "e"+mark) {
		t.Errorf("what matches is not marked:\n%q", box)
	}
}

// TestPaletteTakesLetters: in the palette each letter is text, and nothing behind it changes.
func TestPaletteTakesLetters(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "get-env"))
	before := d.m.tree.selected()
	d.press("/", "text:get-e")
	d.shows("get-e", "zwave · get-env", "enter fill", "ctrl+r call")
	d.press("text: +jk q?")
	d.shows("get-e +jk q?", "nothing matches")
	d.press("enter")
	d.shows("nothing matches")
	if d.press("esc"); d.m.palette.open || d.m.tree.selected() != before {
		t.Error("esc does not leave everything as it was")
	}
	d.press("!")
	d.shows("next failed server: no server has failed")
	d.press("J")
	d.shows("J does nothing here")
}

// TestPaletteAgain: an earlier call is repeated, filled in, or copied, with its arguments.
func TestPaletteAgain(t *testing.T) {
	d := drive(t, nil, lamp(t, says("on")))
	d.press("/", "text:lamp", "enter", "text:one", "ctrl+r")
	d.until("the call", func() bool { return len(d.m.calls.list) == 1 && len(d.m.calls.running()) == 0 })
	d.press("2", "text:two", "ctrl+k", "text:one")
	if list := d.listed(); !strings.HasPrefix(list, "again lamp") {
		t.Fatalf("listed: %s", list)
	}
	d.press("ctrl+r", "y")
	d.until("the second call", func() bool { return len(d.m.calls.list) == 2 && len(d.m.calls.running()) == 0 })
	if first, second := d.m.calls.list[0], d.m.calls.list[1]; string(first.arguments) != string(second.arguments) {
		t.Errorf("repeated with %s, first %s", second.arguments, first.arguments)
	}
	d.press("ctrl+k")
	if list := d.listed(); strings.Count(list, "again ") != 1 || !strings.Contains(list, "q quit") {
		t.Errorf("before anything is typed: %s", list)
	}
	d.press("text:again")
	if list := d.listed(); !strings.Contains(list, "again lamp") {
		t.Errorf("again: %s", list)
	}
}

// TestPaletteMouse: a click opens an entry, a click elsewhere closes the palette.
func TestPaletteMouse(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "get-env"))
	d.press("/", "text:get-env")
	d.frame()
	at := d.m.palette.place
	d.send(tea.MouseClickMsg{X: at.x + 4, Y: at.y + 1, Button: tea.MouseLeft})
	if d.m.focus != areaPage || d.m.page.item.Plain != "get-env" {
		t.Error("a click does not open the entry")
	}
	d.press("ctrl+k")
	d.frame()
	if d.send(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft}); d.m.palette.open {
		t.Error("a click outside does not close the palette")
	}
}
