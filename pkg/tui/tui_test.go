package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/guard"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
	"toolx/pkg/tui/timeline"
)

const lampTool = `{"name":"lamp","title":"The lamp","description":"Switches **one** lamp.","annotations":{"idempotentHint":true},
"inputSchema":{"type":"object","properties":{"on":{"type":"boolean","description":"whether it shines"},"level":{"type":"integer","minimum":0,"maximum":100}},"required":["on"]}}`

func lamp(t *testing.T, does handler) *exec.Tool { return newTool(t, lampTool, does) }

// serverTool is a tool as a server has it.
func serverTool(t *testing.T, server, name string) *exec.Tool {
	tool := newTool(t, `{"name":"`+name+`","description":"does `+name+`","inputSchema":{"type":"object"}}`, says(name))
	tool.Server, tool.Name = server, server+"__"+name
	return tool
}

// A tool is found, filled in, called, and its result shown.
func TestCallFromTheForm(t *testing.T) {
	got := make(chan string, 1)
	d := drive(t, nil, lamp(t, func(_ context.Context, r exec.Request) (json.RawMessage, error) {
		got <- string(r.Arguments)
		return says("it shines")(nil, r)
	}))
	d.press("down")
	d.shows("lamp", "on*", "level")
	d.press("ctrl+r")
	d.shows("on") // and it says why it cannot be called
	if d.m.calls.shown != nil {
		t.Fatal("it was called without its required parameter")
	}
	d.press("space", "ctrl+r") // and went to what is missing
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	d.shows("it shines")
	if arguments := <-got; arguments != `{"on":true}` {
		t.Errorf("sent %s", arguments)
	}
}

// Words that are typed on a switch or a choice run no commands; behind esc letters do.
func TestWordsOnAChoice(t *testing.T) {
	d := drive(t, []string{"zwave"}, newTool(t, `{"name":"paint","inputSchema":{"type":"object","properties":{
		"color":{"enum":["red","blue"]},"wet":{"type":"boolean"},"coats":{"type":"array","items":{"type":"string"}}}}}`, says("")))
	d.m.updateEvents(feed.Msg{Events: []exec.Event{servers.Connected{Head: wire.Head{At: noon(), Server: "zwave"}}}})
	d.press("j", "j", "enter")
	for range 3 {
		d.press("text:restart quit erase zoom 1234 /?<>", "tab")
		if d.m.focus != areaPage || d.m.dialog != nil || d.m.zoomed || d.m.servers.list[0].status != statusReady {
			t.Fatalf("a word was a command:\n%s", d.frame())
		}
	}
	d.press("shift+tab", "shift+tab", "shift+tab")
	d.shows("f1 help", "letters choose")
	d.press("f1")
	d.shows("letters", "stop typing")
	d.press("esc", "esc", "z")
	if !d.m.zoomed {
		t.Error("behind esc, z is no command")
	}
}

// Groups in a form can be left in both directions: left leads to the group around, esc to the tools. In the tools, esc
// says that there is nothing to leave.
func TestWaysOutOfGroups(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"nest","inputSchema":{"type":"object","properties":{
		"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string"}}}}}}}}`, says("")))
	d.press("down", "enter", "text:quit", "enter", "down", "enter")
	d.shows("a.b: object", "enter close", "esc back")
	d.press("down", "esc")
	d.shows("a.b.c: text", "left out")
	d.press("left")
	d.shows("a.b: object")
	d.press("esc")
	if d.m.focus != areaTree {
		t.Errorf("esc stays in the form:\n%s", d.frame())
	}
	d.press("esc")
	d.shows("there is nothing to leave; q quits")
}

// A result is saved to the path that is typed. If that fails, the dialog says why and keeps what was typed.
func TestSaveAResult(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"talk","inputSchema":{"type":"object"}}`, says("words")))
	t.Chdir(t.TempDir())
	wait := func(text string) {
		t.Helper()
		d.until(text, func() bool { return strings.Contains(d.frame(), text) })
	}
	d.press("down", "ctrl+r", "3")
	d.until("the end", func() bool { return !d.m.calls.shown.running() })
	d.press("s")
	d.shows("save as", "> talk.txt")
	d.press("esc", "s", "text:x", "enter")
	wait("saved talk.txtx")
	d.press("s", "text:x", "enter")
	wait("talk.txtx already exists; choose another name")
	d.shows("save as", "> talk.txtx")
	d.press("text:2", "enter")
	wait("saved talk.txtx2")
	if saved, err := os.ReadFile("talk.txtx2"); string(saved) != "words" {
		t.Errorf("%q, %v", saved, err)
	}
}

// A call is cancelled by one key, and says so; the interface goes on.
func TestCancel(t *testing.T) {
	begun := make(chan bool, 1)
	d := drive(t, nil, newTool(t, `{"name":"slow","inputSchema":{"type":"object"}}`, func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
		r.Progress(exec.Progress{Progress: 3, Total: 10, Message: "a third"})
		begun <- true
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	d.press("down", "ctrl+r")
	<-begun
	d.until("the progress", func() bool { return d.m.calls.shown.progress.Total == 10 })
	d.shows("30 %", "a third", "x cancels")
	d.press("q")
	d.shows("quit?", "A call is running.")
	d.press("esc", "x")
	d.until("the end", func() bool { return !d.m.calls.shown.running() })
	d.shows("[! #1", "cancelled]")
}

// A call that runs as a task shows the state of it; the numbers that the tool reports stay beside it.
func TestTaskState(t *testing.T) {
	reported := make(chan exec.Progress)
	d := drive(t, nil, newTool(t, `{"name":"slow","inputSchema":{"type":"object"}}`, func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
		for {
			select {
			case p := <-reported:
				r.Progress(p)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}))
	d.press("down", "ctrl+r")
	report := func(p exec.Progress, text string) {
		t.Helper()
		reported <- p
		d.until("the report", func() bool { return d.m.calls.shown.progress.Text() == text })
		d.shows(text)
	}
	report(exec.Progress{Status: "working"}, "working")
	if strings.Contains(d.frame(), " done") {
		t.Errorf("a state is shown as a number:\n%s", d.frame())
	}
	report(exec.Progress{Status: "working", Message: "two sources left"}, "working: two sources left")
	report(exec.Progress{Progress: 3, Total: 10, Message: "reading"}, "working: reading")
	d.shows("30 %")
	report(exec.Progress{Status: "input_required"}, "input_required")
	d.shows("30 %", "x cancels")
	d.press("x")
	d.until("the end", func() bool { return !d.m.calls.shown.running() })
}

// What was typed stays, with the cursor, when a server lists its tools anew; half
// typed as well, and also where the schema has changed.
func TestFormsOutliveTheirTools(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}%s}}`
	tool := func(more string) *exec.Tool {
		return newTool(t, fmt.Sprintf(`{"name":"t","inputSchema":`+schema+`}`, more), says(""))
	}
	d := drive(t, nil, tool(""))
	d.press("down", "enter", "text:abc", "tab", "text:-")
	renew := func(more string) {
		d.m.options.Executor.Registry.Register(tool(more))
		d.m.setTools()
	}
	renew("")
	d.press("text:12")
	d.shows("abc", "-12")
	renew(`,"z":{"type":"boolean"}`)
	d.shows("abc", "-12", "z")
	d.press("ctrl+r")
	if got := string(d.m.calls.shown.arguments); got != `{"a":"abc","n":-12}` {
		t.Errorf("sent %s", got)
	}
}

// Of several calls each can be shown, and cancelled.
func TestSeveralCalls(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"slow","inputSchema":{"type":"object"}}`, func(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	d.press("down", "ctrl+r", "ctrl+r")
	d.shows("[⠋ #2")
	d.press("<")
	d.shows("[⠋ #1")
	first := d.m.calls.shown
	d.press("x")
	d.until("the end of the first", func() bool { return !first.running() })
	if d.m.calls.list[1].result != nil {
		t.Error("the second ended as well")
	}
	d.press(">", "x")
	d.until("the end of the second", func() bool { return len(d.m.calls.running()) == 0 })
}

// Who does not run a destructive call again is where the key was pressed, and not in a
// form that takes what is typed next.
func TestDestructiveAgain(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"wipe","inputSchema":{"type":"object","properties":{"what":{"type":"string"}}},"annotations":{"destructiveHint":true}}`, says("gone")))
	for _, no := range []string{"n", "esc"} {
		d.press("4")
		d.send(timeline.RerunMsg{Request: timeline.Request{Tool: "wipe", Arguments: json.RawMessage(`{"what":"all"}`)}})
		d.shows("call wipe?", "all")
		d.press(no)
		if d.m.dialog != nil || d.m.focus != areaTimeline || d.m.calls.shown != nil {
			t.Errorf("%s leads to pane %s", no, d.m.focus)
		}
	}
}

// A tool that destroys things asks first.
func TestDestructiveAsks(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`, says("gone")))
	d.press("down", "ctrl+r")
	d.shows("call wipe?")
	d.press("n")
	if d.m.calls.shown != nil {
		t.Fatal("it was called")
	}
	d.press("ctrl+r", "y")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	d.shows("gone")
}

// The tree tells how each server stands, live.
func TestServerStates(t *testing.T) {
	d := drive(t, []string{"zwave", "gone", "late"}, serverTool(t, "zwave", "dim"))
	d.m.options.Examine = nil
	at := exec.Time{At: noon()}
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		wire.ProcessStarted{Head: wire.Head{At: at.At, Server: "zwave"}, PID: 7, Command: []string{"node", "zwave.js"}},
		wire.PollutedLine{Head: wire.Head{At: at.At, Server: "zwave"}, Class: wire.ClassText, Text: []byte("hello")},
		servers.Connected{Head: wire.Head{At: at.At, Server: "zwave"}, Protocol: "2025-11-25", Timing: exec.Timing{StartMS: 5, InitializeMS: 70, ListMS: 10}},
		servers.ConnectFailed{Head: wire.Head{At: at.At, Server: "gone"}, Err: &servers.ConnectError{
			Server: "gone", Attempts: 1, Last: errors.New("command not found: gone"), Advice: "install the thing",
		}},
		servers.Retry{Head: wire.Head{At: at.At, Server: "late"}, Attempt: 1, Of: 3, Delay: 2 * time.Second},
	}})
	d.showsRow("▾ zwave", "!1 1")
	d.showsRow("✗ gone", "failed")
	d.shows("1 ok · 1 ✗", "attempt 2 of 3 in")
	d.press("g")
	d.shows("server gone", "found: gone", "install the thing")
	d.m.options.Hide = func(text string) string { return strings.ReplaceAll(text, "gone", "***") }
	d.shows("found: ***")
	d.m.updateEvents(feed.Msg{
		Events: []exec.Event{wire.ProcessExited{Head: wire.Head{At: at.At, Server: "zwave"}, How: "exit status 3"}},
	})
	d.showsRow("✗ zwave", "exit status 3")
}

// A start says how long it may take, which attempt it is, and whether it is being fetched; its limit does not end it. A
// server that has failed shows its cause, its last words, and what the doctor finds, unasked.
func TestPageOfAStart(t *testing.T) {
	d := drive(t, []string{"late"})
	d.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	clock := noon()
	d.m.now = func() time.Time { return clock }
	d.m.options.Fetching = func(int) string { return "npx" }
	examined := 0
	d.m.options.Examine = func(context.Context, string) (*doctor.Report, error) {
		examined++
		return nil, errors.New("the doctor is out")
	}
	take := func(events ...exec.Event) { d.send(feed.Msg{Events: events}) }
	at := exec.Time{At: noon()}
	take(servers.Attempt{Head: wire.Head{At: at.At, Server: "late"}, Attempt: 2, Of: 3, Limit: 30 * time.Second},
		wire.ProcessStarted{Head: wire.Head{At: at.At, Server: "late"}, PID: 7})
	clock = noon().Add(19900 * time.Millisecond)
	d.send(tickMsg{})
	d.until("the launcher", func() bool { return d.m.servers.list[0].launcher == "npx" })
	d.shows("19/30 s", "starting 19.9 / 30 s, attempt 2 of 3, npx may be downloading")
	clock = noon().Add(31 * time.Second)
	d.shows("⠋ late  31.0 s", "starting 31.0 / 30 s")
	d.press("X")
	d.shows("npx is still downloading it")
	d.press("n")
	failure := &diagnose.Failure{
		Server: "late", Ending: diagnose.EndingExited, How: "exit status 1",
		StderrTail: []string{"connecting", "Error: DATABASE_URL is not set"}, Stdout: []string{"hello \x1b[2J"},
	}
	failed := servers.ConnectFailed{
		Head: wire.Head{At: at.At, Server: "late"}, Err: &servers.ConnectError{Server: "late", Last: failure},
	}
	take(failed)
	d.until("the doctor", func() bool { return d.m.servers.list[0].diagnosis.err != nil })
	d.shows("✗ late  DATABASE_URL is not", "✗ DATABASE_URL is not set", "connecting", "hello", "the doctor is out")
	d.send(tickMsg{})
	if examined != 1 {
		t.Errorf("the doctor was asked %d times", examined)
	}
}

// What the doctor finds is on the server's page, one line each; unfolded it is as the command line shows it: where it
// is, what was seen, how to mend it.
func TestDoctorsFindings(t *testing.T) {
	d := drive(t, []string{"zwave"})
	d.m.options.Examine = func(context.Context, string) (*doctor.Report, error) {
		return &doctor.Report{Findings: []check.Finding{{
			ID: "text-control", Severity: check.Error, Server: "zwave", Title: "a text has\x1b[2J control characters",
			Where: &evidence.Where{Tool: "dim", Pointer: "/description"}, Evidence: "token=hunter2 \x1b[31m",
			Fix: []string{"send plain text"},
		}}, Servers: []doctor.ServerReport{{Name: "zwave", Status: "ready"}}}, nil
	}
	d.m.options.Hide = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	d.press("d")
	d.shows("examining 0 ms")
	d.until("a finding", func() bool { return d.m.servers.list[0].diagnosis.report != nil })
	d.shows(`✗ a text has\x1b[2J control characters`, "text-control")
	if strings.Contains(d.frame(), "send plain text") {
		t.Errorf("the finding is not folded:\n%s", d.frame())
	}
	d.press("d")
	d.shows(`a text has\x1b[2J control characters`, "text-control", "tool dim", "/description", `token=*** \x1b[31m`, "send plain text")
}

// The help on keys is paged through, marks what it does not show, and tells of no key
// that something else takes.
func TestHelpOnKeys(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`, says("")))
	d.send(tea.WindowSizeMsg{Width: 40, Height: 12})
	d.press("down", "enter", "f1")
	d.shows("more lines", "stop typing")
	if strings.Contains(d.frame(), "f1 help") {
		t.Error("the last line tells keys that do not work now")
	}
	d.press("end")
	d.shows("lines above", "all actions")
	d.press("pgup")
	d.shows("lines above", "more lines")
	d.press("g", "esc")
	d.send(tea.WindowSizeMsg{Width: 100, Height: 70})
	d.press("f1")
	d.shows("tab                next field", "ctrl+k             all actions")
	if strings.Contains(d.frame(), "next pane") {
		t.Errorf("tab is told of twice:\n%s", d.frame())
	}
}

// ctrl+c quits from anywhere; while a call runs it asks, and the second one quits.
func TestImpatientQuit(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"slow","inputSchema":{"type":"object"}}`, func(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	d.press("?")
	if cmd := d.m.update(keyOf("ctrl+c")); !quits(cmd) {
		t.Error("ctrl+c does not quit from the help")
	}
	d.press("down", "ctrl+r", "ctrl+c")
	d.shows("y, enter, ctrl+c quit   n no   esc close")
	if cmd := d.m.update(keyOf("ctrl+c")); !quits(cmd) {
		t.Error("the second ctrl+c does not quit")
	}
}

// quits reports whether a command ends the interface.
func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		return slices.ContainsFunc(msg, quits)
	}
	return false
}

// TestKeysOfTheShownCall shows a result only beside the tool that was called. In the result's pane, keys are about the
// call on the screen, even if the form has other values by now.
func TestKeysOfTheShownCall(t *testing.T) {
	tool := func(name string) *exec.Tool {
		return newTool(t, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"v":{"type":"string"}}}}`, says("from "+name))
	}
	d := drive(t, nil, tool("one"), tool("two"))
	ended := func() bool { return len(d.m.calls.running()) == 0 }
	copies := func(wanted, values string) {
		t.Helper()
		if one, arguments, err := d.m.copy.subject(); err != nil || one.Name != wanted || string(arguments) != values {
			t.Errorf("copies %s %s, %v", one.Name, arguments, err)
		}
	}
	d.press("down", "enter", "text:1", "ctrl+r")
	d.until("the first result", ended)
	d.press("1", "down", "enter", "text:2", "esc", "3")
	d.shows("no calls yet")
	copies("two", `{"v":"2"}`)
	d.press("1", "up")
	d.shows("from one", "[#1")
	d.press("enter", "text:3", "esc")
	d.shows("[new]")
	copies("one", `{"v":"3"}`)
	d.press("3")
	copies("one", `{"v":"1"}`)
	d.press("r")
	d.until("the second result", func() bool { return len(d.m.calls.list) == 2 && ended() })
	if c := d.m.calls.list[1]; c.name != "one" || string(c.arguments) != `{"v":"1"}` {
		t.Errorf("called %s %s", c.name, c.arguments)
	}
	d.press("ctrl+r")
	d.until("the third result", func() bool { return len(d.m.calls.list) == 3 && ended() })
	if c := d.m.calls.list[2]; string(c.arguments) != `{"v":"3"}` {
		t.Errorf("called with %s", c.arguments)
	}
}

// From a result, F shows what happened during the call, on every tab, until esc.
func TestFollowACall(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "dim"))
	line := func(at time.Time, text string) exec.Event {
		return wire.StderrLine{Head: wire.Head{At: at, Server: "zwave"}, Text: text}
	}
	d.press("/", "text:dim", "ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		line(noon().Add(-time.Second), "before it"), line(noon(), "during it"),
		line(noon().Add(time.Second), "after it"),
	}})
	d.press("4")
	d.shows("during it", "4 during dim")
	if frame := d.frame(); strings.Contains(frame, "before it") || strings.Contains(frame, "after it") {
		t.Errorf("more than the call is shown:\n%s", frame)
	}
	d.press("A")
	d.shows("before it", "after it", "4 timeline of zwave")
}

// Enter goes on: it calls a tool without parameters, and calls from the last field of a valid form. JSON that is pasted
// fills the form. After esc from a result letters are commands, and alt with a number goes to a pane at any time.
func TestEnterMeansGo(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"now","inputSchema":{"type":"object"}}`, says("noon")),
		newTool(t, `{"name":"sum","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"},"b":{"type":"boolean"}}}}`, says("three")))
	called := func(n int, arguments string) {
		t.Helper()
		d.until("the result", func() bool { return len(d.m.calls.list) == n && !d.m.calls.shown.running() })
		if got := string(d.m.calls.shown.arguments); got != arguments {
			t.Errorf("called with %s, want %s", got, arguments)
		}
	}
	d.press("/", "text:now", "ctrl+r")
	called(1, "{}")
	d.press("1", "home", "down", "down", "enter", "enter", "enter")
	if len(d.m.calls.list) != 1 {
		t.Fatal("it was called without its required parameter")
	}
	d.press("shift+tab")
	d.send(tea.PasteMsg{Content: `{"a": 1, "b": false}`})
	d.press("tab", "enter")
	called(2, `{"a":1,"b":false}`)
	d.press("esc", "z")
	if !d.m.zoomed || d.m.focus != areaPage {
		t.Error("after esc from a result, z is no command")
	}
	d.press("z", "enter")
	d.send(tea.KeyPressMsg{Code: '1', Mod: tea.ModAlt})
	if d.m.focus != areaTree {
		t.Error("alt+1 does not go to the tools")
	}
}

// esc leads back step by step; in the tree there is nothing to leave, which it says.
func TestBack(t *testing.T) {
	dim := newTool(t, `{"name":"dim","inputSchema":{"type":"object","properties":{"by":{"type":"integer"}}}}`, says("dim"))
	dim.Server, dim.Name = "zwave", "zwave__dim"
	d := drive(t, []string{"zwave"}, dim, serverTool(t, "zwave", "list"))
	d.press("/", "text:dim", "enter", "esc")
	d.shows("esc back", "    list ", "zwave · dim")
	d.press("esc")
	d.press("esc")
	d.shows("there is nothing to leave; q quits")
	if d.m.tree.selected().item.Plain != "dim" {
		t.Error("the cursor moved")
	}
}

// Of many servers one key leaves the heads, one shows everything again.
func TestCloseAllGroups(t *testing.T) {
	d := drive(t, []string{"zwave", "mail"}, serverTool(t, "zwave", "dim"), serverTool(t, "mail", "send"))
	d.press("j", "-")
	frame := d.frame()
	if strings.Contains(frame, "    dim") || strings.Contains(frame, "    send") ||
		d.m.tree.selected().group.server.name != "zwave" {
		t.Errorf("not all is closed, or the cursor left its group:\n%s", frame)
	}
	d.press("+")
	d.shows("    dim", "    send")
}

// A note gives its place back to the hints with the next key, once there was time to read
// it.
func TestNotesFade(t *testing.T) {
	d := drive(t, nil, lamp(t, says("")))
	pass := d.clock()
	d.press("c")
	d.shows("copy the result: there is no result")
	d.press("j")
	d.shows("copy the result: there is no result")
	pass(readTime)
	d.press("k")
	d.shows("? help")
}

// The command line of an earlier call is copied from the history, whatever is selected.
func TestCopyFromHistory(t *testing.T) {
	d := drive(t, nil, lamp(t, says("")))
	copies := func(msg timeline.CommandMsg, want string) {
		t.Helper()
		var set tea.Msg
		for _, cmd := range d.m.take(msg)().(tea.BatchMsg) {
			if cmd != nil && set == nil {
				set = cmd()
			}
		}
		if got := fmt.Sprint(set); got != want {
			t.Errorf("copies %q, want %q", got, want)
		}
	}
	copies(timeline.CommandMsg{Request: timeline.Request{Tool: "lamp", Arguments: json.RawMessage(`{"on":true}`)}}, "toolx call lamp --arg on=true")
	d.send(timeline.CommandMsg{Request: timeline.Request{Tool: "gone", Arguments: json.RawMessage(`{}`)}})
	d.shows("Tool 'gone' not found")
}

// Of a call that was shortened only the name is taken: what the form holds is not replaced.
func TestEditingAShortenedCall(t *testing.T) {
	d := drive(t, nil, lamp(t, says("")))
	d.press("down", "enter", "space")
	before, err := d.m.page.arguments()
	if err != nil || string(before) == "{}" {
		t.Fatalf("%s, %v", before, err)
	}
	d.press("esc", "esc")
	d.send(timeline.EditMsg{Request: timeline.Request{Tool: "lamp"}, Note: "not all arguments were kept"})
	d.shows("not all arguments were kept")
	if after, err := d.m.page.arguments(); err != nil || string(after) != string(before) || d.m.dialog != nil {
		t.Errorf("%s became %s, %v", before, after, err)
	}
}

// A call of a server whose program is another by now is made, and said to be of the old one.
func TestCallOfAnOldProgram(t *testing.T) {
	script := filepath.Join(t.TempDir(), "server.py")
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "dim"))
	d.run(d.m.updateEvents(feed.Msg{Events: []exec.Event{
		wire.ProcessStarted{Head: wire.Head{At: noon(), Server: "zwave"}, PID: 7, Command: []string{"python", script}},
		servers.Connected{Head: wire.Head{At: noon(), Server: "zwave"}},
	}}))
	d.until("the files", func() bool { return len(d.m.servers.list[0].files) > 0 })
	if path := stale(d.m.servers.list[0].files); path != "" {
		t.Errorf("%s is said to have changed", path)
	}
	d.press("down")
	write("new and longer")
	d.press("ctrl+r")
	d.until("the note", func() bool {
		return strings.Contains(d.m.note.text, "server.py has changed since server zwave")
	})
}

// While a filter is typed every letter is text, also where no row fits, and enter ends it.
func TestTypingAFilterOfWhatIsWatched(t *testing.T) {
	d := drive(t, []string{"zwave"})
	for range 4 { // timing has none
		d.press("4", "&", "text:nNXv AWf ]")
		d.shows("filter: nNXv AWf ]")
		d.press("enter")
		if d.m.focused().Editing() || strings.Contains(d.frame(), "no rows") {
			t.Fatalf("enter does not end the filter:\n%s", d.frame())
		}
		d.press("esc", "]")
	}
}

// A remote server's page says where it is, and which headers it gets, not what is in them.
func TestRemoteServersPage(t *testing.T) {
	d := drive(t, []string{"far"})
	d.m.servers.list[0].config.Command = ""
	d.m.servers.list[0].config.URL = "https://far.example/mcp"
	d.m.servers.list[0].config.Headers = map[string]string{"X-Key": "hunter2", "Authorization": "Bearer x"}
	d.shows("url           https://far.example/mcp", "headers       Authorization, X-Key")
	if strings.Contains(d.frame(), "hunter2") {
		t.Error("a header's value is shown")
	}
}

// A server that lives on after it closed its stdout is shown as ended; what its process
// does later changes nothing, and it can still be stopped.
func TestLostServer(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "dim"))
	zwave := wire.Head{At: noon(), Server: "zwave"}
	take := func(events ...exec.Event) { d.m.updateEvents(feed.Msg{Events: events}) }
	take(wire.ProcessStarted{Head: zwave, PID: 7}, servers.Connected{Head: zwave})
	take(protocol.SessionLost{
		Head: zwave, Why: &diagnose.Failure{Server: "zwave", Ending: diagnose.EndingClosedStdout},
	})
	d.shows("✗ zwave  closed its stdout", "7", "R restart the server")
	take(wire.ProcessExited{Head: zwave, How: "exit status 0"})
	d.shows("✗ zwave  closed its stdout")

	take(wire.ProcessStarted{Head: zwave, PID: 8}, servers.Connected{Head: zwave})
	take(protocol.SessionLost{
		Head: zwave, Why: &diagnose.Failure{Server: "zwave", Ending: diagnose.EndingClosedStdin},
	})
	d.press("X")
	d.shows("stop server zwave?")
	d.press("y")
	d.until("its end", func() bool { return d.m.servers.list[0].status == statusStopped })
	d.shows("○ zwave  stopped")
}

// What a server writes is shown, never obeyed.
func TestHostileTool(t *testing.T) {
	d := drive(t, []string{"bad\x1b]0;owned\x07"}, newTool(t,
		`{"name":"x\u001b[2J","description":"\u001b[31mred\u202e \u001b]52;c;AAAA\u0007","inputSchema":{"type":"object","properties":{"\u001b[H":{"type":"string","description":"\u009b2J"}}}}`,
		says("\x1b[2J\x1b]0;x\x07 \u202e")))
	d.press("down", "down", "ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	for _, tab := range []string{"form", "about", "json"} {
		screen := d.m.screen()
		for _, bad := range []string{"\x1b[2J", "\x1b]0;", "\x1b]52", "\x1b[H", "\u202e", "\u009b", "\x07"} {
			if strings.Contains(screen, bad) {
				t.Errorf("%s: %q reached the screen", tab, bad)
			}
		}
		d.frame()
		d.press("ctrl+t")
	}
}

// At every size the frame fills the screen exactly, whatever has the focus.
func TestFrames(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "dim"), lamp(t, says("it shines")))
	d.press("G", "ctrl+r")
	for _, size := range [][2]int{{40, 12}, {41, 13}, {79, 24}, {80, 24}, {120, 40}, {200, 60}, {20, 5}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for range areas {
			d.press("ctrl+t")
			d.frame()
			d.m.moveFocus(1)
		}
		d.press("f1")
		d.frame()
		d.press("esc", "z")
		d.frame()
		d.press("z")
	}
}

// Cells are counted as Bubble Tea draws them: signs of several characters are one only
// where the terminal says that it knows them (mode 2027).
func TestClusters(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"t","description":"x","inputSchema":{"type":"object","properties":{"👩\u200d💻":{"type":"string"}}}}`, says("")))
	d.press("down")
	d.shows("👩💻")
	d.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset},
		tea.BackgroundColorMsg{Color: color.Black})
	d.shows("👩\u200d💻")
	d.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeNotRecognized})
	d.shows("👩💻")
}

// A built-in tool is not gone to while a server is yet to come up that may have a tool of
// its name: the server's is the one that is meant.
func TestWantedToolBesideABuiltInOne(t *testing.T) {
	own := newTool(t, `{"name":"echo"}`, says("own"))
	own.BuiltIn = true
	d := drive(t, []string{"zwave"}, own)
	server := d.m.servers.server("zwave")
	server.become(statusStarting, noon())
	d.m.wanted = &Start{Tool: "echo", Fill: func(*exec.Tool) (json.RawMessage, error) { return nil, nil }}
	d.m.setTools()
	if d.m.wanted == nil {
		t.Fatalf("%s is shown while the server starts", d.m.page.item.Name)
	}
	its := newTool(t, `{"name":"echo"}`, says("its"))
	its.Name, its.Server, its.Type = "zwave__echo", "zwave", exec.TypeMCP
	d.m.options.Executor.Registry.Register(its)
	server.become(statusReady, noon())
	d.m.setTools()
	if d.m.wanted != nil || d.m.page.item.Name != "zwave__echo" {
		t.Errorf("%q is shown", d.m.page.item.Name)
	}
}

// A tool that its guards deny is not there, and one that they want confirmed asks, though it says nothing of itself.
func TestGuards(t *testing.T) {
	rm, write, read := serverTool(t, "files", "rm"), serverTool(t, "files", "write"), serverTool(t, "files", "read")
	guards := guard.Guards{{
		Deny: []string{"rm"}, Confirm: guard.Destructive,
		Where: map[string]string{"deny": "toolx.yaml:4:5", "confirm": "toolx.yaml:5:14"},
	}}
	says := true
	read.Annotations.ReadOnlyHint = &says
	for _, tool := range []*exec.Tool{rm, write, read} {
		tool.Guards = guards
	}
	d := drive(t, []string{"files"}, rm, write, read)
	d.shows("write", "read")
	for _, g := range d.m.tree.groups {
		if slices.ContainsFunc(g.tools, func(one item) bool { return one.Plain == "rm" }) {
			t.Error("the tree has a denied tool")
		}
	}
	d.press("down", "down", "ctrl+r")
	d.shows("call files__write?", "needs confirmation: it is not marked", "toolx.yaml:5:14")
}

// sharedPool is a pool whose servers are shared with other processes.
type sharedPool struct {
	openPool
	refuses error
	calls   chan string
}

func (p *sharedPool) Renew(_ context.Context, name string) error {
	p.calls <- "renew " + name
	return p.refuses
}

func (p *sharedPool) Open(_ context.Context, name string) (*protocol.Session, error) {
	p.calls <- "open " + name
	return nil, nil
}

// TestRestartShared: a server that other commands share is restarted for all, but only after a question.
func TestRestartShared(t *testing.T) {
	d := drive(t, []string{"warm"})
	pool := &sharedPool{calls: make(chan string, 10)}
	d.m.options.Pool = pool
	d.m.updateEvents(feed.Msg{Events: []exec.Event{
		servers.Connected{Head: wire.Head{At: noon(), Server: "warm"}, Attached: &wire.Attached{Reused: true}},
	}})
	d.server("warm")
	d.press("R")
	d.shows("restart server warm for all?", "Other commands share it")
	d.press("n")
	if len(pool.calls) != 0 {
		t.Fatalf("without a yes: %s", <-pool.calls)
	}
	d.press("R", "y")
	d.until("the server is opened again", func() bool { return len(pool.calls) == 2 })
	if renewed, opened := <-pool.calls, <-pool.calls; renewed != "renew warm" || opened != "open warm" {
		t.Errorf("%s, then %s", renewed, opened)
	}
	d.m.servers.list[0].become(statusReady, noon())
	pool.refuses = errors.New("it has variables that are not kept")
	d.press("R", "y")
	d.until("the refusal", func() bool { return strings.Contains(d.frame(), "not kept") })
	if d.m.servers.list[0].status != statusReady || len(pool.calls) != 1 {
		t.Errorf("a server that goes on is %v, %d calls", d.m.servers.list[0].status, len(pool.calls))
	}
}

// TestToolsOfTheConfig shows the tools of the config beside those of servers, and folds away what toolx brings.
func TestToolsOfTheConfig(t *testing.T) {
	own := newTool(t, `{"name":"math"}`, says("4"))
	own.BuiltIn = true
	d := drive(t, []string{"s"}, serverTool(t, "s", "alpha"), newTool(t, `{"name":"mocked"}`, says("x")), own)
	d.shows("    alpha", "▾ config", "    mocked", "▸ toolx", "2 tools")
	if strings.Contains(d.frame(), "    math") {
		t.Errorf("toolx's own tools are shown:\n%s", d.frame())
	}
}

// Forms are kept only where something was filled in, however many tools were shown: tools that have other names in each
// list, with the finder open or with the tool on the screen, and those that are scrolled past.
func TestFormsThatAreKept(t *testing.T) {
	tools := func(t *testing.T, version int) (list []*exec.Tool) {
		for i := range 20 {
			name := fmt.Sprintf("lamp%02d_v%d", i, version)
			tool := newTool(t, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, says(name))
			tool.Server, tool.Name = "zwave", "zwave__"+name
			list = append(list, tool)
		}
		return list
	}
	for _, test := range []struct {
		name string
		keys []string // before the lists change
		kept int      // forms in which something is filled in
	}{
		{"the finder is open", []string{"/", "text:lamp1"}, 0},
		{"a tool is on the screen", []string{"down", "enter", "esc"}, 0},
		{"many are scrolled past", slices.Repeat([]string{"down"}, 19), 0},
		{
			"two were filled in",
			[]string{"down", "enter", "text:a", "esc", "1", "down", "enter", "text:b", "esc", "1", "down"},
			2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := drive(t, []string{"zwave"}, tools(t, 0)...)
			d.press(test.keys...)
			for version := range 50 {
				d.m.options.Executor.Registry.ReplaceServer("zwave", tools(t, version+1)...)
				d.m.setTools()
				if got := len(d.m.page.typed); got < test.kept || got > test.kept+1 { // that on the screen
					t.Fatalf("after %d lists %d forms are kept, want %d\n%s", version, got, test.kept, d.frame())
				}
			}
		})
	}
}
