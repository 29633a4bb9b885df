package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/fake"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/timeline"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fake.Remove()
	os.Exit(code)
}

// driveFake starts a model with a real server: the fake in a mode.
func driveFake(t *testing.T, args ...string) *driver {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, []string{"fake"})
	entry := d.m.servers.list[0].config
	entry.Command, entry.Args = program, args
	pool := servers.NewPool([]*config.Server{entry}, servers.Options{
		Options:  protocol.Options{Bus: d.bus, StartTimeout: 30 * time.Second},
		Registry: d.m.options.Executor.Registry, StderrDir: t.TempDir(),
	})
	t.Cleanup(func() { pool.Close(context.Background()) })
	d.m.options.Pool = pool
	d.send(tea.WindowSizeMsg{Width: 118, Height: 40})
	d.run(d.m.servers.open(d.m.servers.list[0]))
	d.until("the server", func() bool { return d.m.servers.list[0].status == statusReady })
	d.send(d.m.servers.meet("fake")())
	d.until("the lists", func() bool { return !d.m.servers.listing() })
	return d
}

// result waits for the end of the call on the screen.
func (d *driver) result() *exec.Result {
	d.t.Helper()
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	return d.m.calls.shown.result
}

// Beside its tools a server shows what else it has, closed, with counts; one that has
// nothing else shows nothing.
func TestServerLists(t *testing.T) {
	d := driveFake(t, "features")
	d.showsRow("▸ resources", " 3")
	d.showsRow("▸ templates", " 1")
	d.showsRow("▸ prompts", " 2")
	d.press("down")
	for range 100 {
		if d.m.tree.selected().serverList != nil {
			break
		}
		d.press("down")
	}
	d.shows("fake resources", "A text  Two lines.")
	d.click("▸ templates")
	d.shows("▾ templates", "      item")
	d.click("▾ templates")
	d.click("▸ resources")
	d.press("down")
	d.shows("▾ resources", "      A text", "      pixel", "      both", "fake · A text  [form] about json",
		"test://text",
		"text/plain", "ctrl+r reads A text")
	d.press("left")
	d.shows("▸ resources")
	d.press("left") // from a closed list to its server
	d.shows("server fake", "3 resources, 1 template, 2 prompts")

	d = driveFake(t, "good")
	if frame := d.frame(); strings.Contains(frame, "▸ resources") || strings.Contains(frame, "▸ prompts") {
		t.Errorf("there are lists that the server does not have:\n%s", frame)
	}
}

// A resource is read from the tree, and from its page; what the log keeps of it is what
// the command line's verb would leave.
func TestReadResource(t *testing.T) {
	d := driveFake(t, "features")
	var finished atomic.Value
	t.Cleanup(d.bus.Subscribe(func(event exec.Event) {
		if e, ok := event.(exec.CallFinished); ok {
			finished.Store(e)
		}
	}))
	d.press("/", "text:test://both", "enter")
	d.shows("      both", "test://both", "enter read")
	d.press("enter")
	result := d.result()
	d.shows("1  resource text/plain test://both", `a \x1b[31mred\x1b[0m text`, "2  resource image/png 69 B 1×1 test://pixel", "(s saves it)")
	end, _ := finished.Load().(exec.CallFinished)
	if end.Method != "resources/read" || string(end.Arguments) != `{"uri":"test://both"}` || result.ToolName != "fake__test://both" || result.Server != "fake" {
		t.Errorf("the log has %+v of %+v", end, result)
	}
	d.press("esc", "ctrl+r")
	d.shows("[⠋ #2")
	if got := d.result(); !got.Success {
		t.Error(got.Err)
	}
	d.press("4", "[")
	d.until("the calls", func() bool { return strings.Contains(d.frame(), "fake__test://both {") })
	d.press("r")
	d.until("the call again", func() bool { return len(d.m.calls.list) == 3 })
	d.result()
}

// Of a template a form is made; what is read is the resource that its values make.
func TestReadTemplate(t *testing.T) {
	d := driveFake(t, "features")
	d.press("/", "text:item by its number", "enter")
	d.shows("fake · item  [form] about json", "missing 'id'")
	d.press("text:7 8", "ctrl+r")
	result := d.result()
	d.shows("resource text/plain test://item/7%208", "item 7%208")
	if result.ToolName != "fake__test://item/7%208" {
		t.Errorf("the result is that of %s", result.ToolName)
	}
	if _, _, err := d.m.servers.itemOf(timeline.Request{Method: "resources/read", Tool: result.ToolName, Arguments: json.RawMessage(`{"uri":"test://item/7%208"}`)}); err != nil {
		t.Errorf("it cannot be read again: %v", err)
	}
	d.press("1", "home", "4", "[")
	d.until("the calls", func() bool { return strings.Contains(d.frame(), "fake__test://item/7%208 {") })
	d.press("enter") // to be edited it leads to what it was made of
	d.until("the template", func() bool { return d.m.page.item.kind == kindTemplate && d.m.focus == areaPage })
}

// A prompt's arguments are filled in; its messages come with their roles.
func TestGetPrompt(t *testing.T) {
	d := driveFake(t, "features")
	d.press("/", "text:greet", "enter")
	d.shows("fake · greet  [form] about json", "Whom to greet.", "missing 'name'")
	d.press("text:Ada", "ctrl+r")
	result := d.result()
	d.shows("[messages]", "user", "Greet Ada ()", "assistant", "Gladly.")
	if !result.Success || result.ToolName != "fake__greet" {
		t.Errorf("the result is %+v", result)
	}
	if got, want := promptText(result), "[user]\nGreet Ada ()\n\n[assistant]\nGladly.\n"; got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
	d.press("3", "v")
	d.shows("[reply]", "messages")
	// What it said before is kept beside what it says now.
	d.press("2", "end", "text: Lovelace", "ctrl+r")
	d.result()
	d.shows("[#2", "Ada Lovelace")
	// What was sent may be replaced without a question, by what is run again.
	d.press("4", "[")
	d.until("the calls", func() bool { return strings.Contains(d.frame(), "Ada Lovelace\"}") })
	d.press("up", "r")
	d.until("the call again", func() bool { return len(d.m.calls.list) == 3 })
	if got := string(d.m.calls.shown.arguments); got != `{"name":"Ada"}` {
		t.Errorf("sent again is %s", got)
	}
	d.result()
}

// What is copied does on the command line what the page would do.
func TestCopyOfFeatures(t *testing.T) {
	d := driveFake(t, "features")
	copied := func(filter, key string) string {
		t.Helper()
		d.press("1", "/", "text:"+filter, "enter")
		var text string
		binding := map[string]func() tea.Cmd{"y": d.m.copy.command, "Y": d.m.copy.request}[key]
		for _, cmd := range batched(binding()) {
			if msg := fmt.Sprint(cmd()); !strings.Contains(msg, "copied") {
				text = msg
			}
		}
		return text
	}
	for _, test := range []struct{ filter, key, want string }{
		{"test://text", "y", "toolx resources read fake__test://text"},
		{"picture", "y", "toolx prompts get fake__picture"},
		{"test://text", "Y", `"method":"resources/read","params":{"uri":"test://text","_meta":{"progressToken":`},
		{"picture", "Y", `"method":"prompts/get","params":{"name":"picture","arguments":{},"_meta":{"progressToken":`},
	} {
		if got := copied(test.filter, test.key); !strings.Contains(got, test.want) {
			t.Errorf("%s of %s: %s, want %s", test.key, test.filter, got, test.want)
		}
	}
}

// batched are the commands of a batch.
func batched(cmd tea.Cmd) []tea.Cmd {
	batch, _ := cmd().(tea.BatchMsg)
	return batch
}

// u subscribes and unsubscribes; updates are counted, and stand in the log. A list that
// has changed is listed anew.
func TestSubscribe(t *testing.T) {
	d := driveFake(t, "features")
	var listed atomic.Int32
	t.Cleanup(d.bus.Subscribe(func(event exec.Event) {
		if e, ok := event.(wire.FrameSent); ok && strings.Contains(string(e.Bytes), `"resources/list"`) {
			listed.Add(1)
		}
	}))
	d.press("/", "text:test://text", "enter", "u")
	d.until("the update", func() bool {
		to := d.m.subscriptions.byName["fake__test://text"]
		return to != nil && to.stands && to.updates == 1
	})
	d.showsRow("      A text", "◉")
	d.shows("subscribed, 1 update", "subscribed to fake__test://text")
	d.until("the list anew", func() bool { return listed.Load() == 2 && !d.m.servers.listing() }) // its two pages
	d.press("u")
	d.until("the end", func() bool { return len(d.m.subscriptions.byName) == 0 })
	d.shows("unsubscribed from")
	d.press("4", "]", "]", "]")
	d.shows("notifications/resources/updated")
}

// A list that fails says so in its place, and what was there stays; what another
// session has listed meanwhile does not count.
func TestListFails(t *testing.T) {
	d := driveFake(t, "features")
	g, session := d.m.tree.groups[0], d.m.options.Pool.Session("fake")
	of := g.serverList(kindPrompt)
	of.reading = session
	d.run(d.m.servers.listed(g.server, of, listing{session: session, err: errors.New("too\x1b[2J tired")}))
	d.shows(`✗ prompts  too\x1b[2J tired`)
	if len(of.items) != 2 {
		t.Errorf("%d prompts are left", len(of.items))
	}
	d.press("G")
	for range 100 {
		if d.m.tree.selected().serverList == of {
			break
		}
		d.press("up")
	}
	d.shows("cannot be listed", "reason", "enter list")
	d.press("enter")
	d.until("the list again", func() bool { return of.reading == nil })
	d.showsRow("▸ prompts", " 2")
	of.reading = session
	d.run(d.m.servers.listed(g.server, of, listing{session: &protocol.Session{}}))
	if len(of.items) != 2 {
		t.Error("a stale list was taken")
	}
}

// Thousands of resources are shown, found and listed anew, each under a name of its own.
func TestManyResources(t *testing.T) {
	d := driveFake(t, "features")
	session := d.m.options.Pool.Session("fake")
	of := d.m.tree.groups[0].serverList(kindResource)
	var definitions []json.RawMessage
	for i := range 3000 {
		definitions = append(definitions, json.RawMessage(fmt.Sprintf(`{"uri":"file:///%d/index.md","name":"index.md"}`, i)))
	}
	of.reading = session
	items := itemsOf(kindResource, d.m.servers.list[0].config, definitions)
	d.run(d.m.servers.listed(d.m.servers.list[0], of, listing{session: session, items: items}))
	d.showsRow("▸ resources", " 3000")
	d.press("/", "text:2999 index", "enter")
	d.shows("      file:///2999/index.md")
	d.press("enter")
	if err := d.result().Err; err == nil || !strings.Contains(err.Error(), "Resource not found") {
		t.Errorf("the server says %v", err)
	}
}

// While an argument is typed the server's suggestions for it stand below the form, and
// ctrl+o takes one after the other; what is filled in elsewhere counts.
func TestSuggestions(t *testing.T) {
	d := driveFake(t, "features")
	suggests := func(words ...string) {
		t.Helper()
		d.until(fmt.Sprint(words),
			func() bool { return !d.m.suggested.completing && slices.Equal(d.m.suggested.values, words) })
	}
	d.press("/", "text:greet", "enter")
	suggests("Ada", "Alan", "Grace")
	d.shows("ctrl+o takes Ada  Alan  Grace")
	d.press("text:A")
	suggests("Ada", "Alan")
	d.press("ctrl+o", "ctrl+o")
	d.shows("Ada  [Alan]")
	d.click("ctrl+o takes")
	d.shows("[Ada]  Alan")
	d.click("ctrl+o takes")
	d.press("tab")
	suggests("plain")
	d.press("shift+tab", "ctrl+u")
	suggests("Ada", "Alan", "Grace")
	d.press("ctrl+o", "tab")
	suggests("plain", "formal")
	d.press("ctrl+o", "ctrl+o")
	if got, err := d.m.page.form.Arguments(); err != nil || string(got) != `{"name":"Ada","style":"formal"}` {
		t.Errorf("the form holds %s, %v", got, err)
	}
	d.press("esc", "1", "/", "text:item by its number", "enter", "text:1")
	suggests("1", "12")
	d.press("esc", "1")
	if d.shows("fake · item"); d.m.suggested.of != (completion{}) {
		t.Errorf("without the form there are suggestions for %+v", d.m.suggested.of)
	}
}

// At every size the frame fills the screen exactly, whatever is selected, with all that
// can stand at the end of its page.
func TestFramesOfFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what draws many screens")
	}
	d := library(t)
	for _, size := range [][2]int{{40, 12}, {41, 13}, {79, 24}, {80, 16}, {80, 20}, {120, 40}, {200, 60}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for i := range d.m.tree.rows {
			d.m.tree.list.Set(i, len(d.m.tree.rows))
			d.m.showSelected()
			if one := d.m.page.item; one.kind == kindResource {
				d.m.subscriptions.byName[one.Name] = &subscription{stands: true, updates: 2}
			}
			d.m.suggested.suggestions = suggestions{
				values: []string{"a\x1b[2J", strings.Repeat("long ", 50)}, failure: "",
			}
			for a := range areas {
				d.m.focus = a
				d.frame()
			}
			d.m.focus = areaTree
		}
	}
}

// What a server writes into its lists is shown, never obeyed.
func TestHostileFeatures(t *testing.T) {
	const evil = `\u001b[2J\u001b]0;owned\u0007\u202e\u009b2J`
	d := library(t)
	g := d.m.tree.groups[0]
	definitions := map[kind]string{
		kindResource: `{"uri":"x://E","name":"E","mimeType":"E","description":"E","annotations":{"audience":["E"],"lastModified":"E"}}`,
		kindTemplate: `{"uriTemplate":"x://E{a}","name":"E","description":"E"}`,
		kindPrompt:   `{"name":"E","title":"E","description":"E","arguments":[{"name":"E","description":"E"}]}`,
	}
	for _, of := range g.serverLists {
		definition := json.RawMessage(strings.ReplaceAll(definitions[of.kind], "E", evil))
		of.items, of.failure = itemsOf(of.kind, g.server.config, []json.RawMessage{definition}), "\x1b[2J\u202e"
	}
	d.m.relist()
	d.m.suggested.suggestions = suggestions{values: []string{"\x1b[2J"}, failure: ""}
	for i := range d.m.tree.rows {
		d.m.tree.list.Set(i, len(d.m.tree.rows))
		d.m.showSelected()
		for range 4 {
			screen := d.m.screen()
			for _, bad := range []string{"\x1b[2J", "\x1b]0;", "\u202e", "\u009b", "\x07"} {
				if strings.Contains(screen, bad) {
					t.Fatalf("%v: %q reached the screen", d.m.tree.selected(), bad)
				}
			}
			d.frame()
			if !d.m.page.item.none() {
				d.m.page.turn()
			}
		}
	}
}

// A server that is started anew is listed anew; what was subscribed to is not is no longer in the config,
// and says so.
func TestRestartListsAnew(t *testing.T) {
	d := driveFake(t, "features")
	d.press("/", "text:test://text", "enter", "u")
	d.until("the subscription", func() bool {
		to := d.m.subscriptions.byName["fake__test://text"]
		return to != nil && to.updates == 1 && !d.m.servers.listing()
	})
	of, before := d.m.tree.groups[0].serverList(kindResource), d.m.options.Pool.Session("fake")
	d.press("R")
	d.until("the lists", func() bool {
		session := d.m.options.Pool.Session("fake")
		return session != nil && session != before && len(d.m.subscriptions.byName) == 0 && of.reading == nil &&
			d.m.servers.list[0].status == statusReady
	})
	if d.shows("no more updates"); of.failure != "" || len(of.items) != 3 {
		t.Errorf("there are %d resources, %s", len(of.items), of.failure)
	}
}
