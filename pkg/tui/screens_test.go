package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
	"toolx/pkg/tui/pane"
)

var screens = flag.String("screens", "", "write pictures of all screens into this folder")

// look is a kind of terminal that screens are looked at on.
type look struct {
	paper              paper
	color, dark, ascii bool
	tints              bool
}

func looks() map[string]look {
	return map[string]look{
		"dark":    {paper: darkPaper(), color: true, dark: true, tints: true},
		"light":   {paper: lightPaper(), color: true, tints: true},
		"sixteen": {paper: vgaPaper(), color: true, dark: true},
		"pale":    {paper: lightPaper(), color: true},
		"plain":   {paper: darkPaper(), dark: true},
		"ascii":   {paper: lightPaper(), color: true, tints: true, ascii: true},
	}
}

func (l look) theme() *pane.Theme {
	theme := pane.NewTheme(l.color, l.dark, l.ascii)
	if l.tints {
		theme.FixColors(l.dark)
	}
	return theme
}

// scene brings a driver, whose theme is set, to a screen that is worth to be looked at.
type scene func(d *driver)

// call calls the tool on the page.
func (d *driver) call() {
	d.t.Helper()
	d.press("ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
}

// show goes to a tool by its name.
func (d *driver) show(name string) {
	d.t.Helper()
	d.m.tree.reveal(itemKey{kindTool, name})
	d.m.showSelected()
	d.m.setFocus(areaPage)
}

// session calls a tool that lists devices, and shows what went over the wire meanwhile.
func (d *driver) session() {
	d.show("zwave__list_zwave_devices")
	d.call()
	c := d.m.calls.shown
	c.ended = c.started.Add(23 * time.Millisecond)
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		wire.NewFrameSent(c.started, "zwave", []byte(
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_zwave_devices","arguments":{}}}`)),
		wire.NewFrameReceived(c.ended, "zwave", 4, []byte(`{"jsonrpc":"2.0","id":3,"result":`+devices+`}`)),
	}})
	d.press("4", "3")
	d.settle()
}

// settle waits for the events of one call, so that what they change is in the picture whatever the machine does.
func (d *driver) settle() {
	d.t.Helper()
	d.until("the call in the history", func() bool { return len(d.m.timeline.Recent()) == 1 })
}

func scenes() map[string]scene {
	return map[string]scene{
		"00-session": (*driver).session,
		"01-tool":    func(d *driver) { d.press("j", "enter", "text:Switch One", "tab", "space") },
		"02-form":    func(d *driver) { d.show("zwave__make_scene"); d.press("text:Evening", "tab", "text:x", "tab") },
		"03-text":    func(d *driver) { d.show("zwave__explain"); d.call() },
		"04-json":    func(d *driver) { d.show("zwave__network"); d.call() },
		"05-table":   func(d *driver) { d.show("zwave__list_zwave_devices"); d.call() },
		"06-image":   func(d *driver) { d.show("zwave__map"); d.call() },
		"07-failed":  func(d *driver) { d.server("mail") },
		"08-finder":  func(d *driver) { d.press("/", "text:dev") },
		"09-search":  func(d *driver) { d.show("zwave__network"); d.call(); d.press("/", "text:switch") },
		"10-asks":    func(d *driver) { d.show("zwave__remove_device"); d.press("text:Switch One", "ctrl+r") },
		"11-help":    func(d *driver) { d.press("?") },
		"12-wire":    func(d *driver) { d.show("zwave__get_zwave_device"); d.call(); d.press("4", "]") },
		"13-history": func(d *driver) {
			for _, name := range []string{"list_zwave_devices", "get_zwave_device", "explain", "fails", "network"} {
				d.show("zwave__" + name)
				d.call()
			}
			d.press("4", "[", "A")
			d.until("the calls", func() bool { return strings.Contains(d.frame(), "zwave__network {") })
		},
		"14-doctor": func(d *driver) {
			d.m.options.Examine = func(context.Context, string) (*doctor.Report, error) { return diagnosed(), nil }
			d.server("zwave")
			d.press("d")
			d.until("the report", func() bool { return d.m.servers.list[0].diagnosis.report != nil })
		},
		"15-frame": func(d *driver) {
			d.press("4", "home", "down", "down", "enter")
		},
		"16-running": func(d *driver) {
			d.show("zwave__heal")
			d.press("ctrl+r")
			d.until("its progress", func() bool { return d.m.calls.shown.progress.Progress > 0 })
		},
		"17-asked": func(d *driver) {
			a := asked(d)
			a.elicit(room())
			a.press("text:A")
		},
		"18-log": func(d *driver) { d.press("4", "]", "]", "]") },
		"19-error": func(d *driver) {
			d.show("zwave__fails")
			d.call()
		},
		"20-about":  func(d *driver) { d.show("zwave__control_zwave_device"); d.press("esc", "ctrl+t") },
		"21-schema": func(d *driver) { d.show("zwave__make_scene"); d.press("esc", "ctrl+t", "ctrl+t", "down") },
		"22-amber":  func(d *driver) { d.show("zwave__remove_device") },
		"23-narrow": func(d *driver) {
			d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
			d.show("zwave__control_zwave_device")
		},
		"24-low": func(d *driver) {
			d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			d.press("j")
		},
		"26-first": func(d *driver) {
			d.m.options.Entries = new(someConfig)
			d.run(d.m.Init())
			d.until("the servers of clients", func() bool { return len(d.m.palette.found) == 1 })
		},
		"27-add": func(d *driver) {
			d.m.options.Entries = new(someConfig)
			d.press("a", "text:npx -y @modelcontextprotocol/server-everything")
		},
		"28-follow": func(d *driver) {
			d.show("zwave__network")
			d.call()
			d.m.updateEvents(feed.Msg{Events: []exec.Event{
				wire.NewFrameSent(noon(), "zwave", []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"network"}}`)),
				wire.NewFrameReceived(noon(), "zwave", 4, []byte(`{"jsonrpc":"2.0","id":3,"result":`+network+`}`)),
				wire.StderrLine{Head: wire.Head{At: noon(), Server: "zwave"}, Text: "3 nodes were asked"},
			}})
		},
		"29-resources": func(d *driver) {
			d.m.tree.reveal(itemKey{kindPrompt, "zwave__evening"})
			d.m.showSelected()
			d.m.setFocus(areaPage)
		},
		"30-zoomed": func(d *driver) { d.show("zwave__explain"); d.call(); d.press("z") },
		"31-compare": func(d *driver) {
			d.show("zwave__control_zwave_device")
			d.press("text:Switch One", "tab", "space")
			d.call()
			d.press("esc", "space")
			d.call()
			d.press("D")
		},
		"32-limit": func(d *driver) { d.show("zwave__explain"); d.press("T") },
		"25-wide": func(d *driver) {
			d.send(tea.WindowSizeMsg{Width: 180, Height: 40})
			d.show("zwave__list_zwave_devices")
			d.call()
		},
	}
}

// server shows the page of a server.
func (d *driver) server(name string) {
	d.m.tree.find(row{group: d.m.tree.groupOf(name)})
	d.m.showSelected()
	d.m.setFocus(areaTree)
}

// diagnosed is a report of the doctor.
func diagnosed() *doctor.Report {
	return &doctor.Report{
		Status: doctor.StatusProblems,
		Findings: []check.Finding{
			{
				ID: "stdout-pollution", Severity: check.Error, Server: "zwave",
				Title: "server prints to stdout before its first response",
				Where: &evidence.Where{Line: 1}, Evidence: "[dotenv@17.2.3] injecting env (3) from .env",
				Culprit: &culprit.Culprit{Name: "dotenv", Confidence: culprit.Certain},
				Breaks:  []string{"claude-desktop", "cursor"}, Fix: []string{"set DOTENV_CONFIG_QUIET=true"},
			},
			{
				ID: "tool-description-missing", Severity: check.Warning, Server: "zwave",
				Title: "tool has no description",
				Where: &evidence.Where{Tool: "heal"}, Fix: []string{"say what the tool does, and when to use it"},
			},
		},
		Servers: []doctor.ServerReport{
			{Name: "zwave", Status: "ready", DurationMS: 412, Protocol: "2025-11-25", Tools: 9},
		},
	}
}

const sceneTool = `{"name":"make_scene","title":"Make a scene","description":"Keeps the state of **several devices** under a name.",
"inputSchema":{"type":"object","required":["name","room"],"properties":{
"name":{"type":"string","minLength":3,"description":"What the scene is called"},
"room":{"type":"string","minLength":3,"description":"The room, by its name or its number","examples":["living room"]},
"brightness":{"type":"number","minimum":0,"maximum":1,"default":0.5},
"quiet":{"type":"boolean","default":true,"description":"Do not announce it"},
"at":{"type":"string","format":"date-time"},
"days":{"type":"array","items":{"enum":["mon","tue","wed"]},"description":"When it repeats"},
"target":{"oneOf":[{"title":"Device","type":"object","properties":{"id":{"type":"integer"}}},{"title":"Group","type":"string"}]},
"options":{"type":"object","properties":{"fade":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}}}}}}`

const explained = "## Switch One\n\nA **wall plug** in the living room, paired on `2026-01-14`.\n\n" +
	"| value | now | unit |\n| --- | ---: | --- |\n| power | 41.5 | W |\n| energy | 127 | kWh |\n\n" +
	"- it answers in 20 ms\n- its *firmware* is [current](https://example.org/firmware)\n\n```js\nawait zwave.node(4).set(\"on\")\n```\n"

const devices = `{"content":[{"type":"text","text":"3 devices"}],"structuredContent":{"total":3,"devices":[` +
	`{"id":4,"name":"Switch One","room":"living room","on":true,"power":41.5,"seen":"2026-11-20T11:58:02Z"},` +
	`{"id":7,"name":"Switch Two","room":"kitchen","on":false,"power":0,"seen":"2026-11-20T11:41:55Z"},` +
	`{"id":9,"name":"Thermostat","room":"bath","on":true,"power":2.25,"seen":"2026-11-20T11:59:31Z"}]}}`

const network = `{"controller":{"id":1,"region":"EU","version":"7.18.3","inclusion":null},"nodes":[` +
	`{"id":4,"name":"Switch One","neighbours":[7,9],"listens":true},{"id":7,"name":"Switch Two","neighbours":[4],"listens":true},` +
	`{"id":9,"name":"Thermostat","neighbours":[],"listens":false}],"healthy":true,"load":0.07}`

// drawn is a picture of a network as a server sends one.
func drawn(t *testing.T) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 160, 96))
	for y := range 96 {
		for x := range 160 {
			picture.Set(x, y, color.RGBA{uint8(20 + x/3), uint8(40 + y), uint8(120 + x/2), 255})
			for i, at := range []image.Point{{40, 30}, {110, 22}, {90, 70}} {
				if d := at.Sub(image.Pt(x, y)); d.X*d.X+d.Y*d.Y < 180 {
					picture.Set(x, y, color.RGBA{250, uint8(90 + 60*i), 60, 255})
				}
			}
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(file.Bytes())
}

// furnished is the house with tools whose results are of all kinds.
func furnished(t *testing.T) *driver {
	t.Helper()
	raw := func(result string) handler {
		return func(context.Context, exec.Request) (json.RawMessage, error) { return json.RawMessage(result), nil }
	}
	d := house(t)
	for definition, does := range map[string]handler{
		sceneTool: says("made"),
		`{"name":"explain","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`: says(explained),
		`{"name":"network","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`: says(network),
		`{"name":"list_zwave_devices","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},` +
			`"description":"Lists the devices of the network, with their rooms."}`: raw(devices),
		`{"name":"map","inputSchema":{"type":"object"}}`: raw(
			`{"content":[{"type":"text","text":"The network at noon"},{"type":"image","mimeType":"image/png","data":"` + drawn(t) + `"}]}`),
		`{"name":"remove_device","description":"Removes a device from the network, with all that is known of it.",` +
			`"inputSchema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},` +
			`"annotations":{"destructiveHint":true,"openWorldHint":true}}`: says("removed"),
		`{"name":"heal","inputSchema":{"type":"object"}}`: func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
			r.Progress(exec.Progress{Progress: 4, Total: 9, Message: "asking node 7 for its neighbours"})
			<-ctx.Done()
			return nil, ctx.Err()
		},
		`{"name":"fails","inputSchema":{"type":"object"}}`: func(context.Context, exec.Request) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[{"type":"text","text":"Node 12 does not answer: it may be out of reach.\nTry again in a minute."}],"isError":true}`), nil
		},
	} {
		tool := newTool(t, definition, does)
		tool.Server, tool.Name = "zwave", "zwave__"+tool.Plain
		d.m.options.Executor.Registry.Register(tool)
	}
	d.m.options.Config = func() string { return "toolx.yaml" }
	d.m.updateEvents(feed.Msg{Events: chatter()})
	d.m.setTools()
	return d
}

// chatter is what else the servers of the house have written.
func chatter() []exec.Event {
	at := func(ms int) exec.Time { return exec.Time{At: noon().Add(time.Duration(ms) * time.Millisecond)} }
	log := func(ms int, level, logger, text string) exec.Event {
		return wire.LogMessage{Head: wire.Head{At: at(ms).At, Server: "zwave"}, Level: level, Logger: logger, Data: json.RawMessage(`"` + text + `"`)}
	}
	return []exec.Event{
		log(-900, "debug", "driver", "poll of node 4"),
		log(-700, "info", "driver", "node 7 is awake"),
		log(-400, "warning", "mqtt", "the broker answers slowly: 812 ms"),
		log(-200, "error", "driver", "node 12 does not answer"),
		wire.Notification{Head: wire.Head{At: at(-100).At, Server: "zwave"}, Method: "notifications/tools/list_changed"},
		servers.ConnectFailed{Head: wire.Head{At: at(-50).At, Server: "mail"}, Err: &servers.ConnectError{Server: "mail", Last: &diagnose.Failure{
			Server: "mail", Ending: diagnose.EndingExited, How: "exit status 1", Stdout: []string{"mail server 2.1.0"},
			StderrTail: []string{
				"/srv/mail/index.js:12", "  throw new Error('API_KEY is not set')", "        ^", "",
				"Error: API_KEY is not set", "    at Object.<anonymous> (/srv/mail/index.js:12:9)",
				"    at Module._compile (node:internal/modules/cjs/loader:1554:14)", "Node.js v20.19.0",
			},
		}}},
	}
}

// Every screen fits, and has only what the terminal can show. With -screens it is drawn as a picture to be looked at,
// on every kind of terminal.
func TestScreens(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what draws many screens")
	}
	for kind, look := range looks() {
		if *screens == "" && look.color && !look.ascii {
			continue // these can show everything
		}
		for name, scene := range scenes() {
			t.Run(name+"-"+kind, func(t *testing.T) {
				d := furnished(t)
				switch name {
				case "26-first":
					d = drive(t, nil)
				case "29-resources":
					d = library(t)
				}
				d.m.theme.Change(look.theme())
				d.m.options.Color, d.m.options.ASCII = look.color, look.ascii
				d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
				if len(d.m.servers.list) > 0 {
					d.server("zwave")
				}
				scene(d)
				d.send(tea.WindowSizeMsg{Width: d.m.width, Height: d.m.height}) // what follows the selection is updated
				d.look(name+"-"+kind, look)
			})
		}
	}
}

// look checks that the screen fits, and that it has neither colours nor signs that the terminal has not.
func (d *driver) look(name string, look look) {
	d.t.Helper()
	plain, screen := d.frame(), d.m.screen()
	if at := strings.IndexFunc(plain, func(char rune) bool { return char > '~' }); look.ascii && at >= 0 {
		d.t.Errorf("%q is not ASCII", plain[at:min(len(plain), at+20)])
	}
	cells := uv.NewScreenBuffer(d.m.width, d.m.height)
	uv.NewStyledString(screen).Draw(cells, cells.Bounds())
	for i := range d.m.width * d.m.height {
		cell := cells.CellAt(i%d.m.width, i/d.m.width)
		if cell != nil && !look.color && (cell.Style.Fg != nil || cell.Style.Bg != nil) {
			d.t.Fatalf("cell %d,%d has a colour", i%d.m.width, i/d.m.width)
		}
	}
	if *screens == "" {
		return
	}
	err := os.MkdirAll(*screens, 0o755)
	if err == nil {
		picture := look.paper.svg(screen, d.m.width, d.m.height)
		err = errors.Join(
			os.WriteFile(filepath.Join(*screens, name+".svg"), picture, 0o644),
			os.WriteFile(filepath.Join(*screens, name+".ansi"), []byte(screen), 0o644),
		)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}
