package tui

import (
	"slices"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// meanings are the letters that are commands, with all that they may do: one thing, in each place where it can be done.
var meanings = map[string][]string{
	"A": {"show this call, its server, or all servers"},
	"D": {"mark the differences from the previous call"},
	"G": {"last", "last field", "newest, and follow"},
	"N": {"previous match"},
	"P": {"copy the JSON pointer"},
	"R": {"restart the server"},
	"S": {"save what is shown to a file"},
	"T": {"set a time limit"},
	"V": {"copy the value"},
	"W": {"show or hide the timeline"},
	"X": {"stop the server"},
	"Y": {"copy as JSON-RPC request"},
	"a": {"add a server"},
	"c": {"copy the result", "copy the row", "copy the text"},
	"d": {"run the doctor"},
	"e": {"edit in $EDITOR", "edit its entry in $EDITOR"},
	"f": {"follow, or stop"},
	"g": {"first", "first field", "oldest"},
	"h": {"close the group", "close, or go to the parent", "columns to the left", "previous filter"},
	"j": {"down", "next row, without typing"},
	"k": {"up", "previous row, without typing"},
	"l": {"open the group, or go to its page", "open", "columns to the right", "next of all, wire, stderr, log, calls"},
	"m": {"as it came", "as Markdown"},
	"n": {"next match"},
	"o": {"open in $PAGER", "open its log in $PAGER"},
	"p": {"copy the path for jq"},
	"q": {"quit"},
	"r": {"call again"},
	"s": {"save to a file", "save images and other binary content"},
	"t": {"as a table", "as a tree"},
	"u": {"subscribe to updates", "unsubscribe"},
	"v": {"next view of the result"},
	"w": {"restart on save", "also repeat the last call", "stop restarting"},
	"x": {"cancel the call"},
	"y": {"copy as toolx command", "copy the row", "copy the text"},
	"z": {"zoom this pane, or restore it"},
	"=": {"compare the others with this call"},
	"/": {"find", "search"},
	"?": {"help"},
	"!": {"next failed server"},
	"&": {"filter by text"},
	"+": {"open every group", "open everything below"},
	"-": {"close every group", "close everything"},
	"<": {"previous call"},
	"{": {"make this pane smaller"},
	"}": {"make this pane larger"},
	">": {"next call"},
}

// TestOneLetterMeansOneThing goes through panes, pages and views, and looks at what each letter does there.
func TestOneLetterMeansOneThing(t *testing.T) {
	d := house(t)
	at := exec.Time{At: noon()}
	d.send(eventsMsg{events: []exec.Event{
		wire.NewFrameReceived(at.At, "zwave", 1, []byte(`{"method":"notifications/message","params":{"data":1}}`)),
		exec.CallFinished{Time: at, ID: "x", Result: &exec.Result{
			ToolName: "zwave__x", Server: "zwave", Success: true, Duration: time.Second,
		}},
	}})
	used := make(map[string]bool)
	look := func(where string) {
		t.Helper()
		if d.m.focused().editing() {
			return
		}
		for _, binding := range slices.Concat(d.m.focused().bindings(), d.m.common()) {
			for _, key := range binding.Keys {
				if used[key] = true; len(key) == 1 && (key < "0" || key > "9") && key != "[" && key != "]" &&
					!slices.Contains(meanings[key], binding.Help) {
					t.Errorf("%s: %s means %q", where, key, binding.Help)
				}
			}
		}
	}
	look("a server")
	d.press("j", "enter", "text:Switch One", "tab", "space")
	d.press("ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	look("a result as a tree")
	d.press("v")
	look("its next view")
	d.press("esc")
	look("a form")
	for range 4 {
		d.press("ctrl+t")
		look("a tab of a tool's page")
	}
	d.press("alt+4", "A")
	for range 5 {
		look("what is watched")
		d.press("enter")
		look("an opened row")
		d.press("esc", "]")
	}
	f := driveFake(t, "features")
	d = f
	for _, name := range []string{"test://text", "test://image", "prompt"} {
		d.press("/", "text:"+name, "enter")
		look(name)
		d.press("ctrl+r")
		d.until("the result", func() bool { return len(d.m.calls.list) == 0 || len(d.m.calls.running()) == 0 })
		look("the result of " + name)
	}
	for key := range meanings {
		if !used[key] {
			t.Errorf("%s is never bound", key)
		}
	}
}
