package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

const dimTool = `{"name":"control_zwave_device","title":"Control a device","annotations":{"idempotentHint":true},
"description":"Switches a Z-Wave device **on or off**, or dims it.\n\n- use ` + "`list_zwave_devices`" + ` for the names\n- dim needs a level",
"inputSchema":{"type":"object","required":["deviceName","action"],"properties":{
"deviceName":{"type":"string","description":"Name of the device","examples":["Switch One"]},
"action":{"enum":["on","off","toggle","dim"],"description":"What to do; dim needs a level"},
"level":{"type":"integer","minimum":0,"maximum":99,"default":50,"description":"Brightness, for dim only"},
"options":{"type":"object","properties":{"fade":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}}}}}}`

// house is a driver with three servers: one ready, one that starts, one that failed.
func house(t *testing.T) *driver {
	t.Helper()
	tools := []*exec.Tool{newTool(t, dimTool, says(`{"status":"ok","message":"The command was sent and confirmed by the device","nodeId":4}`))}
	tools[0].Server, tools[0].Name, tools[0].Plain = "zwave", "zwave__control_zwave_device", "control_zwave_device"
	for _, name := range []string{"get_zwave_device", "list_zwave_devices", "set_zwave_thermostat"} {
		tools = append(tools, serverTool(t, "zwave", name))
	}
	d := drive(t, []string{"zwave", "weather", "mail"}, tools...)
	at := func(ms int) exec.Time { return exec.Time{At: noon().Add(time.Duration(ms-4000) * time.Millisecond)} }
	sent := func(ms int, frame string) exec.Event {
		return wire.NewFrameSent(at(ms).At, "zwave", []byte(frame))
	}
	got := func(ms, line int, frame string) exec.Event {
		return wire.NewFrameReceived(at(ms).At, "zwave", line, []byte(frame))
	}
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		wire.ProcessStarted{Head: wire.Head{At: at(0).At, Server: "zwave"}, PID: 4711, Command: []string{"node", "zwave-mcp-server.js"}},
		servers.Attempt{Head: wire.Head{At: at(1).At, Server: "weather"}, Attempt: 1, Of: 3, Limit: 30 * time.Second},
		wire.ProcessStarted{Head: wire.Head{At: at(1).At, Server: "weather"}, PID: 4712, Command: []string{"npx", "-y", "weather-mcp"}},
		sent(3, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`),
		wire.PollutedLine{Head: wire.Head{At: at(60).At, Server: "zwave"}, Class: wire.ClassText, Line: 1, Phase: wire.PhaseStart, Text: []byte("[dotenv@17.2.3] injecting env (3) from .env"), Size: 43},
		got(88, 2, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`),
		wire.StderrLine{Head: wire.Head{At: at(90).At, Server: "zwave"}, Text: "MQTT connected to mqtt://localhost"},
		wire.StderrLine{Head: wire.Head{At: at(95).At, Server: "zwave"}, Text: "4 devices are known"},
		sent(91, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`),
		got(93, 3, `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`),
		servers.Connected{Head: wire.Head{At: at(94).At, Server: "zwave"}, Protocol: "2025-11-25", Timing: exec.Timing{StartMS: 3, InitializeMS: 85, ListMS: 2}},
		servers.ConnectFailed{Head: wire.Head{At: at(900).At, Server: "mail"}, Err: &servers.ConnectError{Server: "mail", Last: &diagnose.Failure{
			Server: "mail", Ending: diagnose.EndingExited, How: "exit status 1",
			StderrTail: []string{"Error: API_KEY is not set"},
		}}},
	}})
	d.m.setTools()
	return d
}

// TestGoldenFrames draws the screen at three sizes. Frames with a number are the mock-ups of the design: 1 a tree with
// columns, 2 unmistakable focus, 3 live results, 4 one timeline, 5 one palette.
func TestGoldenFrames(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{
		{Width: 40, Height: 24}, {Width: 80, Height: 24}, {Width: 120, Height: 40},
	} {
		d := house(t)
		d.send(size)
		name := func(what string) string { return what + "-" + strconv.Itoa(size.Width) }
		d.golden(name("1-tree"))
		d.press("j", "enter", "text:Switch One", "tab", "space")
		d.golden(name("2-focus"))
		d.m.page.tab = tabAbout
		d.golden(name("about"))
		d.m.page.tab = tabForm
		d.press("ctrl+r")
		d.until("the result", func() bool { return !d.m.calls.shown.running() })
		d.golden(name("result"))
	}
}

// TestGoldenPalette: the palette, and what is shown at first where no server is configured.
func TestGoldenPalette(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		d := furnished(t)
		d.send(size)
		d.show("zwave__get_zwave_device")
		d.call()
		d.settle()
		d.press("ctrl+k", "text:dev")
		d.golden("5-palette-" + strconv.Itoa(size.Width))
	}
	d := drive(t, nil)
	d.m.options.Entries = new(someConfig)
	d.run(d.m.Init())
	d.until("the servers of clients", func() bool { return len(d.m.palette.found) == 1 })
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		d.send(size)
		d.golden(fmt.Sprintf("5-palette-first-%d", size.Width))
	}
}

// during makes a driver whose server has a slow tool, which was called, and what happened meanwhile.
func during(t *testing.T) *driver {
	t.Helper()
	d := drive(t, []string{"noisy"}, serverTool(t, "noisy", "slow"), serverTool(t, "noisy", "now"))
	at := func(ms int) time.Time { return noon().Add(time.Duration(ms) * time.Millisecond) }
	events := []exec.Event{
		wire.ProcessStarted{Head: wire.Head{At: at(-500), Server: "noisy"}, PID: 4711},
		servers.Connected{Head: wire.Head{At: at(-100), Server: "noisy"}, Timing: exec.Timing{StartMS: 400}},
	}
	for i := range 12 {
		events = append(events, exec.CallFinished{Time: exec.Time{At: at(-1000 * i)}, Result: &exec.Result{
			Server: "noisy", ToolName: "noisy__slow", Success: true,
			Duration: time.Duration(7400+100*i) * time.Millisecond,
		}})
	}
	d.send(feed.Msg{Events: events})
	d.press("/", "text:slow", "enter", "ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	d.until("the call", func() bool { return len(d.m.timeline.Recent()) == 1 })
	c := d.m.calls.shown
	c.ended, c.result.Duration = at(8012), 8010*time.Millisecond
	got := func(ms int, frame string) exec.Event { return wire.NewFrameReceived(at(ms), "noisy", 4, []byte(frame)) }
	events = []exec.Event{wire.NewFrameSent(at(0), "noisy", []byte(
		`{"jsonrpc":"2.0","id":483920173,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}`))}
	for i := 1; i <= 2; i++ {
		events = append(events,
			wire.StderrLine{
				Head: wire.Head{At: at(1001 * i), Server: "noisy"},
				Text: fmt.Sprintf("step %d of 2: reading block %d", i, 4096*i),
			},
			got(1001*i, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress",`+
				`"params":{"progressToken":1,"progress":%d,"total":2}}`, i)))
	}
	events = append(events,
		got(3000, `{"jsonrpc":"2.0","method":"notifications/message",`+
			`"params":{"level":"warning","logger":"disk","data":"slow medium"}}`),
		wire.PollutedLine{
			Head: wire.Head{At: at(4000), Server: "noisy"}, Class: wire.ClassText, Line: 9,
			Text: []byte("debug: still here"), Size: 17,
		},
		got(8010, `{"jsonrpc":"2.0","id":483920173,"result":{"content":[{"type":"text","text":"done"}]}}`))
	d.send(feed.Msg{Events: events})
	return d
}

// TestGoldenTimeline shows what happened during a call, without any key, and with the focus.
func TestGoldenTimeline(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		d := during(t)
		d.send(size)
		d.golden(fmt.Sprintf("4-timeline-%d", size.Width))
		d.press("4")
		d.golden(fmt.Sprintf("4-timeline-focus-%d", size.Width))
	}
}

// library is the house with resources and prompts, of which one was got.
func library(t *testing.T) *driver {
	t.Helper()
	d := house(t)
	g := d.m.tree.groups[0]
	g.server.completes, g.server.subscribes, g.tools = true, true, g.tools[:2]
	d.m.tree.groups[3].closed = true
	for k, definitions := range map[kind][]string{
		kindResource: {
			`{"uri":"zwave://log/2026-11-20","name":"Log of today","mimeType":"text/plain","size":48213,"description":"What devices reported since midnight."}`,
			`{"uri":"zwave://map.svg","name":"Map of the network","mimeType":"image/svg+xml"}`,
		},
		kindTemplate: {`{"uriTemplate":"zwave://devices/{node}/values{?since}","name":"Values of a device","mimeType":"application/json"}`},
		kindPrompt: {
			`{"name":"evening","description":"Makes a scene for the evening.","arguments":[{"name":"room","description":"Which room","required":true},{"name":"mood","description":"How it should feel"}]}`,
			`{"name":"diagnose","description":"Finds out why a device is silent."}`,
		},
	} {
		var raw []json.RawMessage
		for _, definition := range definitions {
			raw = append(raw, json.RawMessage(definition))
		}
		of := g.serverList(k)
		of.offered, of.listed, of.closed, of.items = true, true, false, itemsOf(k, g.server.config, raw)
	}
	d.m.relist()
	d.m.tree.reveal(itemKey{kindPrompt, "zwave__evening"})
	d.m.showSelected()
	d.press("enter", "text:liv")
	result := d.m.options.Executor.Do(t.Context(), exec.Operation{
		Name: "zwave__evening", Server: "zwave", Method: "prompts/get", Read: exec.ReadPrompt,
		Run: func(context.Context, func(exec.Progress)) (json.RawMessage, error) {
			return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Make a scene for a **calm** evening in the living room."}},` +
				`{"role":"assistant","content":{"type":"text","text":"I dim Switch One to 20 and close the blinds."}}]}`), nil
		},
	})
	c := &call{
		item: d.m.page.item, name: result.ToolName, number: 1, result: result, started: noon(), sent: noon(),
		ended: noon().Add(12 * time.Millisecond),
	}
	d.m.calls.list = append(d.m.calls.list, c)
	d.m.calls.show(c)
	wanted, _ := d.m.suggested.wanted()
	d.m.suggested.suggestions = suggestions{of: wanted, values: []string{"living room", "library", "lift"}}
	return d
}

// TestGoldenFeatures shows what there is beside tools, where there is much room and
// little.
func TestGoldenFeatures(t *testing.T) {
	d := library(t)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	d.golden("prompt-120")
	d.m.setFocus(areaTree)
	d.m.tree.reveal(itemKey{kindResource, "zwave__zwave://log/2026-11-20"})
	d.m.showSelected()
	d.send(tea.WindowSizeMsg{Width: 40, Height: 16})
	d.press("2")
	d.golden("resource-40")
}

// TestPictures draws the pictures of the documentation.
func TestPictures(t *testing.T) {
	d := house(t)
	d.m.theme.Change(looks()["dark"].theme())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.press("j", "enter", "text:Switch One", "tab", "space", "ctrl+r")
	d.until("the result", func() bool { return !d.m.calls.shown.running() })
	d.settle()
	d.picture("call")
	d.press("4", "]")
	d.picture("wire")
	d.press("2", "ctrl+k", "text:dev")
	d.picture("palette")

	d = furnished(t)
	d.m.theme.Change(looks()["dark"].theme())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 28})
	d.session()
	d.picture("session")
}
