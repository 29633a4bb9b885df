package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// place is where a text stands on the screen; the last place, where there are several.
func (d *driver) place(text string) (x, y int) {
	d.t.Helper()
	lines := strings.Split(d.frame(), "\n")
	for y := len(lines) - 1; y >= 0; y-- {
		if at := strings.LastIndex(lines[y], text); at >= 0 {
			return ansi.StringWidth(lines[y][:at]), y
		}
	}
	d.t.Fatalf("%q is not on the screen:\n%s", text, d.frame())
	return 0, 0
}

// click clicks on a text.
func (d *driver) click(text string) {
	d.t.Helper()
	x, y := d.place(text)
	d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// wheel turns the wheel down over a text, or up.
func (d *driver) wheel(text string, up bool) {
	d.t.Helper()
	x, y := d.place(text)
	turn := tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown}
	if up {
		turn.Button = tea.MouseWheelUp
	}
	d.send(turn)
}

// What looks like a tab is one: of watching, of the tool's page, of the result, and of
// the panes on a narrow screen.
func TestClickTabs(t *testing.T) {
	d := drive(t, nil, lamp(t, says("it shines")))
	d.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, tab := range []string{"wire", "stderr", "log", "calls"} {
		d.click(tab)
		if d.m.focus != areaTimeline {
			t.Errorf("a click on %s gives the focus to %s", tab, d.m.focus)
		}
		d.shows("[" + strings.TrimRight(tab, " ─") + "]")
	}
	d.click("lamp")
	for _, tab := range []string{"about", "json", "form"} {
		d.click(tab)
		d.shows("[" + tab + "]")
	}
	d.press("space", "ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	d.click("reply")
	d.shows("[reply]")
	d.click(" raw")
	d.shows("[reply]") // between two names is none
	d.click("raw")
	d.shows("[raw]")

	d.send(tea.WindowSizeMsg{Width: 42, Height: 20})
	for _, tab := range []string{"1 tools", "2 tool", "3 result", "4 timeline"} {
		d.click(tab + "  ")
		if want := tab[2:]; d.m.focus.String() != want {
			t.Errorf("a click on %q goes to %s", tab, d.m.focus)
		}
	}
	d.click("[calls]") // only the current filter is named
	d.shows("[all]")
}

// What names a key can be clicked: on the last line, below the form, while a call runs.
func TestClickKeys(t *testing.T) {
	begun := make(chan bool, 1)
	d := drive(t, nil, newTool(t, `{"name":"slow","inputSchema":{"type":"object"}}`, func(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
		begun <- true
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	d.click("slow")
	d.click("ctrl+r calls slow")
	<-begun
	d.click("x cancels")
	d.until("its end", func() bool { return !d.m.calls.shown.running() })
	d.click("? help")
	d.shows("keys of result")
	d.press("esc", "esc", "esc")
	d.click("ctrl+k find")
	if !d.m.palette.open {
		t.Error("a click on the key of the palette does not open it")
	}
}

// The answers of a dialog can be clicked; a click beside it closes it.
func TestClickDialog(t *testing.T) {
	wipe := newTool(t, `{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`, says("gone"))
	d := drive(t, nil, wipe)
	d.click("wipe")
	for _, answer := range []string{"n no", "esc close", "1 tools"} {
		d.press("ctrl+r")
		d.shows("call wipe?")
		d.click("This tool may")
		if d.m.dialog == nil {
			t.Fatal("a click on its words closes it")
		}
		d.click(answer)
		if d.m.dialog != nil || d.m.calls.shown != nil {
			t.Errorf("a click on %q does not close it, or calls:\n%s", answer, d.frame())
		}
	}
	d.press("ctrl+r")
	d.click("y call it")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
}

// A form that cannot be sent is not sent by a click on the reason.
func TestClickOnAReason(t *testing.T) {
	d := drive(t, nil, lamp(t, says("it shines")))
	d.click("lamp")
	d.click("missing 'on'")
	if d.m.calls.shown != nil {
		t.Error("it was called")
	}
}

// The wheel scrolls what is under the pointer, whatever has the focus, and selects
// nothing; other buttons and a wheel that is turned sideways do nothing.
func TestWheel(t *testing.T) {
	properties := make([]string, 60)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"field%02d":{"type":"string"}`, i)
	}
	tools := []*exec.Tool{newTool(t, `{"name":"a","inputSchema":{"type":"object","properties":{`+strings.Join(properties, ",")+`}}}`, says(""))}
	for i := range 60 {
		tools = append(tools, newTool(t, fmt.Sprintf(`{"name":"tool%02d","inputSchema":{"type":"object"}}`, i), says("")))
	}
	d := drive(t, []string{"zwave"}, tools...)
	var lines []exec.Event
	for i := range 60 {
		lines = append(lines,
			wire.StderrLine{Head: wire.Head{At: noon(), Server: "zwave"}, Text: fmt.Sprintf("line%02d", i)})
	}
	d.m.updateEvents(feed.Msg{Events: lines})
	d.shows("line59")
	d.wheel("line59", true)
	d.shows("line56")
	d.wheel("line56", false)
	d.shows("line59")

	d.click("    a ")
	d.wheel("tool05", false)
	d.shows("field00") // nothing else is selected
	if top := d.m.tree.list.Top(); top != 3 {
		t.Errorf("the tree begins at row %d", top)
	}
	d.press("g")
	d.shows("zwave") // a key brings the cursor back
	d.click("    a ")
	d.press("enter", "text:typed")
	d.wheel("field02", false)
	if strings.Contains(d.frame(), "typed") {
		t.Error("the form does not scroll")
	}
	d.press("text:!")
	d.shows("typed!")
	x, y := d.place("field03")
	d.send(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelLeft},
		tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseMiddle})
	d.press("text:?")
	d.shows("typed!?", "field00")
}
