package tui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// synonyms are the letters whose action has several names, in the places where it can be done. All others have one.
var synonyms = map[string][]string{
	"G": {"", "last field", "newest, and follow"},
	"c": {"copy the result", "copy the row", "copy the text"},
	"e": {"edit in $EDITOR", "edit its entry in $EDITOR"},
	"g": {"go to the first or last row", "first field", "oldest"},
	"h": {"close the group", "close, or go to the parent", "columns to the left", "previous filter"},
	"j": {"move", "next row, without typing"},
	"k": {"", "previous row, without typing"},
	"l": {"open the group, or go to its page", "open", "columns to the right", "next of all, wire, stderr, log, calls"},
	"m": {"as it came", "as Markdown"},
	"o": {"open in $PAGER", "open its log in $PAGER"},
	"s": {"save to a file", "save images and other binary content"},
	"u": {"subscribe to updates", "unsubscribe"},
	"w": {"restart on save", "also repeat the last call", "stop restarting"},
	"y": {"copy as toolx command", "copy the row", "copy the text"},
	"/": {"find tools, calls and actions", "search"},
	"+": {"open every group", "open everything below"},
	"-": {"close every group", "close everything"},
	"[": {"previous filter"},
	"]": {"next of all, wire, stderr, log, calls", "form, about, schema, json", "form, about, json", "about, json"},
}

// TestOneLetterMeansOneThing goes through panes, pages and views, and looks at what each letter does there.
func TestOneLetterMeansOneThing(t *testing.T) {
	d := house(t)
	at := exec.Time{At: noon()}
	d.send(feed.Msg{Events: []exec.Event{
		wire.NewFrameReceived(at.At, "zwave", 1, []byte(`{"method":"notifications/message","params":{"data":1}}`)),
		exec.CallFinished{Time: at, ID: "x", Result: &exec.Result{
			ToolName: "zwave__x", Server: "zwave", Success: true, Duration: time.Second,
		}},
	}})
	meanings := make(map[string][]string)
	look := func(where string) {
		t.Helper()
		if d.m.focused().Editing() {
			return
		}
		seen := make(map[string]string)
		for _, binding := range slices.Concat(d.m.focused().Bindings(), d.m.actions()) {
			if binding.Off == "" && binding.Help != "" && binding.IsCommand() &&
				seen[binding.Help] != "" && seen[binding.Help] != binding.Keys[0] {
				t.Errorf("%s: %q is listed twice", where, binding.Help)
			}
			if binding.IsCommand() {
				seen[binding.Help] = binding.Keys[0]
			}
			for _, key := range binding.Keys {
				if !slices.Contains(meanings[key], binding.Help) {
					meanings[key] = append(meanings[key], binding.Help)
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
	for key, helps := range meanings {
		extra := slices.DeleteFunc(helps, func(help string) bool { return slices.Contains(synonyms[key], help) })
		if len(key) == 1 && (len(extra) > 1 || len(extra) == 1 && synonyms[key] != nil) {
			t.Errorf("%s means %q, besides %q", key, extra, synonyms[key])
		}
	}
}

// keyTable returns the table of keys in docs/tui.md: all actions but those that go to a pane or change its size, which
// have a sentence.
func keyTable(t *testing.T) string {
	d := house(t)
	d.show("zwave__control_zwave_device")
	d.press("text:Switch One", "tab", "space", "ctrl+r")
	d.until("the result", func() bool { return d.m.calls.shown != nil && !d.m.calls.shown.running() })
	var out strings.Builder
	out.WriteString("| key | action |\n| --- | --- |\n")
	for _, b := range d.m.actions() {
		if slices.Contains(strings.Fields("tab shift+tab esc 1 2 3 4 { } < >"), b.Keys[0]) {
			continue
		}
		fmt.Fprintf(&out, "| `%s` | %s |\n", strings.Join(b.Keys, "`, `"), b.Help)
	}
	return out.String()
}

// TestKeyTable compares the table of keys in docs/tui.md with the actions.
func TestKeyTable(t *testing.T) {
	const file, begin, end = "../../docs/tui.md", "<!-- keys -->\n\n", "\n<!-- end of keys -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/tui.md has no place for the table of keys")
	}
	table := keyTable(t)
	switch {
	case old == table:
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the table of keys in docs/tui.md is stale: make pictures")
	}
}
